"""What a worker keeps of a fit between two tasks: centers, and a state of each partition it owns.

All of it may be lost at any time, with the worker or because a partition gets another owner. A task
that misses a part of it answers ``Lost``, and the client has that part made again from the rows,
which Dask brings back. Dask may run a task a second time because it lost the first result: the task
then gives the same answer, and changes nothing.
"""

import threading
import time
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from distributed import get_worker
from numpy.typing import NDArray

from .. import _core
from .._centers.wire import centers_from, changes_from_arrays
from .._engines.memory import MemoryEngine
from .._rows.census import Census
from .._seeding.steps import SeedState
from ._exchange import Basis, Update

IDLE_SECONDS = 3600.0
"""After so long a worker forgets a fit that nobody asks about: its client has gone."""


@dataclass
class PassState:
    """A partition between two passes."""

    engine: MemoryEngine
    version: int = 0
    """The version of its last pass; 0 before the first."""
    work: _core.native.Work = field(default_factory=_core.native.Work)
    """The work of its last pass."""
    relocated: bool = False
    """Whether ``engine.labels`` have been relabelled by the relocation after the last pass."""
    previous_relocated: bool = False
    """Whether ``engine.previous_labels`` have been, by the relocation after the pass before."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def assign(self, centers: _core.native.Centers, version: int) -> None:
        """One pass."""
        self.work = self.engine.assign(centers)
        self.version = version
        self.previous_relocated, self.relocated = self.relocated, False

    def labels_of(self, basis: Basis) -> NDArray[np.int32] | None:
        """The labels that follow from a basis, where the engine still has them."""
        relocated = basis.relocation is not None
        if (self.version, self.relocated) == (basis.version, relocated):
            return self.engine.labels.copy()
        if (self.version - 1, self.previous_relocated) == (basis.version, relocated):
            return self.engine.previous_labels.copy()
        return None


@dataclass
class PartitionSeeding:
    """A partition between two steps of the seeding."""

    state: SeedState
    done: int = 0
    """The number of steps that have changed ``state``."""
    answer: Any = None
    """The answer of the last of these steps."""
    lock: threading.Lock = field(default_factory=threading.Lock)


class KeptFit:
    """What a worker keeps of one fit."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        """For ``version`` and ``centers``."""
        self.version = 0
        self.centers: _core.native.Centers | None = None
        """The centers of ``version``, for all partitions of the worker."""
        self.states: dict[int, PassState] = {}
        """By the number of the partition; so are ``seedings``."""
        self.seedings: dict[int, PartitionSeeding] = {}
        self.used = time.monotonic()

    def centers_at(
        self, update: Update, census: Census, *, has_bounds: bool, in_full: bool
    ) -> _core.native.Centers | None:
        """The centers brought to the version of an update; None if that cannot be done.

        A snapshot does not say how far the centers moved. Bounds have to know that, so for a
        partition that has bounds a snapshot will not do.
        """
        with self.lock:
            if self.version != update.version:
                if self.version == update.version - 1 and update.changes and self.centers:
                    changes = changes_from_arrays(update.changes, census.n_features)
                    self.centers.move(changes, 1)
                elif update.snapshot is not None and not has_bounds:
                    self.centers = centers_from(update.snapshot, census, in_full=in_full)
                else:
                    return None
                self.version = update.version
            return self.centers

    def forget_run(self) -> None:
        """Drops what the passes kept; what the seeding keeps may be of use to the next run."""
        self.states, self.version, self.centers = {}, 0, None


_fits_of: WeakKeyDictionary[Any, dict[str, KeptFit]] = WeakKeyDictionary()
"""What each worker of this process keeps, by the id of the fit."""
_lock = threading.Lock()
"""For ``_fits_of``."""


def kept_fit(fit_id: str) -> KeptFit:
    """What this worker keeps of a fit."""
    with _lock:
        fits = _fits_of.setdefault(get_worker(), {})
        now = time.monotonic()
        for idle in [name for name, kept in fits.items() if now - kept.used > IDLE_SECONDS]:
            del fits[idle]
        kept = fits.setdefault(fit_id, KeptFit())
        kept.used = now
        return kept


def kept_fits(dask_worker: Any) -> dict[str, KeptFit]:
    """What a worker keeps, by the id of the fit."""
    return _fits_of.get(dask_worker, {})


def forget(fit_id: str, only_run: bool, dask_worker: Any = None) -> None:
    """Drops what the worker, which Dask gives, keeps of a fit; with ``only_run``, of its run."""
    with _lock:
        fits = kept_fits(dask_worker)
        if fit_id in fits:
            fits[fit_id].forget_run()
            if not only_run:
                del fits[fit_id]


def address() -> str:
    """The address of this worker."""
    return str(get_worker().address)
