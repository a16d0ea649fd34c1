"""What a worker keeps of the fits that go on: centers, and a state for each partition.

All of it may be lost at any time, with the worker or by moving a partition to another. A task that
finds it missing says so (``Lost``), and the client has it made again from the rows, which Dask
brings back. A task that was done already and is asked for again, because Dask lost its result,
gives the same answer.
"""

import threading
import time
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from distributed import get_worker

from .. import _core
from .._centers.wire import from_arrays, placed
from .._engines.memory import MemoryEngine
from .._rows.census import Census
from .._seeding.steps import SeedState
from ._exchange import Update

IDLE_SECONDS = 3600.0
"""After which a worker forgets a fit that nobody asks about: its client has gone."""


@dataclass
class PassState:
    """A partition between two passes."""

    engine: MemoryEngine
    version: int = 0
    """The centers of its last pass; 0 before the first."""
    work: dict[str, int] = field(default_factory=dict)
    relocated: bool = False
    """Whether rows went to clusters without any after that pass."""
    relocated_before: bool = False
    """Whether they did after the pass before it."""
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class PartitionSeeding:
    """A partition between two steps of the seeding."""

    state: SeedState
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
        self.states: dict[int, PassState] = {}
        self.seedings: dict[int, PartitionSeeding] = {}
        self.used = time.monotonic()

    def centers_at(
        self, update: Update, census: Census, fresh: bool, in_full: bool
    ) -> _core.native.Centers | None:
        """The centers moved to a version; None if these cannot be.

        A snapshot says nothing of how far the centers moved, which bounds have to know: it will do
        only for a partition that has none (``fresh``). With ``in_full`` the centers have a number
        for every feature.
        """
        with self.lock:
            if self.version != update.version:
                if self.version == update.version - 1 and update.changes and self.centers:
                    changes = from_arrays(update.changes, census.n_features)
                    self.centers.move(changes, 1)
                elif update.snapshot is not None and fresh:
                    self.centers = placed(update.snapshot, census, in_full=in_full)
                else:
                    return None
                self.version = update.version
            return self.centers

    def forget_run(self) -> None:
        """The run is over; the rows and their seeding may be needed by another."""
        self.states, self.version, self.centers = {}, 0, None


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


def residents(dask_worker: Any) -> dict[str, Resident]:
    """What a worker keeps, by fit."""
    return _residents.get(dask_worker, {})


def forget(token: str, run: bool, dask_worker: Any = None) -> None:
    """The run is over, or with it the fit. Dask gives the worker."""
    with _lock:
        fits = _residents.get(dask_worker, {})
        if token in fits:
            fits[token].forget_run()
            if not run:
                del fits[token]


def address() -> str:
    """That of this worker."""
    return str(get_worker().address)
