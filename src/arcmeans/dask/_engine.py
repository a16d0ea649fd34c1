"""The passes of the loop over partitions on the workers of a Dask cluster.

Once an iteration each worker gets the change of the sums and moves its own copy of the centers by
it; integers, so all copies stay the same. The changes that the partitions report come back summed
up over a tree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dask import delayed

from .. import _core
from .._algorithms.options import EngineOptions
from .._centers.wire import Changes, add, from_arrays, to_arrays
from .._engines.parts import fingerprint_of
from .._engines.relocation import Candidates, chosen
from .._rows.census import Census
from . import _pass_tasks
from ._blocks import lazy_array
from ._exchange import Basis, Lost, Partition, PassReport
from ._partitions import Partitions
from ._tasks import ATTEMPTS, unstable
from ._versions import Versions

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

    def __init__(self, partitions: Partitions, n_clusters: int, options: EngineOptions) -> None:
        self.n_clusters = n_clusters
        self.traffic: list[Traffic] = []
        self._n_threads = options.n_threads
        self._partitions = partitions
        self._versions = Versions(partitions.census, options.n_threads)
        self._described = [
            Partition(partitions.token, i, int(first), n_clusters, options)
            for i, first in enumerate(partitions.starts[:-1])
        ]
        self._pending: Any = None
        """The task that sums up the next pass, where the workers are at it already."""
        self._last: PassReport | None = None
        self._changes: _core.native.SumChanges | None = None
        """Those of the last pass, once someone asked for them."""

    def adopt(self) -> None:
        """Takes over what the seeding learned of the partitions, as far as it is not lost."""
        self._partitions.ask(lambda: self._on_each(_pass_tasks.adopt))

    @property
    def census(self) -> Census:
        return self._partitions.census

    @property
    def report(self) -> PassReport:
        """What the last pass did."""
        assert self._last is not None
        return self._last

    # --- The passes.

    def assign(self, centers: _core.native.Centers) -> _core.native.Work:
        self._versions.begin_pass(centers)
        self._last = report = self._pass()
        self._versions.end_pass()
        self._changes = None
        for part, owner in report.owners.items():
            self._partitions.owners[part] = owner
        self._count(report)
        work = _core.native.Work()
        for name, value in report.work.items():
            setattr(work, name, value)
        return work

    def _pass(self) -> PassReport:
        for _ in range(ATTEMPTS):
            report: PassReport = self._partitions.ask(self._root)
            if not report.lost:
                return report
            self._rebuild(report.lost)
        raise unstable(report.lost)

    def _root(self) -> Any:
        """The task that sums up the pass: the one that goes on already, or a new one."""
        root, self._pending = self._pending, None
        return self._begun() if root is None else root

    def _begun(self) -> Any:
        update = self._partitions.share(self._versions.update)
        found = self._on_each(_pass_tasks.assign, update, self._partitions.shared_census)
        by_owner: dict[str, list[Any]] = {}
        for owner, task in zip(self._partitions.owners, found, strict=True):
            by_owner.setdefault(owner, []).append(task)
        level = []  # first what is on one worker, then from worker to worker
        for owner, tasks in by_owner.items():
            part = self._partitions.owners.index(owner)
            level += [self._summed(tasks[i : i + BRANCHES], part) for i in _steps(tasks)]
            tasks.clear()
        while len(level) > 1:
            level = [self._summed(level[i : i + BRANCHES], None) for i in _steps(level)]
        return level[0]

    def _summed(self, reports: Sequence[Any], part: int | None) -> Any:
        n_features = self.census.n_features
        return self._partitions.submit(part, _pass_tasks.reduce, list(reports), n_features)

    def _on_each(self, task: Callable[..., Any], *arguments: Any) -> list[Any]:
        partitions = self._partitions
        return [
            partitions.submit(i, task, rows, described, *arguments)
            for i, (rows, described) in enumerate(
                zip(partitions.rows, self._described, strict=True)
            )
        ]

    def _count(self, report: PassReport) -> None:
        update = self._versions.update
        sent = update.changes or update.snapshot
        assert sent is not None
        self.traffic.append(
            Traffic(
                to_workers=sent.nbytes * len(set(report.owners.values())),
                between_workers=sum(report.received.values()),
                to_client=report.changes.nbytes if report.changes else 0,
            )
        )

    def fingerprint(self) -> int:
        return fingerprint_of([self.report.fingerprint])

    def sum_changes(self) -> _core.native.SumChanges:
        if self._changes is None:
            changes = self.report.changes
            if changes is None:
                self._changes = _core.native.SumChanges(self.n_clusters)
            else:
                self._changes = from_arrays(changes, self.census.n_features, self._n_threads)
        return self._changes

    def move(self, centers: _core.native.Centers, changes: _core.native.SumChanges) -> None:
        if self._versions.last == 0:  # centers of a checkpoint; the first pass sends them whole
            centers.move(changes, self._n_threads)
            return
        sent = self.report.changes
        if self._versions.relocated is not None or sent is None:
            sent = to_arrays(changes, self.n_clusters)
        before = self._versions.next(sent)
        self._pending = self._partitions.ask_later(self._begun)
        # While the workers are at the next pass.
        centers.move(changes, self._n_threads)
        self._versions.follow(before, changes)

    # --- Clusters without rows.

    def relocate(self, centers: _core.native.Centers) -> int:
        sizes = self.report.sizes
        empty = int(np.count_nonzero(sizes == 0))
        if not empty:
            return 0
        version = self._versions.last
        offered = self._candidates(version, empty + self.n_clusters)
        rows, labels = chosen(sizes, offered)
        if not len(rows):
            return 0
        self._versions.relocated = rows, labels
        known = {
            int(row): label
            for part in offered
            for row, label in zip(part.rows, part.labels, strict=True)
        }
        before = np.array([known[int(row)] for row in rows], np.int32)
        taken = self._partitions.take(rows).native()
        self.sum_changes().collect(taken, before, labels, self._n_threads, add=True)
        self._partitions.ask(lambda: self._on_each(_pass_tasks.give, version, (rows, labels)))
        return len(rows)

    def _candidates(self, version: int, count: int) -> list[Candidates]:
        """What each partition offers after the last pass, made again where it was lost."""
        for _ in range(ATTEMPTS):
            found: list[Candidates | Lost] = self._partitions.ask(
                lambda: self._on_each(_pass_tasks.candidates, version, count)
            )
            lost = [answer.part for answer in found if isinstance(answer, Lost)]
            if not lost:
                return [answer for answer in found if not isinstance(answer, Lost)]
            self._rebuild(lost)
            self._pass()
        raise unstable(lost)

    def used(self) -> int:
        return int(np.count_nonzero(self.report.sizes))

    # --- What was lost, and what is taken up.

    def resume(self, labels: Any) -> _core.native.SumChanges:
        self._versions.resumed = np.asarray(labels)
        self._described = [replace(each, resumed=True) for each in self._described]
        total = _core.native.SumChanges(self.n_clusters)
        for part in range(len(self._partitions)):  # one after another: each may be as large as all
            (changes,) = self._rebuild([part])
            add(total, changes, self.census.n_features, self._n_threads)
        return total

    def _rebuild(self, lost: Sequence[int]) -> list[Changes]:
        """Makes the states of partitions again, as they were before the pass that goes on."""
        self._partitions.find_owners(lost)
        basis = self._versions.before_this_pass()
        found: list[Changes] = self._partitions.ask(
            lambda: self._on_basis(_pass_tasks.rebuild, basis, lost)
        )
        return found

    def _on_basis(
        self,
        task: Callable[..., Any],
        basis: Basis,
        parts: Sequence[int],
        *,
        elsewhere: bool = False,
    ) -> list[Any]:
        """A task on partitions that begins with a basis; each gets its own labels of it."""
        partitions = self._partitions
        shared = partitions.share(basis) if basis.labels is None else None
        return [
            partitions.submit(
                i,
                task,
                partitions.rows[i],
                self._described[i],
                self._of_part(basis, i) if shared is None else shared,
                partitions.shared_census,
                elsewhere=elsewhere,
            )
            for i in parts
        ]

    def _of_part(self, basis: Basis, part: int) -> Basis:
        assert basis.labels is not None
        here = slice(*self._partitions.starts[part : part + 2])
        return replace(basis, labels=basis.labels[here])

    # --- Labels.

    @property
    def labels(self) -> Any:
        return self._labels_after(self._versions.after_last_pass())

    @property
    def previous(self) -> Any:
        return self._labels_after(self._versions.before_last_pass())

    def _labels_after(self, basis: Basis) -> Any:
        """A lazy array in the chunks of X. Its blocks are there, and can be made again."""
        partitions = self._partitions
        # A worker may be gone by the time its block is asked for.
        tasks = partitions.settled(
            lambda: self._on_basis(
                _pass_tasks.labels, basis, range(len(partitions)), elsewhere=True
            )
        )
        blocks = [delayed(task) for task in tasks]
        return lazy_array(blocks, np.diff(partitions.starts).tolist(), (), np.dtype(np.int32))

    def close(self) -> None:
        """Has the workers forget the run."""
        if self._pending is not None:
            self._pending.cancel()
            self._pending = None
        self._partitions.forget(run=True)


def _steps(tasks: Sequence[Any]) -> range:
    return range(0, len(tasks), BRANCHES)
