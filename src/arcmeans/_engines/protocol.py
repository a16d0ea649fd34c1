"""What is asked of rows in a fit, wherever they lie: of their place, and of the engine over them.

The results depend neither on the place nor on the parts it has: a label depends on a row and the
centers alone, and sums are integers.
"""

from collections.abc import Iterator
from typing import Any, Protocol

from .. import _core
from .._algorithms.options import EngineOptions
from .._rows.rows import AnyCensus, Rows
from .._seeding.steps import SeedPlace


class PassEngine(Protocol):
    """Carries out passes over all rows of a place and adds up the sum changes; the loop asks it."""

    @property
    def census(self) -> AnyCensus: ...

    @property
    def labels(self) -> Any:
        """The labels of all rows after the last pass."""

    @property
    def previous(self) -> Any:
        """The labels before the last pass."""

    def assign(self, centers: _core.native.Centers) -> _core.native.Work:
        """A pass: every row gets the label of its most similar center. Returns the work done."""

    def fingerprint(self) -> int:
        """A hash of the labels."""

    def sum_changes(self) -> _core.native.SumChanges:
        """How the clusters' sums change by the labels that changed in the last pass.

        The record is filled anew after the next pass.
        """

    def relocate(self, centers: _core.native.Centers) -> int:
        """Gives rows to clusters without any; returns how many. It changes ``sum_changes``."""

    def move(self, centers: _core.native.Centers, changes: _core.native.SumChanges) -> None:
        """Moves the centers, here and wherever the engine has copies of them."""

    def resume(self, labels: Any) -> _core.native.SumChanges:
        """Makes the next pass count as the pass after these labels; returns the sums of these."""

    def used(self) -> int:
        """The number of clusters that have rows."""

    def close(self) -> None:
        """Nothing more will be asked."""


class Place(SeedPlace, Protocol):
    """Where the rows of a fit lie, in one or more parts."""

    @property
    def room(self) -> int | None:
        """Bytes for the row states that an engine keeps in memory; None: as many as there are."""

    @property
    def in_this_process(self) -> bool:
        """Whether row states have to lie in the memory of this process, and the rows do."""

    @property
    def passes_here(self) -> bool:
        """Whether this process makes the passes; else the centers here only follow the moves."""

    def engine(
        self, n_clusters: int, options: EngineOptions, *, seeded: bool = False
    ) -> PassEngine:
        """An engine over the rows. With ``seeded`` the seeding knows what its first pass finds."""

    def pieces(self) -> Iterator[tuple[slice, Rows]]:
        """All rows, a part at a time in the memory of this process, and which of all they are."""

    def close(self) -> None:
        """Nothing more will be asked."""
