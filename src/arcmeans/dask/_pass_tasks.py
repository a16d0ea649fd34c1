"""Tasks of the passes on a partition, and of adding up what they found."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from distributed import get_worker
from numpy.typing import NDArray

from .. import _core
from .._algorithms.one_pass import nearest_labels
from .._algorithms.registry import ALGORITHMS
from .._centers.wire import Changes, add, placed, to_arrays
from .._engines.memory import MemoryEngine
from .._engines.relocation import Candidates, relabel
from .._rows.census import Census
from .._rows.rows import Rows
from .._seeding.search import TellFirstPass
from ._exchange import Basis, Lost, Partition, PassReport, Relocated, Update
from ._resident import PassState, Resident, address, resident

WORK = tuple(name for name in dir(_core.native.Work) if name[0] != "_" and name != "add")
"""The counts of a pass."""

_Answer = TypeVar("_Answer")


def adopt(rows: Rows, partition: Partition) -> None:
    """Begins with what the seeding learned; without it, the first pass will be a full one."""
    kept = resident(partition.token)
    seeding = kept.seedings.pop(partition.part, None)
    if seeding is None or seeding.state.running is None:
        return
    engine = _engine(rows, partition)
    engine.adopt(TellFirstPass().on(rows, seeding.state))
    engine.detach()
    kept.states[partition.part] = PassState(engine)


def rebuild(rows: Rows, partition: Partition, basis: Basis, census: Census) -> Changes | None:
    """The state of a partition before the pass after ``basis``, from the rows alone.

    Where it is given by labels, returns their sums.
    """
    kept = resident(partition.token)
    engine = _engine(rows, partition)
    changes = None
    if basis.labels is not None:
        changes = to_arrays(engine.resume(basis.labels), partition.n_clusters)
    elif basis.snapshot is not None:
        centers = placed(basis.snapshot, census, in_full=_in_full(partition))
        engine.labels[:] = nearest_labels(rows, centers, partition.options.n_threads)
        if basis.relocated is not None:
            engine.give(*basis.relocated)
        with kept.lock:
            if kept.version < basis.version:
                kept.version, kept.centers = basis.version, centers
    engine.detach()
    relocated = basis.relocated is not None
    kept.states[partition.part] = PassState(engine, basis.version, relocated=relocated)
    return changes


def _engine(rows: Rows, partition: Partition) -> MemoryEngine:
    return MemoryEngine(rows, partition.n_clusters, partition.options, first=partition.first)


def assign(rows: Rows, partition: Partition, update: Update, census: Census) -> PassReport | Lost:
    """One pass over a partition."""
    kept = resident(partition.token)
    state = kept.states.get(partition.part)
    if state is None and update.version == 1 and not partition.resumed:
        state = kept.states.setdefault(partition.part, PassState(_engine(rows, partition)))
    if state is None:
        return Lost(partition.part)
    with state.lock:
        state.engine.attach(rows)
        try:
            if state.version == update.version - 1 and not _passed(
                partition, kept, state, update, census
            ):
                return Lost(partition.part)
            if state.version != update.version:
                return Lost(partition.part)
            return _report(partition, state)
        finally:
            state.engine.detach(keep_copy=_has_room())


def _in_full(partition: Partition) -> bool:
    return ALGORITHMS[partition.options.algorithm].in_full


def _passed(
    partition: Partition, kept: Resident, state: PassState, update: Update, census: Census
) -> bool:
    """Makes the pass with the updated centers; False if the worker cannot have these."""
    fresh = state.version == 0
    centers = kept.centers_at(update, census, fresh, in_full=_in_full(partition))
    if centers is None:
        return False
    work = state.engine.assign(centers)
    state.work = {name: getattr(work, name) for name in WORK}
    state.version = update.version
    state.relocated_before, state.relocated = state.relocated, False
    return True


def _report(partition: Partition, state: PassState) -> PassReport:
    engine, changes = state.engine, None
    if state.work["changed"]:
        collected = _core.native.SumChanges(partition.n_clusters)
        engine.add_changes(collected, anew=True)
        changes = to_arrays(collected, partition.n_clusters)
    return PassReport(
        changes=changes,
        work=state.work,
        sizes=engine.sizes(),
        fingerprint=engine.fingerprint(),
        owners={partition.part: address()},
        received={},
    )


def _has_room() -> bool:
    """Whether the worker is below the share of its memory from which Dask would put rows away."""
    worker = get_worker()
    manager = worker.memory_manager
    if not manager.memory_limit or not manager.memory_target_fraction:
        return True
    used = worker.monitor.get_process_memory()
    return bool(used < manager.memory_target_fraction * manager.memory_limit)


def reduce(parts: list[PassReport | Lost], n_features: int) -> PassReport:
    """The reports of several partitions, added up."""
    here = address()
    lost: list[int] = []
    reports: list[PassReport] = []
    for part in parts:
        if isinstance(part, Lost):
            lost.append(part.part)
        else:
            reports.append(part)
            lost.extend(part.lost)
    if lost:  # the rest will be asked again
        return PassReport(None, {}, np.empty(0, np.int64), 0, {}, {}, tuple(lost))
    n_clusters = len(reports[0].sizes)
    total, changed = _core.native.SumChanges(n_clusters), False
    received = {key: size for report in reports for key, size in report.received.items()}
    for report in reports:
        if report.changes is not None:
            add(total, report.changes, n_features, 1)
            changed = True
            if here not in report.owners.values():
                received[here] = received.get(here, 0) + report.changes.nbytes
    return PassReport(
        changes=to_arrays(total, n_clusters) if changed else None,
        work={name: sum(report.work[name] for report in reports) for name in WORK},
        sizes=np.sum([report.sizes for report in reports], axis=0),
        fingerprint=sum(report.fingerprint for report in reports) % 2**64,
        owners={part: owner for each in reports for part, owner in each.owners.items()},
        received=received,
    )


def _after_pass(
    rows: Rows, partition: Partition, version: int, step: Callable[[PassState, Resident], _Answer]
) -> _Answer | Lost:
    """A step on a partition after the pass with these centers."""
    kept = resident(partition.token)
    state = kept.states.get(partition.part)
    if state is None or state.version != version or kept.version != version:
        return Lost(partition.part)
    with state.lock:
        state.engine.attach(rows)
        try:
            return step(state, kept)
        finally:
            state.engine.detach()


def candidates(rows: Rows, partition: Partition, version: int, count: int) -> Candidates | Lost:
    """Rows that might go to clusters without any."""

    def offered(state: PassState, kept: Resident) -> Candidates:
        assert kept.centers is not None
        return state.engine.candidates(kept.centers, count)

    return _after_pass(rows, partition, version, offered)


def give(rows: Rows, partition: Partition, version: int, relocated: Relocated) -> None:
    """Gives rows other labels; where the state is lost, it will be made again with them."""

    def taken(state: PassState, kept: Resident) -> None:
        state.engine.give(*relocated)
        state.relocated = True

    _after_pass(rows, partition, version, taken)


def labels(rows: Rows, partition: Partition, basis: Basis, census: Census) -> NDArray[np.int32]:
    """The labels that follow from a basis: those at hand, or by a full pass."""
    state = resident(partition.token).states.get(partition.part)
    if state is not None:
        with state.lock:
            relocated = basis.relocated is not None
            if (state.version, state.relocated) == (basis.version, relocated):
                return state.engine.labels.copy()
            if (state.version, state.relocated_before) == (basis.version + 1, relocated):
                return state.engine.previous.copy()
    if basis.snapshot is None:
        return np.full(rows.n_rows, -1, np.int32) if basis.labels is None else basis.labels
    found = nearest_labels(rows, placed(basis.snapshot, census, in_full=True), 1)
    if basis.relocated is not None:
        relabel(found, partition.first, *basis.relocated)
    return found
