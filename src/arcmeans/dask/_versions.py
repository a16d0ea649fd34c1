"""The centers of the last pass and of the pass before it, for workers that lost or lack them.

A version is the number of a pass: the centers of the first pass have version 1. The workers move
their own copies from version to version. The client keeps two versions: with them the labels of a
partition that was lost are found again by one full pass.
"""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._centers.wire import Changes, Snapshot, placed, snapshot
from .._rows.census import Census
from ._exchange import Basis, Relocated, Update


class Versions:
    """The versions of the centers of one run, and what followed from them."""

    def __init__(self, census: Census, n_threads: int) -> None:
        self.last = 0
        """The version of the last pass; 0 before the first."""
        self.update = Update(0)
        """What takes the workers to the version of the next pass, or of the last one."""
        self.relocated: Relocated | None = None
        """Rows that went to clusters without any after the last pass."""
        self.resumed: NDArray[np.int32] | None = None
        """The labels before the first pass, where the run was taken up from a checkpoint."""
        self._census, self._n_threads = census, n_threads
        self._relocated_before: Relocated | None = None
        self._centers: _core.native.Centers | None = None
        self._behind: _core.native.Centers | None = None
        """The centers of the version before the last move."""
        self._behind_version = 0
        self._last_move: _core.native.SumChanges | None = None

    def begin_pass(self, centers: _core.native.Centers) -> None:
        """A pass with these centers begins; the first sends them whole."""
        self._centers = centers
        if self.last == 0:
            self.update = Update(1, snapshot=snapshot(centers))

    def end_pass(self) -> None:
        """The pass is done."""
        self.last = self.update.version
        self._relocated_before, self.relocated = self.relocated, None

    def next(self, changes: Changes) -> Update:
        """The sums have changed: the update to the version after the last pass.

        Returns the update before it, for ``follow``.
        """
        before = self.update
        self.update = Update(self.last + 1, changes=changes)
        return before

    def follow(self, before: Update, changes: _core.native.SumChanges) -> None:
        """The centers have moved: the version they had is kept."""
        if before.snapshot is not None:
            self._behind = placed(before.snapshot, self._census)
        else:
            assert self._behind is not None
            assert self._last_move is not None
            self._behind.move(self._last_move, self._n_threads)
        self._behind_version, self._last_move = before.version, changes

    # --- From what labels follow.

    def after_last_pass(self) -> Basis:
        """From what the labels after the last pass follow."""
        return self._basis(self.last, self.relocated)

    def before_last_pass(self) -> Basis:
        """From what the labels before the last pass follow."""
        return self._basis(self.last - 1, self._relocated_before)

    def before_this_pass(self) -> Basis:
        """From what the labels before the pass that goes on follow."""
        version = self.update.version - 1 if self.update.version else 0
        return self._basis(
            version, self.relocated if version == self.last else self._relocated_before
        )

    def _basis(self, version: int, relocated: Relocated | None) -> Basis:
        if version == 0:
            return Basis(0, labels=self.resumed)
        return Basis(version, snapshot=self._centers_of(version), relocated=relocated)

    def _centers_of(self, version: int) -> Snapshot:
        if version == self._behind_version:
            assert self._behind is not None
            return snapshot(self._behind)
        assert version == self.last
        assert self._centers is not None
        return snapshot(self._centers)
