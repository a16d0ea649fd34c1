"""The passes of the loop over partitions on the workers of a Dask cluster.

Once an iteration each worker gets the change of the sums and moves its own copy of the centers by
it; integers, so all copies stay the same. The changes that the partitions report come back summed
up over a tree. The client keeps the centers of the pass before too: with them the labels of a
partition that was lost are found again by one full pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dask import delayed
from numpy.typing import NDArray

from .. import _core
from .._centers.wire import Changes, Snapshot, add, packed, placed, snapshot, unpacked
from .._engines.disk import wrapped
from .._engines.memory import EngineOptions
from .._engines.relocation import Candidates, chosen
from .._rows.census import Census
from . import _worker as worker
from ._blocks import lazy_array
from ._parts import ATTEMPTS, DaskParts, unstable
from ._worker import Basis, Lost, Moved, Plan, Told, Update

BRANCHES = 4
"""How many results one task adds up."""


@dataclass(frozen=True)
class Traffic:
    """The bytes of arrays that one pass sent."""

    to_workers: int
    """The centers or their change, once for each worker."""
    between_workers: int
    """Changes on their way up the tree."""
    to_client: int
    """The change of all."""


class DaskEngine:
    """Engines on the workers, one for each partition."""

    def __init__(
        self, parts: DaskParts, n_clusters: int, options: EngineOptions, seeded: bool
    ) -> None:
        self.n_clusters = n_clusters
        self.options = options
        self.traffic: list[Traffic] = []
        self._parts = parts
        self._plans = [
            Plan(parts.token, i, int(first), n_clusters, options)
            for i, first in enumerate(parts.starts[:-1])
        ]
        self._version = 0  # of the centers of the last pass
        self._update = Update(0)
        self._pending: Any = None
        self._told: Told | None = None
        self._changes: _core.native.SumChanges | None = None
        self._moved: Moved | None = None  # after the last pass
        self._moved_before: Moved | None = None  # after the one before
        self._resumed: NDArray[np.int32] | None = None
        self._centers: _core.native.Centers | None = None
        self._behind: _core.native.Centers | None = None  # those of the last pass
        self._last_move: _core.native.SumChanges | None = None
        self._behind_version = 0
        if seeded:
            parts.ask(lambda: self._each(worker.adopt))

    @property
    def census(self) -> Census:
        return self._parts.census

    # --- The passes.

    def assign(self, centers: _core.native.Centers) -> _core.native.Work:
        self._centers = centers
        if self._version == 0:
            self._update = Update(1, snapshot=snapshot(centers))
        told = self._pass()
        self._version = self._update.version
        self._moved_before, self._moved = self._moved, None
        self._told = told
        self._changes = None
        for part, owner in told.owners.items():
            self._parts.owners[part] = owner
        self._count(told)
        work = _core.native.Work()
        for name, value in told.work.items():
            setattr(work, name, value)
        return work

    def _pass(self) -> Told:
        for _ in range(ATTEMPTS):
            told: Told = self._parts.ask(self._root)
            if not told.lost:
                return told
            self._rebuild(told.lost)
        raise unstable(told.lost)

    def _root(self) -> Any:
        """The task that sums up the pass: the one that goes on already, or a new one."""
        root, self._pending = self._pending, None
        return self._begun() if root is None else root

    def _begun(self) -> Any:
        update = self._parts.share(self._update)
        found = self._each(worker.assign, update, self._parts.shared_census)
        by_owner: dict[str, list[Any]] = {}
        for owner, task in zip(self._parts.owners, found, strict=True):
            by_owner.setdefault(owner, []).append(task)
        level = []  # first what is on one worker, then from worker to worker
        for owner, tasks in by_owner.items():
            part = self._parts.owners.index(owner)
            level += [self._summed(tasks[i : i + BRANCHES], part) for i in _steps(tasks)]
            tasks.clear()
        while len(level) > 1:
            level = [self._summed(level[i : i + BRANCHES], None) for i in _steps(level)]
        return level[0]

    def _summed(self, tasks: Sequence[Any], part: int | None) -> Any:
        return self._parts.submit(part, worker.reduce, list(tasks), self.census.n_features)

    def _each(self, step: Any, *arguments: Any) -> list[Any]:
        parts = self._parts
        return [
            parts.submit(i, step, rows, plan, *arguments)
            for i, (rows, plan) in enumerate(zip(parts.rows, self._plans, strict=True))
        ]

    def _count(self, told: Told) -> None:
        sent = self._update.changes or self._update.snapshot
        assert sent is not None
        self.traffic.append(
            Traffic(
                to_workers=sent.nbytes * len(set(told.owners.values())),
                between_workers=sum(told.received.values()),
                to_client=told.changes.nbytes if told.changes else 0,
            )
        )

    def fingerprint(self) -> int:
        assert self._told is not None
        return wrapped(iter([self._told.fingerprint]))

    def sum_changes(self) -> _core.native.SumChanges:
        assert self._told is not None
        if self._changes is None:
            n_features, n_threads = self.census.n_features, self.options.n_threads
            if self._told.changes is None:
                self._changes = _core.native.SumChanges(self.n_clusters)
            else:
                self._changes = unpacked(self._told.changes, n_features, n_threads)
        return self._changes

    def move(self, centers: _core.native.Centers, changes: _core.native.SumChanges) -> None:
        if self._version == 0:  # centers of a checkpoint; the first pass sends them whole
            centers.move(changes, self.options.n_threads)
            return
        assert self._told is not None
        before, arrays = self._update, self._told.changes
        if self._moved is not None or arrays is None:
            arrays = packed(changes, self.n_clusters)
        self._update = Update(self._version + 1, changes=arrays)
        self._pending = self._parts.ask_later(self._begun)
        # While the workers are at the next pass.
        centers.move(changes, self.options.n_threads)
        if before.snapshot is not None:
            self._behind = placed(before.snapshot, self.census)
        else:
            assert self._behind is not None
            assert self._last_move is not None
            self._behind.move(self._last_move, self.options.n_threads)
        self._behind_version, self._last_move = before.version, changes

    # --- Clusters without rows.

    def relocate(self, centers: _core.native.Centers) -> int:
        sizes = self._sizes()
        empty = int(np.count_nonzero(sizes == 0))
        if not empty:
            return 0
        offered: list[Candidates] = self._answers(
            worker.candidates, self._version, empty + self.n_clusters
        )
        rows, labels = chosen(sizes, offered)
        if not len(rows):
            return 0
        self._moved = rows, labels
        known = {
            int(row): label
            for part in offered
            for row, label in zip(part.rows, part.labels, strict=True)
        }
        before = np.array([known[int(row)] for row in rows], np.int32)
        taken = self._parts.take(rows).native()
        self.sum_changes().collect(taken, before, labels, self.options.n_threads, True)
        self._parts.ask(lambda: self._each(worker.give, self._version, self._moved))
        return len(rows)

    def _answers(self, step: Any, *arguments: Any) -> list[Any]:
        """What each partition says after the last pass, made again where it was lost."""
        for _ in range(ATTEMPTS):
            found: list[Any] = self._parts.ask(lambda: self._each(step, *arguments))
            lost = [answer.part for answer in found if isinstance(answer, Lost)]
            if not lost:
                return found
            self._rebuild(lost)
            self._pass()
        raise unstable(lost)

    def _sizes(self) -> NDArray[np.int64]:
        assert self._told is not None
        return self._told.sizes

    def used(self) -> int:
        return int(np.count_nonzero(self._sizes()))

    # --- What was lost, and what is taken up.

    def resume(self, labels: Any) -> _core.native.SumChanges:
        self._resumed = np.asarray(labels)
        self._plans = [replace(plan, resumed=True) for plan in self._plans]
        total = _core.native.SumChanges(self.n_clusters)
        for part in range(len(self._parts)):  # one after another: each may be as large as all
            (changes,) = self._rebuild([part])
            add(total, changes, self.census.n_features, self.options.n_threads)
        return total

    def _rebuild(self, lost: Sequence[int]) -> list[Changes]:
        """The state of partitions before the pass that goes on."""
        parts = self._parts
        parts.find_owners(lost)
        version = self._update.version - 1 if self._update.version else 0
        moved = self._moved if version == self._version else self._moved_before
        basis = self._basis(version, moved)

        def tasks() -> list[Any]:
            shared = parts.share(basis) if basis.labels is None else None
            return [
                parts.submit(
                    i,
                    worker.rebuild,
                    parts.rows[i],
                    self._plans[i],
                    self._of_part(basis, i) if shared is None else shared,
                    parts.shared_census,
                )
                for i in lost
            ]

        found: list[Changes] = parts.ask(tasks)
        return found

    def _basis(self, version: int, moved: Moved | None) -> Basis:
        """From what the labels after the pass with these centers follow."""
        if version == 0:
            return Basis(0, labels=self._resumed)
        return Basis(version, snapshot=self._centers_of(version), moved=moved)

    def _centers_of(self, version: int) -> Snapshot:
        if version == self._behind_version:
            assert self._behind is not None
            return snapshot(self._behind)
        assert version == self._version
        assert self._centers is not None
        return snapshot(self._centers)

    def _of_part(self, basis: Basis, part: int) -> Basis:
        if basis.labels is None:
            return basis
        here = slice(*self._parts.starts[part : part + 2])
        return replace(basis, labels=basis.labels[here])

    # --- Labels.

    @property
    def labels(self) -> Any:
        return self._labels_after(self._basis(self._version, self._moved))

    @property
    def previous(self) -> Any:
        return self._labels_after(self._basis(self._version - 1, self._moved_before))

    def _labels_after(self, basis: Basis) -> Any:
        """A lazy array in the chunks of X. Its blocks are there, and can be made again."""
        parts = self._parts

        def tasks() -> list[Any]:
            shared = parts.share(basis) if basis.labels is None else None
            return [
                parts.submit(
                    i,
                    worker.labels,
                    rows,
                    self._plans[i],
                    self._of_part(basis, i) if shared is None else shared,
                    parts.shared_census,
                    elsewhere=True,  # that worker may be gone by then
                )
                for i, rows in enumerate(parts.rows)
            ]

        found = [delayed(task) for task in parts.settled(tasks)]
        return lazy_array(found, np.diff(parts.starts).tolist(), (), np.dtype(np.int32))

    def close(self) -> None:
        """Has the workers forget the run."""
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None
        self._parts.forget(run=True)


def _steps(tasks: Sequence[Any]) -> range:
    return range(0, len(tasks), BRANCHES)
