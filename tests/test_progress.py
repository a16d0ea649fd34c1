"""The line that says how far a long work is."""

import io

import pytest

from arcmeans._support import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_overwrites_its_line_on_a_terminal():
    terminal = Terminal()
    shown = progress.Progress(2, 4.0, stream=terminal)
    shown.show("first")
    shown.add(1.0, 50.0)
    shown.show("second")
    shown.end()
    first, second = terminal.getvalue().lstrip("\r").split("\r")
    assert first == "0 of 2 runs, time left not known yet: first"
    assert second.rstrip("\n").rstrip() == "1 of 2 runs, about 2 min left: second"
    assert len(second) > len(first)


def test_progress_is_quiet_on_a_pipe():
    pipe = io.StringIO()
    shown = progress.Progress(100, 100.0, stream=pipe)
    for i in range(100):
        shown.show(f"run {i}")
        shown.add(1.0, 0.0)
    shown.show("all done")
    shown.show("all done")
    assert pipe.getvalue() == "100 of 100 runs: all done\n"


def test_bytes(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    shown = progress.ByteProgress("file", 30_000_000, before=10_000_000)
    shown.to(20_000_000)
    shown.to(30_000_000)
    shown.end()
    lines = terminal.getvalue().lstrip("\r").split("\r")
    assert lines[0].startswith("20 of 30 MB, about ")  # what had come before took no time now
    assert lines[0].rstrip().endswith(" s left: file")
    assert lines[1].startswith("30 of 30 MB: file")


@pytest.mark.parametrize(
    ("seconds", "text"), [(4.4, "4 s"), (89, "89 s"), (90, "2 min"), (12_000, "3 h 20 min")]
)
def test_duration(seconds, text):
    assert progress.duration(seconds) == text
