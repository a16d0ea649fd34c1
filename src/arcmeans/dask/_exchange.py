"""What the client and the workers send each other about a fit: small records of arrays."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from dask.sizeof import sizeof
from numpy.typing import NDArray

from .._algorithms.options import EngineOptions
from .._centers.wire import Changes, Snapshot
from .._rows.census import Census, Summary
from .._rows.rows import Rows

Relocated = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Rows that went to clusters without any, and their labels."""


@dataclass(frozen=True)
class Partition:
    """The partition that a task of the passes works on, and what it needs to know of the fit."""

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
    """The answer of a worker that does not have what the task needs."""

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
    relocated: Relocated | None = None


@dataclass(frozen=True)
class PassReport:
    """What a pass over one or more partitions did."""

    changes: Changes | None
    work: dict[str, int]
    sizes: NDArray[np.int64]
    fingerprint: int
    owners: dict[int, str]
    """The worker that has each partition."""
    received: dict[str, int]
    """The bytes of changes that travelled between workers to be added up, for each worker that
    got any."""
    lost: tuple[int, ...] = ()


def _size(value: Any) -> int:
    """The bytes of a dataclass with its arrays."""
    return sum(sizeof(getattr(value, each.name)) for each in fields(value))


# Dask does not look inside, and would place and spill rows as if they took no memory.
sizeof.register((Rows, Census, Summary, Changes, Snapshot, Update, Basis, PassReport), _size)
