"""Steps: what the seeding asks of each part of the rows, on the machine that has the part.

A draw from all rows is a draw from the sums of the parts, then from one part. Sums of integers and
of fractions do not depend on the parts, so neither does the draw. A step is a value: it can be sent
to another machine, kept in a log and done again. Rows are named by their numbers among all rows.
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

    first: int
    """The number of the first row of the part."""
    n_threads: int
    postings: bool = True
    """Whether the search may keep posting lists, which take as much memory as the rows."""
    hashes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    """Of the direction of each row."""
    compared: list[NDArray[np.float64]] = field(default_factory=list)
    """The similarities of all rows to each candidate for the next seed."""
    best: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """Of k-means||: the similarity of each row to the candidate most similar to it."""
    candidate: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """Of k-means||: the number of that candidate."""
    running: _core.native.SeedSearch | None = None
    """The search of the core, once there is one."""

    @property
    def search(self) -> _core.native.SeedSearch:
        """The similarities of all rows to the seeds so far."""
        assert self.running is not None, "the seeding begins with the step Begin"
        return self.running

    def fresh(self) -> "SeedState":
        """The state before any step."""
        return SeedState(self.first, self.n_threads, self.postings)


class Step(ABC, Generic[Answer]):
    """A step of the seeding, with an answer of one type."""

    reads_entries: ClassVar[bool] = True
    """Whether the step reads entries of rows. If not, they need not be at hand."""
    reads_state: ClassVar[bool] = True
    """Whether the answer depends on the steps before."""
    changes_state: ClassVar[bool] = False
    """Whether steps after it depend on this one: done again in order, such steps bring the state
    of a part back."""

    @abstractmethod
    def on(self, rows: Rows, state: SeedState) -> Answer:
        """Does the step on one part, whose rows and state are given."""

    @classmethod
    def begins_anew(cls) -> bool:
        """Whether what was kept before the step is of no account after it."""
        return cls.changes_state and not cls.reads_state


@dataclass(frozen=True)
class FirstPass:
    """What the first pass would find, known from the seeding."""

    labels: NDArray[np.int32]
    best: NDArray[np.float64]
    """The similarity of each row to its seed."""
    second: NDArray[np.float64]
    """The largest similarity to any other seed."""

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

    def at(self, part: int, step: Step[Answer]) -> Answer:
        """Does a step on one part. The step should not change the state of the part."""

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

    def at(self, part: int, step: Step[Answer]) -> Answer:
        return step.on(self.rows, self._state)

    def end_seeding(self) -> None:
        self._state = self._state.fresh()
