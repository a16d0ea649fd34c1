"""``TextSource``: documents that come one after another, whatever file they are read from.

Nothing is read ahead: a source of any length takes the memory of one document. Each place that
cannot be read is noted with its file and line, and all are listed together at the end, so that one
run shows them all. The documents around such a place are used only where the user said
``--skip-errors``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from .console import UserError

LISTED = 20
"""Problems named before the rest is only counted; without --skip-errors reading ends there."""


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    """A path below the folder, a number of a line or record, or what ``--id`` names."""
    text: str


@dataclass(frozen=True)
class TextOptions:
    """How to read."""

    text: str | None = None
    """The column or key that holds the text."""
    id: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    skip_errors: bool = False


@dataclass
class Problems:
    """What could not be read."""

    skip: bool
    found: int = 0
    listed: list[str] = field(default_factory=list)

    def add(self, where: str, why: str) -> None:
        self.found += 1
        if len(self.listed) < LISTED:
            self.listed.append(f"{where}: {why}")
        if not self.skip and self.found >= LISTED:
            self.check(at_least=True)

    def check(self, at_least: bool = False) -> None:
        """An error where a place could not be read and may not be skipped."""
        if self.found and not self.skip:
            many = "could not be read; --skip-errors goes on without"
            count = f"{'at least ' if at_least else ''}{self.found}"
            what = f"1 place {many} it" if self.found == 1 else f"{count} places {many} them"
            raise UserError("\n  ".join([f"{what}:", *self.listed]))

    def summary(self) -> str:
        more = self.found - len(self.listed)
        lines = [f"{self.found} skipped:", *self.listed]
        return "\n  ".join(lines + ([f"and {more} more"] if more else []))


Advance = Callable[[float], None]
"""Told how far the reading has come, in the unit of the source."""


@dataclass
class TextSource:
    """A file or folder that holds documents."""

    name: str
    read: Callable[[Problems, Advance], Iterator[Document]]
    total: float | None
    """Bytes or files in all; None where nobody knows."""
    unit: str
    problems: Problems

    def documents(self, advance: Advance = lambda done: None) -> Iterator[Document]:
        """All documents; at their end an error if some could not be read."""
        for document in self.read(self.problems, advance):
            yield Document(clean(document.id), clean(document.text))
        self.problems.check()


def clean(text: str) -> str:
    """Text that UTF-8 can hold: half characters of JSON or of file names become visible."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()
    return text


def column(name: str, columns: Sequence[str], wanted: str | None, hint: str = "") -> int:
    """Where a column is. The text is that named ``text``, or the only one, if nothing is said."""
    if wanted is None:
        if len(columns) == 1:
            return 0
        if "text" not in columns:
            raise UserError(
                f"{name}: which column holds the text? Say it by --text; there are "
                f"{listed(columns)}.{hint}"
            )
        wanted = "text"
    if wanted not in columns:
        raise UserError(f"{name}: there is no column {wanted!r}, but {listed(columns)}.{hint}")
    return list(columns).index(wanted)


def listed(columns: Sequence[str]) -> str:
    shown = ", ".join(repr(column) for column in columns[:LISTED])
    return shown + (f" and {len(columns) - LISTED} more" if len(columns) > LISTED else "")
