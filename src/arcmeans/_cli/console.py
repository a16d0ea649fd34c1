"""What a command says: results on standard output, all else on standard error.

On a terminal there are bars and colors; elsewhere plain lines, few of them. ``NO_COLOR`` and
``FORCE_COLOR`` are kept (by rich), ``--quiet`` leaves only errors. No text of the user's reaches a
terminal with control characters in it.
"""

import json
import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console as RichConsole
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from .._support.progress import Pace

LINE_SECONDS = 10.0
"""Between two lines of progress where nobody watches a bar."""


class UserError(Exception):
    """Something that the user has to know, in their words; the command ends with exit code 1."""


class PipeClosedError(Exception):
    """Whoever read standard output has left. click would take a BrokenPipeError for a failure."""


_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """The text without characters that move the cursor, change colors or turn the writing."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def counted(n: int, unit: str) -> str:
    """``1 document``, ``2 documents``."""
    return f"{n:,} {unit.removesuffix('s') if n == 1 else unit}"


class Rate(ProgressColumn):
    """How many a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        unit = task.fields["unit"]
        if not speed:
            return Text("")
        if unit == "bytes":
            return Text(f"{speed / 1e6:,.1f} MB/s", style="cyan")
        return Text(
            f"{speed:,.1f} {unit}/s" if speed < 100 else f"{speed:,.0f} {unit}/s", style="cyan"
        )


class TimeLeft(TimeRemainingColumn):
    """The time left; where the end may come sooner, as a limit."""

    def render(self, task: Task) -> Text:
        left = super().render(task)
        return Text("at most ", style=left.style) + left if task.fields["limit"] else left


@dataclass
class Stage:
    """A part of the work, of which to tell how far it has come."""

    console: "Console"
    name: str
    unit: str
    total: float | None
    bar: tuple[Progress, TaskID] | None = None
    done: float = 0
    started: float = field(default_factory=time.monotonic)
    pace: Pace = field(default_factory=lambda: Pace(LINE_SECONDS))

    def reach(self, done: float, note: str = "") -> None:
        """The work is done up to here."""
        self.done = done
        if self.bar is not None:
            progress, task = self.bar
            progress.update(task, completed=done, note=printable(note))
            return
        if self.pace.due():
            self.console.say(f"{self.name}: {self._so_far()}{', ' + note if note else ''}")

    def _so_far(self) -> str:
        seconds = time.monotonic() - self.started
        share = f" ({self.done / self.total:.0%})" if self.total else ""
        if self.unit == "bytes":
            return f"{self.done / 1e6:,.1f} MB{share}, {seconds:.0f} s"
        return f"{self.done:,.0f} {self.unit}{share}, {seconds:.0f} s"


@dataclass
class Console:
    quiet: bool = False
    json: bool = False

    def __post_init__(self) -> None:
        self.err = RichConsole(stderr=True, highlight=False, soft_wrap=True)
        self.out = RichConsole(highlight=False, soft_wrap=True)

    def say(self, text: str) -> None:
        """A line about the work."""
        if not self.quiet:
            self.err.print(printable(text), markup=False, style="dim")

    def warn(self, text: str) -> None:
        if not self.quiet:
            self.err.print(
                Text("arcmeans: ") + Text("warning: ", style="bold yellow") + Text(printable(text))
            )

    def error(self, text: str) -> None:
        self.err.print(
            Text("arcmeans: ") + Text("error: ", style="bold red") + Text(printable(text))
        )

    def result(self, value: dict[str, Any], text: str) -> None:
        """What the command was asked for: JSON for machines, text for people."""
        if self.json:
            sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")
        elif text and not self.quiet:
            sys.stdout.write(printable(text) + "\n")

    def _shows_bars(self) -> bool:
        """Whether a bar can be drawn anew in its place. ``FORCE_COLOR`` asks for colors in a pipe,
        which rich then takes for a terminal: the file itself has to be one."""
        file = self.err.file
        return self.err.is_terminal and self.err.is_interactive and file.isatty()

    @contextmanager
    def stage(
        self, name: str, unit: str, total: float | None = None, *, limit: bool = False
    ) -> Iterator[Stage]:
        """A bar on a terminal, now and then a line elsewhere. ``limit``: it may end sooner."""
        stage = Stage(self, name, unit, total)
        if self.quiet or not self._shows_bars():
            self.say(name)
            yield stage
            return
        note = Column(no_wrap=True, overflow="ellipsis", ratio=1)
        columns: list[ProgressColumn] = [
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
            BarColumn(bar_width=16) if total else SpinnerColumn(),
            Rate(Column(no_wrap=True)),
            TimeLeft(True, table_column=Column(no_wrap=True)) if total else TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", "dim", markup=False, table_column=note),
        ]
        with Progress(*columns, console=self.err, transient=True, expand=True) as progress:
            task = progress.add_task(printable(name), total=total, unit=unit, note="", limit=limit)
            stage.bar = progress, task
            yield stage

    @contextmanager
    def warnings_shown(self) -> Iterator[None]:
        """Within, the library's warnings are lines like any other, each told once."""
        told = set()

        def show(message: Warning | str, *_: Any) -> None:
            if str(message) not in told:
                told.add(str(message))
                self.warn(str(message))

        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = show  # type: ignore[assignment]
            yield
