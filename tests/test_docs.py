"""Every code block of README and docs runs, and what the pages name is there.

The blocks of a page run in their order, in an empty folder, and Python blocks share their names:

- ``python`` with ``>>>``: a session, whose output is compared; without: a program;
- ``sh``: commands for bash. Lines that begin with ``make``, ``pip`` or ``python -m`` are not run:
  their target, their extra, or their module with its options has to exist;
- ``text``: what the last line of the block before has printed on standard output;
- ``cpp FILE``: lines of that file, as they are there; ``// ...`` stands for lines left out;
- after ``<!-- not run: REASON -->`` a block of any kind is left out. ``NOT_RUN`` has the reasons.
"""

import csv
import doctest
import importlib
import importlib.util
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import arcmeans
from arcmeans._cli import main

from .support import processes

ROOT = Path(__file__).parent.parent
PAGES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md")))
}
NOT_RUN = {
    "CONTRIBUTING.md": ["it compiles the core, which the tests do by make core-tests"],
    "README.md": ["the address is the reader's"],
    "docs/engineering/architecture.md": ["a drawing of the tree"],
}
FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+?) -->\n)?^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
ROOMS = ("benchmarks/", "cpp/", "docs/", "examples/", "experiments/", "src/", "tests/")


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    line: int
    not_run: str | None


