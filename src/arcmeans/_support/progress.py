"""How far a long work has come: a line that is kept up to date, or lines now and then.

Where someone watches, on a terminal or in a notebook, one line is overwritten. Elsewhere, as in a
log, each line stays, so there are few of them.
"""

import importlib
import sys
import time
from contextlib import suppress
from typing import Any, TextIO

BETWEEN_LINES = 30.0
"""Seconds between the lines of ``Progress`` where they cannot be overwritten."""


def someone_watches() -> bool:
    """Whether standard error is a terminal, or shown in a notebook."""
    isatty = getattr(sys.stderr, "isatty", None)
    return "ipykernel" in sys.modules or (isatty is not None and isatty())


class Pace:
    """Says when another line is due, for lines that cannot be overwritten."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._last = time.monotonic()

    def due(self) -> bool:
        """Whether the time since the last line, or since the beginning, is up; if so, it begins
        anew."""
        now = time.monotonic()
        if now - self._last < self.seconds:
            return False
        self._last = now
        return True


class Steps:
    """The steps of a work: a bar of tqdm's, if it is installed and someone watches; else lines.

    ``options`` are tqdm's.
    """

    def __init__(self, **options: Any) -> None:
        self._bar: Any = None
        if someone_watches():
            with suppress(ImportError):
                self._bar = importlib.import_module("tqdm").tqdm(file=sys.stderr, **options)

    def begin(self, note: str, line: str) -> None:
        """A step begins: shows the note beside the bar, or the line."""
        if self._bar is None:
            print(line, file=sys.stderr, flush=True)
        else:
            self._bar.set_postfix_str(note)

    def end(self, note: str = "", line: str = "") -> None:
        """A step is done; shows note or line, where they are given."""
        if self._bar is None:
            if line:
                print(line, file=sys.stderr, flush=True)
            return
        if note:
            self._bar.set_postfix_str(note, refresh=False)  # which the update sees to
        self._bar.update(1)

    def close(self) -> None:
        """What follows begins on a line of its own."""
        if self._bar is not None:
            self._bar.close()


class Progress:
    """The parts of a work that are done, and the time left, from the seconds they took.

    Each part has a weight, in proportion to the time expected of it. Parts done before, in a work
    that is resumed, count too, with the seconds they took then.
    """

    def __init__(
        self, parts: float, weight: float, unit: str = "runs", stream: TextIO | None = None
    ) -> None:
        self.stream = stream or sys.stderr
        self.parts, self.weight, self.unit = parts, weight, unit
        self.done, self.done_weight, self.seconds = 0.0, 0.0, 0.0
        self._pace = Pace(BETWEEN_LINES)
        self._width = 0
        self._ended = False

    def add(self, weight: float, seconds: float, parts: float = 1) -> None:
        """A part is done."""
        self.done += parts
        self.done_weight += weight
        self.seconds += seconds

    def show(self, running: str) -> None:
        """Shows the line; ``running`` names the part that is going on."""
        if self.stream.isatty():
            line = self.line(running)
            self.stream.write("\r" + line.ljust(self._width))
            self._width = len(line)
        elif self._pace.due() or (self.done >= self.parts and not self._ended):
            self.stream.write(self.line(running) + "\n")
            self._ended = self.done >= self.parts
        self.stream.flush()

    def end(self) -> None:
        """What follows begins on a line of its own."""
        if self._width:
            self.stream.write("\n")
            self._width = 0

    def line(self, running: str) -> str:
        left = "" if self.done >= self.parts else f", {self.time_left()}"
        return f"{self.done:,.0f} of {self.parts:,.0f} {self.unit}{left}: {running}"

    def time_left(self) -> str:
        if not self.done_weight:
            return "time left not known yet"
        left = self.seconds / self.done_weight * (self.weight - self.done_weight)
        return f"about {duration(left)} left"


class ByteProgress:
    """The progress of reading or fetching a file. ``total`` is None where its size is not known."""

    def __init__(self, what: str, total: int | None, before: int = 0) -> None:
        self.what = what
        parts = float("inf") if total is None else total / 1e6
        self._progress = Progress(parts, parts, "MB")
        self._progress.add(0.0, 0.0, before / 1e6)
        self._progress.weight -= before / 1e6
        self._seen, self._at = before, time.monotonic()

    def to(self, position: int) -> None:
        """The bytes before ``position`` are done."""
        now = time.monotonic()
        step = (position - self._seen) / 1e6
        self._progress.add(step, now - self._at, step)
        self._seen, self._at = position, now
        self._progress.show(self.what)

    def end(self) -> None:
        self._progress.end()


def duration(seconds: float) -> str:
    """Seconds in words: 50 s, 12 min, 3 h 20 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
