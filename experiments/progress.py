"""How far an experiment is and how long it still takes, as one line on standard error."""

import sys
import time
from typing import TextIO

BETWEEN_LINES = 30.0
"""Seconds between lines where they cannot be overwritten."""


class Progress:
    """Counts runs; the time left comes from what the runs so far took.

    Each run has a weight, in proportion to the time expected of it. Runs done before, in an
    experiment that is resumed, count too.
    """

    def __init__(self, runs: int, weight: float, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.runs, self.weight = runs, weight
        self.done, self.done_weight, self.seconds = 0, 0.0, 0.0
        self._shown = time.monotonic()
        self._width = 0

    def add(self, weight: float, seconds: float) -> None:
        """A run is done."""
        self.done += 1
        self.done_weight += weight
        self.seconds += seconds

    def show(self, running: str) -> None:
        """The line, with what is running now."""
        now = time.monotonic()
        if self.stream.isatty():
            line = self.line(running)
            self.stream.write("\r" + line.ljust(self._width))
            self._width = len(line)
        elif now - self._shown >= BETWEEN_LINES or self.done == self.runs:
            self.stream.write(self.line(running) + "\n")
            self._shown = now
        self.stream.flush()

    def end(self) -> None:
        """What follows begins on a line of its own."""
        if self._width:
            self.stream.write("\n")
            self._width = 0

    def line(self, running: str) -> str:
        left = "" if self.done == self.runs else f", {self.time_left()}"
        return f"{self.done} of {self.runs} runs{left}: {running}"

    def time_left(self) -> str:
        if not self.done_weight:
            return "time left not known yet"
        left = self.seconds / self.done_weight * (self.weight - self.done_weight)
        return f"about {duration(left)} left"


def duration(seconds: float) -> str:
    """Seconds in words: 50 s, 12 min, 3 h 20 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
