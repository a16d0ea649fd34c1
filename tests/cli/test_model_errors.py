"""Models that are not for a command, and wrong usage."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arcmeans._cli import main

from ..support.cli_inputs import Run, cluster, matrix_file


def rewrite(path: Path, change: Callable[[dict[str, str]], None]) -> None:
    """Changes the header of a model file."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    change(header["__metadata__"])
    changed = json.dumps(header).encode()
    changed += b" " * (-len(changed) % 8)
    path.write_bytes(len(changed).to_bytes(8, "little") + changed + raw[8 + size :])


def test_model_of_a_newer_version(model: Path, fails: Run) -> None:
    rewrite(model, lambda header: header.update(format_version="9", arcmeans_version="7.0"))
    for command in (("predict", "model", "texts.txt"), ("explain", "model"), ("info", "model")):
        said = fails(*command)
        assert "written by arcmeans 7.0 in version 9 of the format" in said
        assert "upgrade arcmeans" in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 9}, "of version 9, and this arcmeans reads up to 1: upgrade arcmeans"),
        ({"version": "1"}, "no JSON object"),
        ({"tokens": "os.system"}, "tokens='os.system'"),
        ({"ngrams": [2, 1]}, "ngrams=[2, 1]"),
        ({"ngrams": [1, 10**9]}, "ngrams="),
        ({"ngrams": [True, 1]}, "ngrams="),
        ({"stop_words": [3]}, "stop_words"),
        ({"idf": "AAAA"}, "0 weights for 40 terms"),
        ({"idf": 3}, "idf"),
        ({"idf": "/wAA/w" + "A" * 210 + "=="}, "weights"),
    ],
)
def test_text_options_of_a_model_are_checked(
    change: dict[str, Any], message: str, model: Path, fails: Run
) -> None:
    def spoil(header: dict[str, str]) -> None:
        header["arcmeans.text"] = json.dumps(json.loads(header["arcmeans.text"]) | change)

    rewrite(model, spoil)
    said = fails("predict", "model", "texts.txt")
    assert "model.safetensors: the text options in it cannot be read: " in said
    assert message in said


def test_text_options_that_are_not_json(model: Path, fails: Run) -> None:
    for text in ("", "[]", "[" * 100_000):
        rewrite(model, lambda header, text=text: header.update({"arcmeans.text": text}))  # type: ignore[misc]
        assert "cannot be read: no JSON object" in fails("predict", "model", "texts.txt")


def test_model_and_source_do_not_fit(here: Path, model: Path, fails: Run) -> None:
    matrix_file(here, "npy")
    said = fails("predict", "model", "rows.npy")
    assert "the rows have 30 features, but the model has 40" in said
    assert "the rows have 30 features, but the model has 40" in fails(
        "explain", "model", "rows.npy"
    )
    assert main(["cluster", "rows.npy", "-k", "3", "-o", "other", "-q"]) == 0
    said = fails("predict", "other", "texts.txt")
    assert "texts.txt holds texts, but the model has no vocabulary" in said
    assert "not a safetensors file" in fails("predict", "texts.txt", "texts.txt")
    assert "texts.txt holds texts; info tells of a matrix or a model" in fails("info", "texts.txt")
    assert "--cluster 9: the model has clusters 0 to 3" in fails(
        "explain", "model", "--cluster", "9"
    )
    (here / "names").write_text("a\nb\n")
    said = fails(*cluster("texts.txt", "--feature-names", "names"))
    assert "--feature-names is for matrices" in said
    said = fails(*cluster("rows.npy", "--feature-names", "names"))
    assert "names: 2 lines, but the matrix has 30 columns" in said


# --- Usage.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cluster", "x", "-o", "out"], "Missing option '-k'"),
        (["cluster", "x", "-k", "0", "-o", "out"], "0 is not in the range x>=1"),
        (["cluster", "x", "-k", "two", "-o", "out"], "'two' is not a valid integer"),
        (["cluster", "x", "-k", "2"], "Missing option '-o'"),
        (["cluster", "x", "-k", "2", "-o", "out", "--min-df", "1.5"], "a share from 0.0 to 1.0"),
        (
            ["cluster", "x", "-k", "2", "-o", "out", "--min-df", "x"],
            "neither a number of documents",
        ),
        (["cluster", "x", "-k", "2", "-o", "out", "--ngrams", "3-1"], "3-1 should ascend"),
        (
            ["cluster", "x", "-k", "2", "-o", "out", "--ngrams", "x"],
            "'x' should be a number of words",
        ),
        (
            ["cluster", "x", "-k", "2", "-o", "out", "--encoding", "no"],
            "'no' is no encoding of text",
        ),
        (
            ["cluster", "x", "-k", "2", "-o", "out", "--encoding", "hex"],
            "'hex' is no encoding of text",
        ),
        (["cluster", "x", "-k", "2", "-o", "out", "--delimiter", ",,"], "should be one character"),
        (["choose-k", "x", "--from", "5", "--to", "4"], "--from 5 should be at most --to 4"),
        (["nonsense"], "No such command 'nonsense'"),
        (["cluster", "--nonsense"], "No such option"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, fails: Run) -> None:
    assert message in fails(*arguments, code=2)
