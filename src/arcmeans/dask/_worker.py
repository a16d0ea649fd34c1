"""What runs on the workers: the state of the partitions they hold, and the steps on it.

A worker keeps, for each fit that goes on, the centers and, for each partition it works on, an
engine (labels and bounds) and a part of the seeding. All of it may be lost at any time, with the
worker or by moving a partition to another: a step that finds it missing says so (``Lost``), and the
client has it made again from the rows, which Dask brings back. A step that was done already and is
asked for again, because Dask lost its result, gives the same answer.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from dask.sizeof import sizeof
from distributed import get_worker
from numpy.typing import NDArray
from sklearn.utils import check_array

from .. import _core
from .._centers.wire import Changes, Snapshot, add, packed, placed, unpacked
from .._engines.memory import Engine, EngineOptions
from .._engines.relocation import Candidates
from .._rows.census import Census, Summary, WeightSummary, weigh
from .._rows.containers import as_native, check_unmasked, checked_weights
from .._rows.rows import Rows
from .._rows.unit_rows import canonical, raise_not_finite, rows_of_part
from .._seeding.part import CHANGING, SeedPart, run_step

IDLE_SECONDS = 3600.0
"""After which a worker forgets a fit that nobody asks about: its client has gone."""


Moved = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Rows that went to clusters without any, and their labels."""


@dataclass(frozen=True)
class Plan:
    """What all steps of one fit on a partition have in common."""

    token: str
    """The fit."""
    part: int
    first: int
    """The number of the partition's first row."""
    n_clusters: int
    options: EngineOptions
    resumed: bool = False
    """Whether the labels before the first pass are given."""


@dataclass(frozen=True)
class Lost:
    """The answer of a worker that does not have what the step needs."""

    part: int


@dataclass(frozen=True)
class Update:
    """What takes the centers of a worker to the next version."""

    version: int
    """1 for the centers of the first pass."""
    snapshot: Snapshot | None = None
    changes: Changes | None = None


@dataclass(frozen=True)
class Basis:
    """From what the labels before a pass follow: nothing, labels given, or centers."""

    version: int
    snapshot: Snapshot | None = None
    labels: NDArray[np.int32] | None = None
    """Of the partition, where the run was taken up from a checkpoint."""
    moved: Moved | None = None


@dataclass(frozen=True)
class Told:
    """What a pass over one or more partitions has to say."""

    changes: Changes | None
    work: dict[str, int]
    sizes: NDArray[np.int64]
    fingerprint: int
    owners: dict[int, str]
    """The worker that has each partition."""
    received: dict[str, int]
    """The bytes of changes that travelled between workers to be added up, for each that got any."""
    lost: tuple[int, ...] = ()


def _size(value: Any) -> int:
    """The bytes of a dataclass with its arrays."""
    return sum(sizeof(getattr(value, each.name)) for each in fields(value))


# Dask does not look inside, and would place and spill rows as if they took no memory.
sizeof.register((Rows, Census, Summary, Changes, Snapshot, Update, Basis, Told), _size)


@dataclass
class _State:
    """A partition between two passes."""

    engine: Engine
    version: int = 0
    """The centers of its last pass; 0 before the first."""
    work: dict[str, int] = field(default_factory=dict)
    moved: bool = False
    """Whether rows went to clusters without any after that pass."""
    moved_before: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class _Seeding:
    part: SeedPart
    done: int = 0
    """The number of steps that changed it."""
    answer: Any = None
    """That of the last of them."""
    lock: threading.Lock = field(default_factory=threading.Lock)


