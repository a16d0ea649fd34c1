"""Every example runs as a script and says something sensible."""

import os
import re
import runpy
import sys
import warnings
from pathlib import Path

import pytest

from .support import processes
from .support.cli_inputs import sentences

EXAMPLES = Path(__file__).parent.parent / "examples"
SAYS = {
    "news_tfidf": r"400 headlines, 48 words.*most typical, of sport:.*belongs with: market",
    "embeddings": r"similarities computed.*0\.7\d\d on average.*comparing pairs of rows: 0\.5",
    "choosing_k": r"simplified_silhouette.*by simplified silhouette: 6.*by calinski harabasz: 6",
    "streaming": r"after 40 batches: simplified silhouette of held-out rows 0\.[67].*sizes of",
    "cluster": r"4000 rows.*labels: 4 blocks.*\[971, 1001, 1003, 1025\].*the same .* here: True",
    "explaining": r"cluster 5: \d+ rows.*discriminating:.*most typical: functions\.f\d+.*: \d",
}


def run(name, *arguments):
    return processes.run(as_script, name, arguments, env={"MPLBACKEND": "agg"})


def as_script(name, arguments):
    path = EXAMPLES / f"{name}.py"
    sys.argv = [str(path), *map(str, arguments)]
    # A later version of another package may warn of what it will change.
    strict = os.environ["ARCMEANS_WARNINGS"] == "errors"
    for category in (DeprecationWarning, FutureWarning, PendingDeprecationWarning):
        warnings.simplefilter("error" if strict else "ignore", category)
    runpy.run_path(str(path), run_name="__main__")


def test_every_example_is_listed():
    found = {path.stem for path in EXAMPLES.glob("*.py")}
    assert found == SAYS.keys()
    listed = re.findall(r"\]\((\w+)\.py\)", (EXAMPLES / "README.md").read_text("utf-8"))
    assert sorted(listed) == sorted(found)


@pytest.fixture
def arguments(tmp_path):
    """What an example reads that would otherwise be the machine's."""
    functions = [f'def f{i}():\n    """{text}"""\n' for i, text in enumerate(sentences())]
    (tmp_path / "functions.py").write_text("".join(functions), "utf-8")
    return {"explaining": [tmp_path]}


@processes.needs_fork
@pytest.mark.parametrize("name", SAYS)
def test_example(name, arguments):
    done = run(name, *arguments.get(name, []))
    assert done.code == 0, done.err
    assert done.err == ""
    assert re.search(SAYS[name], done.out, re.DOTALL), done.out


@processes.needs_fork
def test_a_picture_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    done = run("choosing_k", tmp_path / "path.png")
    assert done.code == 0, done.err
    assert "drawn to path.png" in done.out
    assert (tmp_path / "path.png").read_bytes().startswith(b"\x89PNG")
