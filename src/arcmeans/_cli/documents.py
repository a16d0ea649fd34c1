"""``TextSource``: documents that come one after another, whatever file they are read from.

Nothing is read ahead: a source of any length takes the memory of one document. Each place that
cannot be read is noted with its file and line, and all are listed together at the end, so that one
run shows them all. The documents around such a place are used only where the user said
``--skip-errors``.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from .console import Console, UserError, counted
from .source_rows import SourceRows
from .vectorizer import Pruning, TextVectorizer

SNIPPET = 300
"""Characters of a text that are kept to show it by."""
LISTED = 20
"""Faults named before the rest is only counted; without --skip-errors reading ends there."""


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
class Faults:
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
    read: Callable[[Faults, Advance], Iterator[Document]]
    total: float | None
    """Bytes or files in all; None where nobody knows."""
    unit: str
    faults: Faults
    matrix = None

    def documents(self, advance: Advance = lambda done: None) -> Iterator[Document]:
        """All documents; at their end an error if some could not be read."""
        for document in self.read(self.faults, advance):
            yield Document(clean(document.id), clean(document.text))
        self.faults.check()

    def read_all(
        self, console: Console, new_vectorizer: Callable[[], TextVectorizer], pruning: Pruning
    ) -> SourceRows:
        ids: list[str] = []
        snippets: list[str] = []
        vectorizer = new_vectorizer()
        with console.stage(f"reading {self.name}", self.unit, self.total) as stage:
            advance = lambda done: stage.reach(done, f"{len(ids):,} documents")  # noqa: E731
            X = vectorizer.fit(_noted(self.documents(advance), ids, snippets), pruning)
        self._tell_skipped(console)
        console.say(f"{counted(len(ids), 'documents')}, {counted(X.shape[1], 'terms')}")
        return SourceRows(X, ids, snippets, "documents", vectorizer)

    def read_parts(
        self, console: Console, vectorizer: TextVectorizer | None, size: int
    ) -> Iterator[tuple[list[str] | None, Any]]:
        if vectorizer is None:
            raise UserError(
                f"{self.name} holds texts, but the model has no vocabulary: it was not made from "
                'texts by "arcmeans cluster".'
            )
        with console.stage(f"reading {self.name}", self.unit, self.total) as stage:
            documents = self.documents(stage.reach)
            for first in documents:
                ids: list[str] = []
                part = chain([first], islice(documents, size - 1))
                X = vectorizer.transform(_noted(part, ids, None))
                yield ids, X
        self._tell_skipped(console)

    def _tell_skipped(self, console: Console) -> None:
        if self.faults.found:
            console.warn(self.faults.summary())


def _noted(
    documents: Iterable[Document], ids: list[str], snippets: list[str] | None
) -> Iterator[str]:
    """The texts; on the way ids and snippets are noted."""
    for document in documents:
        ids.append(document.id)
        if snippets is not None:
            snippets.append(snippet(document.text))
        yield document.text


def snippet(text: str) -> str:
    """The beginning of a text, in one line."""
    return " ".join(text[: 4 * SNIPPET].split())[:SNIPPET]


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
