"""The versions of the centers that the client of a run keeps: those of the last two passes.

``DaskEngine`` tells ``Versions`` of every pass and move. The workers move copies of their own from
version to version by updates. A worker that lost a state gets a basis: with the centers of one of
the two versions, one full pass finds the labels again.
"""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._centers.wire import Changes, Snapshot, centers_from, snapshot_of
from .._engines.relocation import Relocation
from .._rows.census import Census
from ._exchange import Basis, Update


class Versions:
    """The versions of the centers of one run."""

    def __init__(self, census: Census, n_threads: int) -> None:
        self.last = 0
        """The version of the last pass; 0 before the first."""
        self.update = Update(0)
        """The last update: after a move the one to the next version, else to version ``last``."""
        self.relocation: Relocation | None = None
        """The relocation after the last pass."""
        self.resumed: NDArray[np.int32] | None = None
        """The labels before the first pass, where the run is resumed."""
        self._census, self._n_threads = census, n_threads
        self._previous_relocation: Relocation | None = None
        """The relocation after the pass before the last."""
        self._centers: _core.native.Centers | None = None
        """The centers of the loop, which it moves."""
        self._behind: _core.native.Centers | None = None
        """A copy one move behind ``_centers``."""
        self._behind_version = 0
        """The version of ``_behind``."""
        self._last_move: _core.native.SumChanges | None = None
        """What takes ``_behind`` to ``_centers``."""

    def begin_pass(self, centers: _core.native.Centers) -> None:
        """A pass with these centers begins; to the first pass they go as a snapshot."""
        self._centers = centers
        if self.last == 0:
            self.update = Update(1, snapshot=snapshot_of(centers))

    def end_pass(self) -> None:
        """The pass is done."""
        self.last = self.update.version
        self._previous_relocation, self.relocation = self.relocation, None

    def next(self, changes: Changes) -> Update:
        """Makes the update to the next version; returns the update before, for ``moved``."""
        before = self.update
        self.update = Update(self.last + 1, changes=changes)
        return before

    def moved(self, before: Update, changes: _core.native.SumChanges) -> None:
        """The loop's centers have moved from the version of ``before``: ``_behind`` gets there."""
        if before.snapshot is not None:
            self._behind = centers_from(before.snapshot, self._census)
        else:
            assert self._behind is not None
            assert self._last_move is not None
            self._behind.move(self._last_move, self._n_threads)
        self._behind_version, self._last_move = before.version, changes

    # --- A basis for labels.

    def after_last_pass(self) -> Basis:
        return self._basis(self.last, self.relocation)

    def before_last_pass(self) -> Basis:
        return self._basis(self.last - 1, self._previous_relocation)

    def before_update(self) -> Basis:
        """For the labels with which the pass of the last update begins, be it done or not."""
        version = max(0, self.update.version - 1)
        return self.after_last_pass() if version == self.last else self.before_last_pass()

    def _basis(self, version: int, relocation: Relocation | None) -> Basis:
        if version == 0:
            return Basis(0, labels=self.resumed)
        return Basis(version, snapshot=self._snapshot_of(version), relocation=relocation)

    def _snapshot_of(self, version: int) -> Snapshot:
        if version == self._behind_version:
            assert self._behind is not None
            return snapshot_of(self._behind)
        assert version == self.last
        assert self._centers is not None
        return snapshot_of(self._centers)
