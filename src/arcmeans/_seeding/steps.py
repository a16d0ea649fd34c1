"""Steps: what the seeding asks of each part of the rows, on the machine that has the part.

A step is a value: it can be sent to another machine, kept in a log and done again. Its answers, one
a part, are put together where the seeding runs: in integers and fractions, which do not depend on
the parts. Rows in answers are named by their numbers among all rows.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._rows.placed import PlacedRows
from .._rows.rows import Rows

Answer = TypeVar("Answer")


@dataclass
class SeedState:
    """What the seeding keeps of one part between two steps. The rows themselves lie elsewhere."""

    first_row: int
    """The number of the first row of the part among all rows."""
    n_threads: int
    may_use_posting_lists: bool = True
    """Posting lists take as much memory as the rows."""
    hashes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    """The hash of the direction of each row."""
    compared: list[NDArray[np.float64]] = field(default_factory=list)
    """The similarities of all rows to each candidate for the next seed."""
    candidate: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """For k-means||: which candidate is most similar to each row."""
    candidate_similarity: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """For k-means||: the similarity of each row to that candidate."""
    search_or_none: _core.native.SeedSearch | None = None
    """The seed search of the part; None before the step ``Begin``."""

    @property
    def search(self) -> _core.native.SeedSearch:
        assert self.search_or_none is not None, "the seeding begins with the step Begin"
        return self.search_or_none

    def fresh(self) -> "SeedState":
        """The state before any step."""
        return SeedState(self.first_row, self.n_threads, self.may_use_posting_lists)


class Step(ABC, Generic[Answer]):
    """A step of the seeding, with an answer of one type."""

    reads_entries: ClassVar[bool] = True
    """Whether the step reads entries of rows. If not, it gets rows without their entries."""
    reads_state: ClassVar[bool] = True
    """Whether the answer, or the change of the state, depends on the state."""
    changes_state: ClassVar[bool] = False
    """Whether the step changes the state. A state that is lost is made again by all steps so far
    that do, in their order."""

    @abstractmethod
    def on(self, rows: Rows, state: SeedState) -> Answer:
        """Does the step on one part."""

    @classmethod
    def begins_anew(cls) -> bool:
        """Whether the step replaces the state, so that no step before it matters any more."""
        return cls.changes_state and not cls.reads_state


@dataclass(frozen=True)
class FirstPass:
    """What the first pass would find, known from the seeding, by the reference similarity."""

    labels: NDArray[np.int32]
    best: NDArray[np.float64]
    """The similarity of each row to the seed of its label."""
    second: NDArray[np.float64]
    """The largest similarity of each row to any other seed."""

    def of(self, which: NDArray[np.int64]) -> "FirstPass":
        """The same for some of the rows."""
        return FirstPass(self.labels[which], self.best[which], self.second[which])


class SeedPlace(PlacedRows, Protocol):
    """Rows wherever they lie, as the seeding sees them."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """The number of the first row of each part, and at the end the number of all rows."""

    def each(self, step: Step[Answer]) -> list[Answer]:
        """Does a step on every part; the answers in the order of the parts."""

    def at(self, number: int, step: Step[Answer]) -> Answer:
        """Does a step on the part of this number. The step must not change the state."""

    def end_seeding(self) -> None:
        """Drops what the seeding keeps of the parts."""


class SeedRows:
    """Rows in memory as the seeding sees them: one part."""

    def __init__(self, rows: Rows, n_threads: int) -> None:
        self.rows = self.census = rows
        self.starts = np.array([0, rows.n_rows], np.int64)
        self._state = SeedState(0, n_threads)

    def take(self, which: NDArray[np.int64]) -> Rows:
        return self.rows.take(which)

    def each(self, step: Step[Answer]) -> list[Answer]:
        return [step.on(self.rows, self._state)]

    def at(self, number: int, step: Step[Answer]) -> Answer:
        return step.on(self.rows, self._state)

    def end_seeding(self) -> None:
        self._state = self._state.fresh()
