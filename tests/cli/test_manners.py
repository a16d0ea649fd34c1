"""What commands say, and how: help, bars, colors, pipes."""

import os
import re
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from arcmeans._cli import main
from arcmeans._cli.app import arcmeans as group

from ..support import processes
from ..support.cli_inputs import text_file


@pytest.mark.parametrize("command", sorted(group.commands))
def test_help_teaches_by_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"arcmeans {command} " in text.split("Examples:")[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "_ARCMEANS_COMPLETE" in capsys.readouterr().out


def test_completion_completes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_ARCMEANS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "arcmeans cluster --stop")
    monkeypatch.setenv("COMP_CWORD", "2")
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().out == "plain,--stop-words\n"


def test_quiet_says_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = text_file(here, "txt")
    assert main(["cluster", *source, "-k", "4", "-o", "out", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.parametrize("name", [None, "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"])
def test_lines_in_a_pipe_are_few_and_plain(name: str | None, topics: Path) -> None:
    """Whoever asks for colors in a pipe gets those, but never a bar."""
    command = ["cluster", "texts.csv", "-k", "4", "-o", "piped"]
    ended = processes.run(main, command, env={name: "1"} if name else {})
    assert re.sub("\x1b\\[[0-9;]*m", "", ended.err).splitlines() == [
        "reading texts.csv",
        "120 documents, 40 terms",
        "clustering",
        "describing the clusters",
    ]
    assert ended.out.splitlines()[-1] == "report: piped/report.html"
    assert "\x1b" not in ended.out
    if name != "TTY_COMPATIBLE":  # which older versions of rich do not know
        assert ("\x1b" in ended.err) is (name == "FORCE_COLOR")


@pytest.mark.skipif(os.name != "posix", reason="terminals are another thing elsewhere")
@pytest.mark.parametrize("no_color", [False, True])
def test_bars_and_colors_on_a_terminal(topics: Path, no_color: bool) -> None:
    code, text = on_a_terminal({"NO_COLOR": "1"} if no_color else {})
    assert code == 1
    assert "clustering" in text
    assert "at most" in text
    assert "iterations/s" in text
    assert ("\x1b[1;31m" in text) is not no_color
    assert "error: nothing-here.txt: there is no such file" in text.replace(
        "\x1b[1;31m", ""
    ).replace("\x1b[0m", "")


@pytest.mark.skipif(os.name != "posix", reason="terminals are another thing elsewhere")
def test_lines_on_a_terminal_that_cannot_move_its_cursor(topics: Path) -> None:
    code, text = on_a_terminal({"TERM": "dumb"})
    assert code == 1
    assert text.splitlines() == [
        "reading texts.csv",
        "120 documents, 40 terms",
        "clustering",
        "describing the clusters",
        "arcmeans: error: nothing-here.txt: there is no such file or folder.",
    ]


def on_a_terminal(variables: dict[str, str]) -> tuple[int, str]:
    """The exit code of a command that fails, and what it and one before it say on a terminal."""

    def commands() -> None:
        os.close(near)
        main(["cluster", "texts.csv", "-k", "4", "-o", "shown"])
        sys.exit(main(["predict", "out", "nothing-here.txt"]))

    def read() -> None:
        with suppress(OSError):  # the other side is closed
            while part := os.read(near, 65536):
                shown.append(part)

    near, far = os.openpty()
    shown: list[bytes] = []
    reader = threading.Thread(target=read)
    reader.start()
    ended = processes.run(commands, stderr=far, env=variables)
    os.close(far)
    reader.join()
    os.close(near)
    return ended.code, b"".join(shown).decode()


def test_version_and_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("arcmeans 0.")
    assert main([]) == 2


def test_without_the_extra(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "arcmeans._cli.app")
    monkeypatch.setitem(sys.modules, "click", None)
    assert main(["info"]) == 1
    assert "pip install 'arcmeans[cli]'" in capsys.readouterr().err


def test_bits_of_a_report_do_not_depend_on_threads(topics: Path) -> None:
    source: list[Any] = ["cluster", "texts.csv", "-k", "4", "-q", "--runs", "5", "--id", "name"]
    for n in ("1", "3"):
        assert main([*source, "-o", f"by{n}", "--threads", n]) == 0
        assert Path(f"by{n}/labels.csv").read_bytes() == (topics / "labels.csv").read_bytes()
