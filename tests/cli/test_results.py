"""Where results go: nothing is replaced unasked, and nothing is left of what failed."""

import ctypes
import errno
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from arcmeans._cli import main

from ..support import processes
from ..support.cli_inputs import Run, cluster, text_file


def leave(arguments: list[str]) -> None:
    sys.exit(main(arguments))


def test_nothing_is_replaced_unasked(here: Path, fails: Run) -> None:
    text_file(here, "txt")
    (here / "out").mkdir()
    assert "out exists; --force replaces it, -o names another" in fails(*cluster("texts.txt"))
    assert main([*cluster("texts.txt"), "--force", "-q"]) == 0
    before = (here / "out/labels.csv").stat().st_ino
    assert main([*cluster("texts.txt"), "--force", "-q"]) == 0
    assert (here / "out/labels.csv").stat().st_ino != before
    assert sorted(path.name for path in here.iterdir()) == ["out", "texts.txt"]
    (here / "labels.csv").write_text("mine")
    command = ("predict", "out", "texts.txt", "-o", "labels.csv")
    assert "labels.csv exists; --force replaces it" in fails(*command)
    assert main([*command, "--force", "-q"]) == 0
    assert (here / "labels.csv").read_text() == (here / "out/labels.csv").read_text()


def test_force_takes_no_folder_of_anybody_else(here: Path, fails: Run) -> None:
    text_file(here, "txt")
    (here / "out").mkdir()
    (here / "out" / "thesis.tex").write_text("years of work")
    said = fails(*cluster("texts.txt", "--force"))
    assert "out holds 'thesis.tex', which is not of arcmeans' making" in said
    said = fails("cluster", "texts.txt", "-k", "2", "-o", ".", "--force")
    assert "which is not of arcmeans' making" in said
    (here / "file").write_text("x")
    said = fails("cluster", "texts.txt", "-k", "2", "-o", "file", "--force")
    assert "file exists and is not a folder" in said
    assert "out is a folder; -o names a file here" in fails(
        "predict", "x", "texts.txt", "-o", "out", "--force"
    )


def test_a_folder_to_write_in_is_needed(here: Path, fails: Run) -> None:
    text_file(here, "txt")
    said = fails("cluster", "texts.txt", "-k", "2", "-o", "no/such/out")
    assert "no/such/out: the folder" in said
    assert "does not exist" in said


def without_privileges(commands: list[tuple[str, ...]]) -> None:
    """Runs commands as somebody who may not do everything; the last line has their exit codes."""
    if sys.platform == "linux":  # the capabilities by which root may do everything
        header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        assert ctypes.CDLL(None).capset(header, none) == 0
    elif os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    sys.exit(json.dumps([main(list(arguments)) for arguments in commands]))


def test_no_permission(here: Path) -> None:
    """Files that the owner cannot read: root too, who stays the owner but has no privileges."""
    (here / "open").mkdir(0o777)
    text_file(here, "folder")
    (here / "texts.folder" / "a" / "secret.txt").touch(mode=0)
    (here / "secret.npy").touch(mode=0)
    here.chmod(0o555)
    commands = [
        cluster("texts.folder"),
        ("cluster", "texts.folder", "-k", "2", "-o", "open/out"),
        ("cluster", "secret.npy", "-k", "2", "-o", "open/out"),
    ]
    try:
        ended = processes.run(without_privileges, commands)
    finally:
        here.chmod(0o755)
    *said, codes = ended.err.splitlines()
    assert json.loads(codes) == [1, 1, 1]
    first, second, third = (i for i, line in enumerate(said) if ": error: " in line)
    assert said[first].startswith("arcmeans: error: out: Permission denied")
    assert "texts.folder/a/secret.txt: Permission denied" in said[second + 1]
    assert said[third] == "arcmeans: error: secret.npy: Permission denied"
    assert list((here / "open").iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is full")
def test_full_disk_on_standard_output(model: Path) -> None:
    with open("/dev/full", "wb") as full:
        ended = processes.run(leave, ["predict", "model", "texts.txt"], stdout=full.fileno())
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == "arcmeans: error: standard output: No space left on device"
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    "name", ["labels.csv", "model", "clusters.json", "trace.csv", "report.html"]
)
def test_full_disk(name: str, here: Path, fails: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk fills up while any of the files is written."""
    text_file(here, "txt")
    real = io.open

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def opened(file: Any, mode: str = "r", *more: Any, **options: Any) -> Any:
        path = os.fspath(file) if not isinstance(file, int) else ""
        # The model is written beside its place first.
        mine = ".arcmeans-" if name == "model" else name
        if mine in os.path.basename(path) and ("w" in mode or "x" in mode):
            raw = io.BufferedWriter(Full(path, mode.replace("b", "")))
            return raw if "b" in mode else io.TextIOWrapper(raw, "utf-8", write_through=True)
        return real(file, mode, *more, **options)

    monkeypatch.setattr("builtins.open", opened)
    monkeypatch.setattr("io.open", opened)
    said = fails(*cluster("texts.txt"))
    assert "error: out: No space left on device; out was not written" in said