def blocks(page: str) -> Iterator[Block]:
    for found in FENCE.finditer(page):
        line = page.count("\n", 0, found.start("text")) + 1
        yield Block(found["kind"], found["text"], line, found["reason"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder in which a page runs: sixty notes and a table of two."""
    monkeypatch.chdir(tmp_path)
    subjects = ["cats dogs horses pets", "stocks bonds markets banks", "rain snow clouds storms"]
    for subject, words in enumerate(map(str.split, subjects)):
        for i in range(20):
            note = tmp_path / "notes" / f"{subject}-{i}.txt"
            note.parent.mkdir(exist_ok=True)
            note.write_text(" ".join(words[(i + j) % 4] for j in range(1 + i % 3)))
    (tmp_path / "new.csv").write_text("body\ncats and dogs\nsnow\n")
    programs = tmp_path / ".bin"
    programs.mkdir()
    command = programs / "arcmeans"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m arcmeans "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if "```" in text])
def test_code_blocks_run(page, folder):
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = None
    left_out = []
    for block in blocks(PAGES[page]):
        where = f"{page}:{block.line}"
        if block.not_run is not None:
            left_out.append(block.not_run)
        elif block.kind == "python":
            run_python(block, names, where)
        elif block.kind == "sh":
            printed = run_shell(block, where)
        elif block.kind == "text":
            assert printed == block.text, where
        elif block.kind.startswith("cpp "):
            is_excerpt(block, where)
        else:
            pytest.fail(f"{where}: a block should be of a kind, or say why it is not run.")
    assert left_out == NOT_RUN.get(page, [])


def run_python(block: Block, names: dict[str, Any], where: str) -> None:
    if ">>>" not in block.text:
        exec(compile("\n" * (block.line - 1) + block.text, where, "exec"), names)
        return
    session = doctest.DocTestParser().get_doctest(block.text, names, where, where, block.line - 1)
    report = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False)
    found = runner.run(session, out=report.write, clear_globs=False)
    assert found.attempted > 0, where
    assert found.failed == 0, report.getvalue()
    names.update(session.globs)


def run_shell(block: Block, where: str) -> str:
    """What the last line printed."""
    printed = ""
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["make"]:
            has_target(words[1:], where)
        elif words[:1] == ["pip"]:
            has_extras(words, where)
        elif len(words) > 2 and Path(words[0]).name == "python" and words[1] == "-m":
            has_options(words[2], words[3:], where)
        elif words[:1] == ["arcmeans"] and not set("|<>&;$*`") & set(line.partition("#")[0]):
            ended = processes.run(lambda command=words[1:]: sys.exit(main(command)))
            assert ended.code == 0, f"{where}: {line}\n{ended.err}"
            printed = ended.out
        elif words:
            done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
            assert done.returncode == 0, f"{where}: {line}\n{done.stderr}"
            printed = done.stdout
    return printed


def is_excerpt(block: Block, where: str) -> None:
    """The parts of the block are in the file, one after another."""
    rest = (ROOT / block.kind.removeprefix("cpp ")).read_text("utf-8")
    for part in re.split(r"^ *// \.\.\.\n", block.text, flags=re.MULTILINE):
        _, found, rest = rest.partition(part)
        assert found, f"{where}: these lines are not there, or not in this order:\n{part}"


def has_target(words: list[str], where: str) -> None:
    """The words after ``make`` are targets of the Makefile, and variables it uses."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for word in words:
        name, is_variable, _ = word.partition("=")
        pattern = rf"\$\({name}\)|^{name} " if is_variable else rf"^{re.escape(name)}:"
        assert re.search(pattern, makefile, re.MULTILINE), f"{where}: make {word}"


def has_extras(words: list[str], where: str) -> None:
    """``pip install PROJECT[EXTRA,...]``, where PROJECT is this folder or its name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert words[1] == "install", where
    for word in words[2:]:
        found = re.fullmatch(r"(?:\.|arcmeans)(?:\[([\w,]+)\])?", word)
        assert found, f"{where}: {word}"
        extras = found[1].split(",") if found[1] else []
        assert set(extras) <= set(project["optional-dependencies"]), f"{where}: {word}"


def has_options(module: str, words: list[str], where: str) -> None:
    """``python -m MODULE`` knows the options, and by name the first word that is none."""
    help_text = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(help_text):
        patch.syspath_prepend(ROOT)
        patch.setenv("COLUMNS", "200")
        patch.setattr(sys, "argv", [module, "--help"])
        with warnings.catch_warnings():
            # Another test may have imported the module. It stays the one that tests patch.
            warnings.filterwarnings("ignore", ".*found in sys.modules", RuntimeWarning)
            with pytest.raises(SystemExit) as end:
                runpy.run_module(module, run_name="__main__")
    assert end.value.code == 0, where
    named = [word for word in words if word.startswith("-")]
    if words and re.fullmatch(r"[a-z][a-z-]+", words[0]):
        named.append(words[0])
    known = set(re.findall(r"[\w-]+", help_text.getvalue()))
    assert set(named) <= known, f"{where}: {set(named) - known}"


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page):
    """Files of this tree, links to them, and names of the package."""
    text = FENCE.sub("", PAGES[page])
    missing = [
        link
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
        if not (ROOT / page).parent.joinpath(link).exists()
    ]
    for code in INLINE.findall(text):
        path = re.fullmatch(r"([\w./-]+)(?::\d+)?", code)
        if path and path[1].startswith(ROOMS) and not (ROOT / path[1]).exists():
            missing.append(code)
        name = re.match(r"arcmeans(\.\w+)+", code)
        if name and not is_name(name[0]):
            missing.append(code)
        module = re.match(r"(?:\S*/)?python -m (benchmarks|experiments|arcmeans)([\w.]*)", code)
        if module and not importlib.util.find_spec(module[1] + module[2]):
            missing.append(code)
    assert not missing


def is_name(dotted: str) -> bool:
    """Whether a name leads from the package to something."""
    found: Any = importlib.import_module("arcmeans")
    for name in dotted.split(".")[1:]:
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return True


def test_the_types_of_the_glossary_are_in_the_code():
    files = [*ROOT.glob("cpp/core/**/*.[ch]pp"), *ROOT.glob("src/arcmeans/**/*.py")]
    words = set(re.findall(r"\w+", "\n".join(file.read_text("utf-8") for file in files)))
    lines = re.findall(r"^\|.*\| ([^|]*) \|$", PAGES["docs/engineering/glossary.md"], re.MULTILINE)
    types = {
        name for line in lines for code in INLINE.findall(line) for name in re.split(r"::|\.", code)
    }
    assert len(types) > 20
    assert types <= words


def test_the_table_of_performance_is_that_of_its_plot():
    lines = [line.strip("| \n").split(" | ") for line in PAGES["docs/performance.md"].splitlines()]
    table = [line for line in lines if len(line) == 9 and line[2].isdigit()]
    with open(ROOT / "docs/performance/ratios.csv", newline="", encoding="utf-8") as file:
        records = [
            [
                record["data"],
                f"{int(record['rows']):,}",
                *(record[name] for name in ("k", "iterations", "auto", "auto_mb", "loop_ratio")),
                record["scikit_learn_ratio"] + " *" * (record["scikit_learn_whole"] == "False"),
                record["faiss_ratio"] or "–",
            ]
            for record in csv.DictReader(file)
        ]
    assert records == table


def test_docstrings():
    with_examples = [found for found in doctest.DocTestFinder().find(arcmeans) if found.examples]
    assert [found.name.removeprefix("arcmeans.") for found in with_examples] == [
        "MiniBatchSphericalKMeans",
        "RowStore",
        "SphericalKMeans",
    ]
    for found in with_examples:
        assert doctest.DocTestRunner().run(found).failed == 0
