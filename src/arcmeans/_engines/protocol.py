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
        """The labels of all rows after the last pass, and after the relocation that followed."""

    @property
    def previous_labels(self) -> Any:
        """The labels before the last pass; −1 before the first."""

    def assign(self, centers: _core.native.Centers) -> _core.native.Work:
        """A pass: every row gets the label of its most similar center. Returns the work done."""

    def fingerprint(self) -> int:
        """A hash of ``labels``, by which the loop notices that a run goes in a circle."""

    def sum_changes(self) -> _core.native.SumChanges:
        """How the sums of the clusters change from ``previous_labels`` to ``labels``.

        The next pass overwrites the record.
        """

    def relocate(self, centers: _core.native.Centers) -> int:
        """A relocation; returns how many rows moved. It changes ``labels`` and ``sum_changes``."""

    def move(self, centers: _core.native.Centers, changes: _core.native.SumChanges) -> None:
        """Moves the centers, here and wherever the engine has copies of them."""

    def resume_after(self, labels: Any) -> _core.native.SumChanges:
        """Makes the first pass count changed rows from these labels.

        Returns the sums of the rows of each label, as changes from no label.
        """

    def count_used(self) -> int:
        """The number of clusters that have usable rows."""

    def close(self) -> None:
        """Nothing more will be asked."""


class Place(SeedPlace, Protocol):
    """Where the rows of a fit lie, in one or more parts."""

    @property
    def state_limit(self) -> int | None:
        """The most bytes of row states that an engine keeps in memory; None: no limit."""

    @property
    def in_this_process(self) -> bool:
        """Whether all rows and row states lie in the memory of this process."""

    @property
    def passes_here(self) -> bool:
        """Whether this process makes the passes; else the centers here only follow the moves."""

    def engine(
        self, n_clusters: int, options: EngineOptions, *, seeded: bool = False
    ) -> PassEngine:
        """An engine over the rows; with ``seeded`` it adopts what the seeding knows."""

    def pieces(self) -> Iterator[tuple[slice, Rows]]:
        """All rows, a part at a time in the memory of this process, and which of all they are."""

    def close(self) -> None:
        """Nothing more will be asked."""
