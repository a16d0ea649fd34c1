"""The demonstration: what it reads, what it prints, and how it ends."""

import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from arcmeans import SphericalKMeans, demo
from arcmeans._algorithms.registry import ALGORITHMS
from arcmeans._demo import demonstration, docstrings, tables

from .support import processes

MODULE = '''"""A module."""

if True:
    class Reader:
        """A class, in a branch."""

        def read(self):
            """A method."""

            def inner():
                """A function inside a method."""

        async def wait(self):
            r"""A coroutine with a raw \\escape."""

        def silent(self):
            return "not a docstring"

try:
    pass
except ImportError:
    def fallback():
        "A function in a handler with an invalid \\escape."
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A library of a few files, readable and not."""
    files = {
        "top.py": MODULE.encode(),
        "pack/__init__.py": b'"""A package."""',
        "pack/deep/latin.py": '# coding: latin-1\n"""Größe in Latin-1."""'.encode("latin-1"),
        "broken.py": b"def (:",
        "cookie.py": b'# coding: no-such-codec\n"""Unread."""',
        "undecodable.py": b'"""Unread."""\n\n\n# \xff',
        "nul.py": b'"""Unread."""\0',
        "notes.txt": b'"""Not Python."""',
        "site-packages/installed.py": b'"""Installed."""',
        "test/support.py": b'"""Test."""',
        "pack/tests/one.py": b'"""Test."""',
        "pack/idle_test/one.py": b'"""Test."""',
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path


@pytest.fixture
def small_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """150 docstrings of three topics in place of the standard library, and a broken file."""
    topics = (
        "socket server port host network",
        "pixel canvas color window mouse",
        "decimal exponent operand rounding digit",
    )
    functions = [f'def f{i}():\n    """{topics[i % 3]} item{i}"""\n' for i in range(150)]
    (tmp_path / "functions.py").write_text("".join(functions))
    (tmp_path / "broken.py").write_text("def (:")
    monkeypatch.setattr(sysconfig, "get_path", {"stdlib": str(tmp_path)}.__getitem__)
    return tmp_path


@pytest.mark.filterwarnings("error")
def test_names_and_texts_of_docstrings(tree: Path) -> None:
    found = {d.name: d.text for d in docstrings.read_library(tree).docstrings}
    assert found == {
        "top": "A module.",
        "top.Reader": "A class, in a branch.",
        "top.Reader.read": "A method.",
        "top.Reader.read.inner": "A function inside a method.",
        "top.Reader.wait": "A coroutine with a raw \\escape.",
        "top.fallback": "A function in a handler with an invalid \\escape.",
        "pack": "A package.",
        "pack.deep.latin": "Größe in Latin-1.",
    }


def test_unreadable_files_are_counted(tree: Path) -> None:
    library = docstrings.read_library(tree)
    assert (library.files, library.unreadable) == (7, 4)


def test_each_text_once_whatever_its_white_space() -> None:
    found = [
        docstrings.Docstring("a", "x  y"),
        docstrings.Docstring("b", "x\ny"),
        docstrings.Docstring("c", "z"),
    ]
    assert [d.name for d in docstrings.each_once(found)] == ["a", "c"]


def test_words_and_identifiers_are_terms() -> None:
    X, terms = docstrings.weigh_words(["Returns __init__ of my_name, UTF-8 2nd x"] * 3)
    assert terms == ["my_name", "utf"]
    assert X.dtype == np.float32


ROWS = np.array([[3, 0, 0], [0, 1, 0], [0, 2, 0], [0, 3, 4], [0, 0, 0]], np.float32)
NAMES = ["left", "up", "higher", "slanted", "nothing"]
TERMS = ["ex", "why", "zed"]


@pytest.fixture
def small_model() -> SphericalKMeans:
    centers = np.array([[1, 0, 0], [0, 1, 0.5]], np.float32)
    with pytest.warns(UserWarning, match="all zero"):
        return SphericalKMeans(2, init=centers, algorithm="lloyd").fit(sp.csr_array(ROWS))


def test_clusters_are_described_largest_first(small_model: SphericalKMeans) -> None:
    large, small = tables.describe(sp.csr_array(ROWS), NAMES, TERMS, small_model, top=2)
    center = np.array([0, 2.6, 0.8]) / np.hypot(2.6, 0.8)
    assert large.size == 3
    assert large.cohesion == pytest.approx((2 * center[1] + 0.6 * center[1] + 0.8 * center[2]) / 3)
    assert (large.terms, large.typical) == (["why", "zed"], ["up", "higher", "slanted"])
    assert (small.size, small.terms, small.typical) == (1, ["ex"], ["left"])
    assert small.cohesion == pytest.approx(1.0)


def test_table_of_clusters_is_aligned_and_wrapped() -> None:
    clusters = [
        tables.Cluster(1234, 0.456, ["alpha", "beta"], ["package.module.function", "x" * 80]),
        tables.Cluster(0, float("nan"), [], []),
    ]
    assert tables.cluster_table(clusters, 60).splitlines() == [
        " size  cohesion  top terms, and the most typical entries",
        "-" * 60,
        "1,234      0.46  alpha, beta",
        "                   package.module.function,",
        "                   " + "x" * 37 + "...",
        "    0         -",
    ]


@pytest.mark.parametrize("width", [60, 100])
def test_table_of_effort_fits_the_width(small_model: SphericalKMeans, width: int) -> None:
    effort = tables.Effort("simplified-hamerly", small_model, 0.0123)
    lines = tables.effort_table([effort], width).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert len(lines[0]) <= width
    assert lines[2].split() == [
        "simplified-hamerly",
        str(small_model.n_iter_),
        str(4 * 2 * small_model.n_iter_),  # the row of zeros is not computed
        "100.0%",
        "0",
        "0.012",
    ]


def test_same_bits_means_labels_and_centers() -> None:
    def fitted() -> SphericalKMeans:
        return SphericalKMeans(2, random_state=0).fit(ROWS[:4])

    a, b, c = fitted(), fitted(), fitted()
    b.labels_[0] = 1 - b.labels_[0]
    c.cluster_centers_[0, 0] = np.nextafter(c.cluster_centers_[0, 0], np.float32(2))
    assert demonstration.same_bits(a, fitted())
    assert not demonstration.same_bits(a, b)
    assert not demonstration.same_bits(a, c)


@pytest.mark.usefixtures("small_library")
def test_every_algorithm_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["-k", "3", "--threads", "1"]) == 0
    out = capsys.readouterr().out
    assert "similarities" in out
    assert f"labels and centers of all {len(ALGORITHMS)} are equal bit for bit" in out
    for algorithm in ALGORITHMS:
        assert f"\n{algorithm} " in out


@pytest.mark.usefixtures("small_library")
@pytest.mark.parametrize("columns", [40, 60, 80, 140])
def test_lines_fit_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert demo.main(["-k", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) == min(100, max(60, columns))


@pytest.mark.usefixtures("small_library")
def test_says_what_was_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["-k", "3"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "150 docstrings in 2 files (1 of them unreadable, skipped); kept 150 with" in out


@pytest.mark.usefixtures("small_library")
def test_without_output_it_tells_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["-k", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "For a page: pip install 'arcmeans[cli]' && arcmeans demo"
    )


def test_output_needs_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delitem(sys.modules, "arcmeans._cli.demo", raising=False)
    monkeypatch.setitem(sys.modules, "click", None)
    with pytest.raises(SystemExit, match=r"needs click, .* pip install 'arcmeans\[cli\]'"):
        demo.main(["-k", "3", "--output", str(tmp_path / "out")])


def test_output_is_checked_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(SystemExit, match=r"holds 'mine.txt', which is not of arcmeans' making"):
        demo.main(["-k", "3", "--output", str(tmp_path)])


@pytest.mark.usefixtures("small_library")
def test_a_difference_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demonstration, "same_bits", lambda a, b: b.algorithm != "elkan")
    assert demo.main(["-k", "3"]) == 1
    assert "ERROR: labels and centers of elkan differ" in capsys.readouterr().out


@pytest.mark.parametrize("k", ["0", "-3", "many"])
def test_bad_number_of_clusters(k: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        demo.main(["-k", k])
    assert end.value.code == 2
    assert "-k/--clusters" in capsys.readouterr().err


@pytest.mark.usefixtures("small_library")
def test_more_clusters_than_docstrings() -> None:
    with pytest.raises(SystemExit, match="--clusters=151 should be <= 150"):
        demo.main(["-k", "151"])


def test_library_without_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(SystemExit, match="0 docstrings in 0 files"):
        demo.main([])


def test_interrupt(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(demonstration, "show", interrupted)
    assert demo.main([]) == 130
    assert "Interrupted" in capsys.readouterr().err


@processes.needs_fork
@pytest.mark.usefixtures("small_library")
def test_closed_pipe() -> None:
    ended = processes.run_for_a_line(lambda: sys.exit(demo.main(["-k", "3"])))
    assert ended.code == 141
    assert ended.err == ""
    assert ended.out
