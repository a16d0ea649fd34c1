"""Tasks of the passes on a partition, and of adding up what they found.

``DaskEngine`` sends them to the owner of the partition, where a ``PassState`` stays from task to
task (``_kept.py``). A state goes forward by one pass at a time. A task that finds no state, or one
of another version than it needs, answers ``Lost``; an old state must never answer for a new one.
Every task may be run twice: a pass that was made already is only reported again.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeVar

import numpy as np
from distributed import get_worker
from numpy.typing import NDArray

from .. import _core
from .._algorithms.one_pass import nearest_labels
from .._algorithms.registry import ALGORITHMS
from .._centers.wire import Changes, add_changes, centers_from, changes_to_arrays
from .._engines.memory import MemoryEngine, fingerprint_of
from .._engines.relocation import Offer, Relocation
from .._rows.census import Census
from .._rows.rows import Rows
from .._seeding.search import TellFirstPass
from ._exchange import Basis, Lost, Partition, PassReport, Update
from ._kept import KeptFit, PassState, address, kept_fit

_Answer = TypeVar("_Answer")


def adopt(rows: Rows, partition: Partition) -> None:
    """Makes a state that knows its first pass from the seeding.

    Where the seed state is lost there is no state yet, and the first pass will be a full one.
    """
    kept = kept_fit(partition.fit_id)
    seeding = kept.seedings.pop(partition.number, None)
    if seeding is not None and seeding.state.search_or_none is not None:
        engine = _engine(rows, partition)
        engine.adopt(TellFirstPass().on(rows, seeding.state))
        engine.release_rows()
        kept.states[partition.number] = PassState(engine)


def rebuild(rows: Rows, partition: Partition, basis: Basis, census: Census) -> Changes | None:
    """Makes the state as it was after the pass of a basis, from the rows; it has no bounds.

    If the basis has the labels of a resumed run, this returns the sums of the rows by label.
    """
    kept = kept_fit(partition.fit_id)
    engine = _engine(rows, partition)
    sums = None
    if basis.labels is not None:
        sums = changes_to_arrays(engine.resume_after(basis.labels), partition.n_clusters)
    elif basis.snapshot is not None:
        centers = centers_from(basis.snapshot, census, in_full=_in_full(partition))
        engine.labels[:] = nearest_labels(rows, centers, partition.options.n_threads)
        if basis.relocation is not None:
            engine.relabel(basis.relocation)
        with kept.lock:
            if kept.version < basis.version:  # other partitions of this worker may be further on
                kept.version, kept.centers = basis.version, centers
    engine.release_rows()
    relocated = basis.relocation is not None
    kept.states[partition.number] = PassState(engine, basis.version, relocated=relocated)
    return sums


def _engine(rows: Rows, partition: Partition) -> MemoryEngine:
    return MemoryEngine(
        rows, partition.n_clusters, partition.options, first_row=partition.first_row
    )


def assign(rows: Rows, partition: Partition, update: Update, census: Census) -> PassReport | Lost:
    """The pass with the centers of an update; a report only, where the pass was made already."""
    kept = kept_fit(partition.fit_id)
    state = kept.states.get(partition.number)
    if state is None and update.version == 1 and not partition.resumed:
        state = kept.states.setdefault(partition.number, PassState(_engine(rows, partition)))
    if state is None:
        return Lost((partition.number,))
    with state.lock:
        state.engine.hold_rows(rows)
        try:
            if state.version == update.version - 1:
                centers = kept.centers_at(
                    update, census, has_bounds=state.version > 0, in_full=_in_full(partition)
                )
                if centers is not None:
                    state.assign(centers, update.version)
            if state.version != update.version:
                return Lost((partition.number,))
            return _report(partition, state)
        finally:
            state.engine.release_rows(keep_packed=_has_memory())


def _in_full(partition: Partition) -> bool:
    return ALGORITHMS[partition.options.algorithm].in_full


def _report(partition: Partition, state: PassState) -> PassReport:
    changes = None
    if state.work.changed:
        collected = _core.native.SumChanges(partition.n_clusters)
        state.engine.collect_changes(collected)
        changes = changes_to_arrays(collected, partition.n_clusters)
    return PassReport(
        changes=changes,
        work=state.work.counts(),
        sizes=state.engine.sizes(),
        fingerprint=state.engine.fingerprint(),
        owners={partition.number: address()},
        received=0,
    )


def _has_memory() -> bool:
    """Whether the worker is below the share of its memory from which Dask would put rows away."""
    worker = get_worker()
    manager = worker.memory_manager
    if not manager.memory_limit or not manager.memory_target_fraction:
        return True
    used = worker.monitor.get_process_memory()
    return bool(used < manager.memory_target_fraction * manager.memory_limit)


def reduce(answers: Sequence[PassReport | Lost], n_features: int) -> PassReport | Lost:
    """The reports of several partitions, added up; if any is lost, the numbers of the lost ones."""
    reports = [answer for answer in answers if not isinstance(answer, Lost)]
    if len(reports) < len(answers):
        lost = (answer.numbers for answer in answers if isinstance(answer, Lost))
        return Lost(tuple(chain.from_iterable(lost)))
    n_clusters = len(reports[0].sizes)
    total, changed = _core.native.SumChanges(n_clusters), False
    received = sum(report.received for report in reports)
    for report in reports:
        if report.changes is not None:
            add_changes(total, report.changes, n_features, n_threads=1)
            changed = True
            if address() not in report.owners.values():
                received += report.changes.nbytes
    return PassReport(
        changes=changes_to_arrays(total, n_clusters) if changed else None,
        work=[sum(counts) for counts in zip(*(report.work for report in reports), strict=True)],
        sizes=np.sum([report.sizes for report in reports], axis=0),
        fingerprint=fingerprint_of(report.fingerprint for report in reports),
        owners={number: owner for each in reports for number, owner in each.owners.items()},
        received=received,
    )


def _after_pass(
    rows: Rows, partition: Partition, version: int, ask: Callable[[PassState, KeptFit], _Answer]
) -> _Answer | Lost:
    """What is asked of a partition between the pass of a version and the next."""
    kept = kept_fit(partition.fit_id)
    state = kept.states.get(partition.number)
    if state is None or state.version != version or kept.version != version:
        return Lost((partition.number,))
    with state.lock:
        state.engine.hold_rows(rows)
        try:
            return ask(state, kept)
        finally:
            state.engine.release_rows()


def offer(rows: Rows, partition: Partition, version: int, count: int) -> Offer | Lost:
    """The rows that the partition offers to clusters without any."""

    def offered(state: PassState, kept: KeptFit) -> Offer:
        assert kept.centers is not None
        return state.engine.offer(kept.centers, count)

    return _after_pass(rows, partition, version, offered)


def relabel(rows: Rows, partition: Partition, version: int, relocation: Relocation) -> None:
    """Carries out a relocation. A state that is lost will be rebuilt from a basis that has it."""

    def relabelled(state: PassState, kept: KeptFit) -> None:
        state.engine.relabel(relocation)
        state.relocated = True

    _after_pass(rows, partition, version, relabelled)


def labels(rows: Rows, partition: Partition, basis: Basis, census: Census) -> NDArray[np.int32]:
    """The labels that follow from a basis: those of the state, or made by a full pass."""
    state = kept_fit(partition.fit_id).states.get(partition.number)
    if state is not None:
        with state.lock:
            found = state.labels_of(basis)
        if found is not None:
            return found
    if basis.snapshot is None:
        return np.full(rows.n_rows, -1, np.int32) if basis.labels is None else basis.labels
    made = nearest_labels(rows, centers_from(basis.snapshot, census, in_full=True), n_threads=1)
    if basis.relocation is not None:
        basis.relocation.relabel(made, partition.first_row)
    return made