class Resident:
    """What a worker keeps of one fit."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.version = 0
        self.centers: _core.native.Centers | None = None
        self.states: dict[int, _State] = {}
        self.seedings: dict[int, _Seeding] = {}
        self.used = time.monotonic()

    def centers_at(
        self, update: Update, census: Census, fresh: bool
    ) -> _core.native.Centers | None:
        """The centers moved to a version; None if these cannot be.

        A snapshot says nothing of how far the centers moved, which bounds have to know: it will do
        only for a partition that has none (``fresh``).
        """
        with self.lock:
            if self.version != update.version:
                if self.version == update.version - 1 and update.changes and self.centers:
                    changes = unpacked(update.changes, census.n_features)
                    self.centers.move(changes, 1)
                elif update.snapshot is not None and fresh:
                    self.centers = placed(update.snapshot, census)
                else:
                    return None
                self.version = update.version
            return self.centers


_residents: WeakKeyDictionary[Any, dict[str, Resident]] = WeakKeyDictionary()
_lock = threading.Lock()


def resident(token: str) -> Resident:
    """What this worker keeps of a fit."""
    with _lock:
        fits = _residents.setdefault(get_worker(), {})
        now = time.monotonic()
        for other in [t for t, kept in fits.items() if now - kept.used > IDLE_SECONDS]:
            del fits[other]
        kept = fits.setdefault(token, Resident())
        kept.used = now
        return kept


def forget(token: str, run: bool, dask_worker: Any = None) -> None:
    """The run is over, or with it the fit. Dask gives the worker."""
    with _lock:
        fits = _residents.get(dask_worker, {})
        if token in fits:
            kept = fits[token]
            kept.states, kept.version, kept.centers = {}, 0, None
            if not run:
                del fits[token]


def address() -> str:
    return str(get_worker().address)


def send(value: Any) -> Any:
    """What all workers are to have."""
    return value


# --- Making rows ready.


def checked_block(block: Any, name: str) -> Any:
    """A block as the core takes it: canonical CSR or dense, float32 or float64, finite."""
    check_unmasked(name, block)
    block, dtype = as_native(block)
    block = check_array(
        block,
        accept_sparse="csr",
        dtype=dtype,
        order="C",
        ensure_all_finite=False,
        ensure_min_samples=0,
        input_name=name,
    )
    if not sp.issparse(block):
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            raise_not_finite(name, int(np.argmin(finite)))
        return block
    found, inspection, _ = canonical(block, False, name)
    if inspection.not_finite_row >= 0:
        raise_not_finite(name, inspection.not_finite_row)
    parts = (found.data, found.indices, found.starts)
    return sp.csr_array(parts, shape=block.shape)


@dataclass(frozen=True)
class Shape:
    """What a block is."""

    n_rows: int
    n_features: int
    sparse: bool
    dtype: np.dtype[Any]

    @property
    def kind(self) -> str:
        return f"{'sparse' if self.sparse else 'dense'} of {self.dtype}"


def shape_of(block: Any) -> Shape:
    return Shape(block.shape[0], block.shape[1], sp.issparse(block), block.dtype)


def _zero(block: Any) -> NDArray[np.bool_]:
    zero: NDArray[np.bool_] = (
        np.diff(block.indptr) == 0 if sp.issparse(block) else ~block.any(axis=1)
    )
    return zero


def weights_of(weights: Any, block: Any) -> NDArray[np.float64] | None:
    """The weights of a partition, not scaled yet; 0 for rows without a direction."""
    if weights is None:
        return None
    if block.shape[0] == 0:
        return np.empty(0)
    checked = checked_weights(weights, block.shape[0], alone=False)
    assert checked is not None
    return np.where(_zero(block), 0.0, checked)


def summarize(block: Any, weights: NDArray[np.float64] | None) -> Summary:
    zero = _zero(block)
    frequency = None
    if sp.issparse(block):
        frequency = np.bincount(block.indices, minlength=block.shape[1]).astype(np.int64)
    found: WeightSummary = weigh(int((~zero).sum()) if weights is None else weights[~zero])
    return Summary(
        n_rows=block.shape[0],
        n_features=block.shape[1],
        dtype=block.dtype,
        n_zero=int(zero.sum()),
        n_usable=int((~zero if weights is None else weights > 0).sum()),
        weights=found,
        frequency=frequency,
    )


def prepare(block: Any, weights: NDArray[np.float64] | None, census: Census) -> Rows:
    """The unit rows of a partition."""
    if block.shape[0] == 0:  # it may be of any kind
        kind = np.empty if census.by_rank is None else sp.csr_array
        block = kind(block.shape, dtype=census.dtype)
    scaled = None
    if census.weighted:
        scaled = np.ones(block.shape[0]) if weights is None else weights
        scaled = scaled * census.weight_scale
    return rows_of_part(block, census, scaled, 1)


# --- Seeding.


def seed_step(
    rows: Rows, token: str, part: int, first: int, done: int, step: str, arguments: tuple[Any, ...]
) -> Any:
    """A step of the seeding; ``done`` steps before it have changed what is kept."""
    kept = resident(token).seedings.setdefault(part, _Seeding(SeedPart(first, 1)))
    with kept.lock:
        if step == "begin":  # a new seeding
            kept.part, kept.done = SeedPart(first, 1), 0
        changing = step in CHANGING
        if changing and kept.done == done + 1:
            return kept.answer
        if kept.done != done and step not in STATELESS:
            return Lost(part)
        kept.part.rows = rows
        try:
            answer = run_step(kept.part, step, arguments)
        finally:
            del kept.part.rows
        if changing:
            kept.done, kept.answer = done + 1, answer
        return answer


STATELESS = ("take", "content", "smallest")
"""Steps that need the rows only."""


def replay(
    rows: Rows, token: str, part: int, first: int, log: list[tuple[str, tuple[Any, ...]]]
) -> None:
    """Does all steps again that changed a part of the seeding."""
    resident(token).seedings.pop(part, None)
    for done, (step, arguments) in enumerate(log):
        seed_step(rows, token, part, first, done, step, arguments)


# --- Passes.


def adopt(rows: Rows, plan: Plan) -> None:
    """Begins with what the seeding learned; without it, the first pass will be a full one."""
    kept = resident(plan.token)
    seeding = kept.seedings.pop(plan.part, None)
    if seeding is None or seeding.part._search is None:
        return
    engine = Engine(rows, plan.n_clusters, plan.options, first=plan.first)
    engine.adopt(seeding.part.first_pass())
    engine.detach()
    kept.states[plan.part] = _State(engine)


def rebuild(rows: Rows, plan: Plan, basis: Basis, census: Census) -> Changes | None:
    """The state of a partition before the pass after ``basis``, from the rows alone.

    Where it is given by labels, returns their sums.
    """
    kept = resident(plan.token)
    engine = Engine(rows, plan.n_clusters, plan.options, first=plan.first)
    changes = None
    if basis.labels is not None:
        changes = packed(engine.resume(basis.labels), plan.n_clusters)
    elif basis.snapshot is not None:
        centers = placed(basis.snapshot, census)
        engine.labels[:] = _labels(rows, plan, centers)
        if basis.moved is not None:
            engine.give(*basis.moved)
        with kept.lock:
            if kept.version < basis.version:
                kept.version, kept.centers = basis.version, centers
    engine.detach()
    kept.states[plan.part] = _State(engine, basis.version, moved=basis.moved is not None)
    return changes


def _labels(rows: Rows, plan: Plan, centers: _core.native.Centers) -> NDArray[np.int32]:
    """By one full pass."""
    lloyd = Engine(rows, plan.n_clusters, EngineOptions(n_threads=plan.options.n_threads))
    lloyd.assign(centers)
    return lloyd.labels


def assign(rows: Rows, plan: Plan, update: Update, census: Census) -> Told | Lost:
    """One pass over a partition."""
    kept = resident(plan.token)
    state = kept.states.get(plan.part)
    if state is None and update.version == 1 and not plan.resumed:
        engine = Engine(rows, plan.n_clusters, plan.options, first=plan.first)
        state = kept.states.setdefault(plan.part, _State(engine))
    if state is None:
        return Lost(plan.part)
    with state.lock:
        engine = state.engine
        engine.attach(rows)
        try:
            if state.version == update.version - 1:
                centers = kept.centers_at(update, census, fresh=state.version == 0)
                if centers is None:
                    return Lost(plan.part)
                work = engine.assign(centers)
                state.work = {name: getattr(work, name) for name in WORK}
                state.version = update.version
                state.moved_before, state.moved = state.moved, False
            if state.version != update.version:
                return Lost(plan.part)
            changes = None
            if state.work["changed"]:
                collected = _core.native.SumChanges(plan.n_clusters)
                engine.add_changes(collected, anew=True)
                changes = packed(collected, plan.n_clusters)
            return Told(
                changes=changes,
                work=state.work,
                sizes=engine.sizes(),
                fingerprint=engine.fingerprint(),
                owners={plan.part: address()},
                received={},
            )
        finally:
            engine.detach(keep_copy=_has_room())


def _has_room() -> bool:
    """Whether the worker is below the share of its memory from which Dask would put rows away."""
    worker = get_worker()
    manager = worker.memory_manager
    if not manager.memory_limit or not manager.memory_target_fraction:
        return True
    used = worker.monitor.get_process_memory()
    return bool(used < manager.memory_target_fraction * manager.memory_limit)


WORK = tuple(name for name in dir(_core.native.Work) if name[0] != "_" and name != "add")
"""The counts of a pass."""


def reduce(parts: list[Told | Lost], n_features: int) -> Told:
    """What several partitions have to say, added up."""
    here = address()
    lost: list[int] = []
    told: list[Told] = []
    for part in parts:
        if isinstance(part, Lost):
            lost.append(part.part)
        else:
            told.append(part)
            lost.extend(part.lost)
    if lost:  # the rest will be asked again
        return Told(None, {}, np.empty(0, np.int64), 0, {}, {}, tuple(lost))
    n_clusters = len(told[0].sizes)
    total, changed = _core.native.SumChanges(n_clusters), False
    received = {key: size for part in told for key, size in part.received.items()}
    for part in told:
        if part.changes is not None:
            add(total, part.changes, n_features, 1)
            changed = True
            if here not in part.owners.values():
                received[here] = received.get(here, 0) + part.changes.nbytes
    return Told(
        changes=packed(total, n_clusters) if changed else None,
        work={name: sum(part.work[name] for part in told) for name in WORK},
        sizes=np.sum([part.sizes for part in told], axis=0),
        fingerprint=sum(part.fingerprint for part in told) % 2**64,
        owners={part: owner for each in told for part, owner in each.owners.items()},
        received=received,
    )


def _on_state(rows: Rows, plan: Plan, version: int, step: Callable[[_State, Resident], Any]) -> Any:
    """A step on a partition after the pass with these centers."""
    kept = resident(plan.token)
    state = kept.states.get(plan.part)
    if state is None or state.version != version or kept.version != version:
        return Lost(plan.part)
    with state.lock:
        state.engine.attach(rows)
        try:
            return step(state, kept)
        finally:
            state.engine.detach()


def candidates(rows: Rows, plan: Plan, version: int, count: int) -> Candidates | Lost:
    """Rows that might go to clusters without any."""

    def offered(state: _State, kept: Resident) -> Candidates:
        assert kept.centers is not None
        return state.engine.candidates(kept.centers, count)

    return _on_state(rows, plan, version, offered)  # type: ignore[no-any-return]


def give(rows: Rows, plan: Plan, version: int, moved: Moved) -> None:
    """Gives rows other labels; where the state is lost, it will be made again with them."""

    def taken(state: _State, kept: Resident) -> None:
        state.engine.give(*moved)
        state.moved = True

    _on_state(rows, plan, version, taken)


def labels(rows: Rows, plan: Plan, basis: Basis, census: Census) -> NDArray[np.int32]:
    """The labels that follow from a basis: those at hand, or by a full pass."""
    kept = resident(plan.token)
    state = kept.states.get(plan.part)
    if state is not None:
        with state.lock:
            moved = basis.moved is not None
            if (state.version, state.moved) == (basis.version, moved):
                return state.engine.labels.copy()
            if (state.version, state.moved_before) == (basis.version + 1, moved):
                return state.engine.previous.copy()
    if basis.snapshot is None:
        return np.full(rows.n_rows, -1, np.int32) if basis.labels is None else basis.labels
    engine = Engine(rows, plan.n_clusters, EngineOptions(), first=plan.first)
    engine.labels[:] = _labels(rows, plan, placed(basis.snapshot, census))
    if basis.moved is not None:
        engine.give(*basis.moved)
    return engine.labels
