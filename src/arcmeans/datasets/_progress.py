"""How far a long work is and how long it still takes, as one line on standard error."""

import sys
import time
from typing import TextIO

BETWEEN_LINES = 30.0
"""Seconds between lines where they cannot be overwritten."""


class Progress:
    """Counts what is done; the time left comes from the seconds it took so far.

    Each part has a weight, in proportion to the time expected of it. Parts done before, in a work
    that is resumed, count too, with the seconds they took then.
    """

    def __init__(
        self, parts: float, weight: float, unit: str = "runs", stream: TextIO | None = None
    ) -> None:
        self.stream = stream or sys.stderr
        self.parts, self.weight, self.unit = parts, weight, unit
        self.done, self.done_weight, self.seconds = 0.0, 0.0, 0.0
        self._shown = time.monotonic()
        self._width = 0
        self._ended = False

    def add(self, weight: float, seconds: float, parts: float = 1) -> None:
        """A part is done."""
        self.done += parts
        self.done_weight += weight
        self.seconds += seconds

    def show(self, running: str) -> None:
        """The line, with what is running now."""
        now = time.monotonic()
        if self.stream.isatty():
            line = self.line(running)
            self.stream.write("\r" + line.ljust(self._width))
            self._width = len(line)
        elif now - self._shown >= BETWEEN_LINES or (self.done >= self.parts and not self._ended):
            self.stream.write(self.line(running) + "\n")
            self._shown = now
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
    """The progress of reading or fetching so many bytes; None: nobody knows how many."""

    def __init__(self, what: str, total: int | None, before: int = 0) -> None:
        self.what = what
        parts = float("inf") if total is None else total / 1e6
        self._progress = Progress(parts, parts, "MB")
        self._progress.add(0.0, 0.0, before / 1e6)
        self._progress.weight -= before / 1e6
        self._seen, self._at = before, time.monotonic()

    def to(self, position: int) -> None:
        """So many bytes are done in all."""
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
