"""The engine over partitions on the workers of a Dask cluster; the loop asks it on the client.

Each iteration, each worker gets the sum changes of all rows and moves its own copy of the centers
by them: they are integers, so all copies have the same bits. The workers make the pass, and the
reports of the partitions come back added up over a tree of tasks. What a worker lost is made again
(``_rebuild``), and the question is asked again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dask import delayed

from .. import _core
from .._algorithms.options import EngineOptions
from .._centers.wire import Changes, add_changes, changes_from_arrays, changes_to_arrays
from .._engines.relocation import Offer, find_relocation
from .._rows.census import Census
from . import _pass_tasks
from ._blocks import lazy_array
from ._exchange import Basis, Lost, Partition, PassReport
from ._partitions import Partitions
from ._tasks import ATTEMPTS, unstable
from ._versions import Versions

BRANCHES = 4
"""How many reports one task adds up."""


@dataclass(frozen=True)
class Traffic:
    """The bytes of arrays that one pass sent."""

    to_workers: int
    """The update, once for each worker."""
    between_workers: int
    """Sum changes on their way up the tree."""
    to_client: int
    """The sum changes of all rows."""


class DaskEngine:
    """Passes over all partitions. ``PassEngine`` says what methods without a docstring promise."""

    def __init__(self, partitions: Partitions, n_clusters: int, options: EngineOptions) -> None:
        self.n_clusters = n_clusters
        self.traffic: list[Traffic] = []
        self._n_threads = options.n_threads
        self._partitions = partitions
        self._versions = Versions(partitions.census, options.n_threads)
        self._described = [
            Partition(partitions.fit_id, number, first_row, n_clusters, options)
            for number, first_row in enumerate(partitions.starts[:-1].tolist())
        ]
        """What the tasks on each partition get to know of it."""
        self._begun_pass: Any = None
        """The root task of the next pass, where ``move`` has begun it already."""
        self._last: PassReport | None = None
        self._changes: _core.native.SumChanges | None = None
        """The sum changes of the last pass, once someone asked for them."""

    def adopt(self) -> None:
        """Takes the first pass of each partition from the seeding, where that is not lost."""
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
        for number, owner in report.owners.items():
            self._partitions.owners[number] = owner
        self._count_traffic(report)
        return _core.native.Work.of(report.work)

    def _pass(self) -> PassReport:
        """The report of the pass of the last update, which may be done already."""
        lost: Sequence[int] = ()
        for _ in range(ATTEMPTS):
            answer: PassReport | Lost = self._partitions.ask(self._root)
            if not isinstance(answer, Lost):
                return answer
            lost = answer.numbers
            self._rebuild(lost)
        raise unstable(lost)

    def _root(self) -> Any:
        """The task whose result is the report of all partitions: ``_begun_pass``, or a new one."""
        root, self._begun_pass = self._begun_pass, None
        return self._begin_pass() if root is None else root

    def _begin_pass(self) -> Any:
        """Sends the tasks of a pass, with those that add up the reports; returns the root task."""
        update = self._partitions.share(self._versions.update)
        passes = self._on_each(_pass_tasks.assign, update, self._partitions.shared_census)
        by_owner: dict[str, list[Any]] = {}
        for owner, task in zip(self._partitions.owners, passes, strict=True):
            by_owner.setdefault(owner, []).append(task)
        level = []  # first the reports of each worker are added up there, then those of workers
        for owner, tasks in by_owner.items():
            level += self._added_up(tasks, self._partitions.owners.index(owner))
            tasks.clear()
        while len(level) > 1:
            level = self._added_up(level, None)
        return level[0]

    def _added_up(self, reports: Sequence[Any], number: int | None) -> list[Any]:
        """Tasks that add up ``BRANCHES`` reports each, on the owner of a partition or anywhere."""
        n_features = self.census.n_features
        return [
            self._partitions.submit(
                number, _pass_tasks.reduce, reports[i : i + BRANCHES], n_features
            )
            for i in range(0, len(reports), BRANCHES)
        ]

    def _on_each(self, task: Callable[..., Any], *arguments: Any) -> list[Any]:
        """A task on every partition, on its owner."""
        partitions = self._partitions
        return [
            partitions.submit(described.number, task, rows, described, *arguments)
            for rows, described in zip(partitions.rows, self._described, strict=True)
        ]

    def _count_traffic(self, report: PassReport) -> None:
        update = self._versions.update
        sent = update.changes or update.snapshot
        assert sent is not None
        self.traffic.append(
            Traffic(
                to_workers=sent.nbytes * len(set(report.owners.values())),
                between_workers=report.received,
                to_client=report.changes.nbytes if report.changes else 0,
            )
        )

    def fingerprint(self) -> int:
        return self.report.fingerprint

    def sum_changes(self) -> _core.native.SumChanges:
        if self._changes is None:
            changes = self.report.changes
            if changes is None:
                self._changes = _core.native.SumChanges(self.n_clusters)
            else:
                self._changes = changes_from_arrays(
                    changes, self.census.n_features, self._n_threads
                )
        return self._changes

    def move(self, centers: _core.native.Centers, changes: _core.native.SumChanges) -> None:
        if self._versions.last == 0:  # a resumed run: the first pass sends a snapshot
            centers.move(changes, self._n_threads)
            return
        sent = self.report.changes
        if self._versions.relocation is not None or sent is None:
            sent = changes_to_arrays(changes, self.n_clusters)
        before = self._versions.next(sent)
        self._begun_pass = self._partitions.ask_later(self._begin_pass)
        # The workers are at the next pass while the centers of the loop move.
        centers.move(changes, self._n_threads)
        self._versions.moved(before, changes)

    # --- Clusters without rows.

    def relocate(self, centers: _core.native.Centers) -> int:
        version = self._versions.last
        relocation = find_relocation(self.report.sizes, lambda count: self._offers(version, count))
        if relocation is None:
            return 0
        self._versions.relocation = relocation
        rows = self._partitions.take(relocation.rows).native()
        before, after = relocation.before, relocation.labels
        self.sum_changes().collect(rows, before, after, self._n_threads, add=True)
        self._partitions.ask(lambda: self._on_each(_pass_tasks.relabel, version, relocation))
        return len(relocation.rows)

    def _offers(self, version: int, count: int) -> list[Offer]:
        """What each partition offers after the last pass; a lost state is rebuilt, and passes."""
        for _ in range(ATTEMPTS):
            found: list[Offer | Lost] = self._partitions.ask(
                lambda: self._on_each(_pass_tasks.offer, version, count)
            )
            lost = [n for answer in found if isinstance(answer, Lost) for n in answer.numbers]
            if not lost:
                return [answer for answer in found if not isinstance(answer, Lost)]
            self._rebuild(lost)
            self._pass()
        raise unstable(lost)

    def count_used(self) -> int:
        return int(np.count_nonzero(self.report.sizes))

    # --- States that were lost, and a run that is resumed.

    def resume_after(self, labels: Any) -> _core.native.SumChanges:
        self._versions.resumed = np.asarray(labels)
        self._described = [replace(each, resumed=True) for each in self._described]
        total = _core.native.SumChanges(self.n_clusters)
        for number in range(len(self._partitions)):
            # One at a time, for the sums of a partition may be as large as the total.
            (sums,) = self._rebuild([number])
            add_changes(total, sums, self.census.n_features, self._n_threads)
        return total

    def _rebuild(self, lost: Sequence[int]) -> list[Changes]:
        """Makes the states of partitions as they were before the pass of the last update."""
        self._partitions.find_owners(lost)
        basis = self._versions.before_update()
        sums: list[Changes] = self._partitions.ask(
            lambda: self._on_basis(_pass_tasks.rebuild, basis, lost)
        )
        return sums

    def _on_basis(
        self,
        task: Callable[..., Any],
        basis: Basis,
        numbers: Sequence[int],
        *,
        elsewhere: bool = False,
    ) -> list[Any]:
        """A task on some partitions that begins with a basis; each gets its own labels of it."""
        partitions = self._partitions
        shared = partitions.share(basis) if basis.labels is None else None
        return [
            partitions.submit(
                number,
                task,
                partitions.rows[number],
                self._described[number],
                self._of_partition(basis, number) if shared is None else shared,
                partitions.shared_census,
                elsewhere=elsewhere,
            )
            for number in numbers
        ]

    def _of_partition(self, basis: Basis, number: int) -> Basis:
        assert basis.labels is not None
        here = slice(*self._partitions.starts[number : number + 2])
        return replace(basis, labels=basis.labels[here])

    # --- Labels.

    @property
    def labels(self) -> Any:
        return self._labels_of(self._versions.after_last_pass())

    @property
    def previous_labels(self) -> Any:
        return self._labels_of(self._versions.before_last_pass())

    def _labels_of(self, basis: Basis) -> Any:
        """The labels of a basis: a lazy array in the chunks of X, whose blocks are made already."""
        partitions = self._partitions
        # Made elsewhere too: an owner may be gone by the time its block is asked for.
        tasks = partitions.settled(
            lambda: self._on_basis(
                _pass_tasks.labels, basis, range(len(partitions)), elsewhere=True
            )
        )
        blocks = [delayed(task) for task in tasks]
        return lazy_array(blocks, np.diff(partitions.starts).tolist(), (), np.dtype(np.int32))

    def close(self) -> None:
        """Has the workers forget the run."""
        if self._begun_pass is not None:
            self._begun_pass.cancel()
            self._begun_pass = None
        self._partitions.forget(only_run=True)
