"""What the client and the workers send each other about a fit: small records of arrays.

The glossary ("On a cluster") defines version, update, snapshot, basis, owner and lost.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from dask.sizeof import sizeof
from numpy.typing import NDArray

from .._algorithms.options import EngineOptions
from .._centers.wire import Changes, Snapshot
from .._engines.relocation import Relocation
from .._rows.census import Census, Summary
from .._rows.rows import Rows


@dataclass(frozen=True)
class Partition:
    """The partition that a task of the passes works on, and what it needs to know of the fit."""

    fit_id: str
    number: int
    first_row: int
    """The number of the partition's first row among all rows."""
    n_clusters: int
    options: EngineOptions
    resumed: bool = False
    """Whether the run has labels before its first pass: only ``rebuild`` makes such a state."""


@dataclass(frozen=True)
class Lost:
    """The answer of a task whose worker does not have what the task needs."""

    numbers: tuple[int, ...]
    """The partitions it was asked about."""


@dataclass(frozen=True)
class Update:
    """What takes the centers of a worker to ``version``: a snapshot, or how the sums change."""

    version: int
    snapshot: Snapshot | None = None
    changes: Changes | None = None


@dataclass(frozen=True)
class Basis:
    """From what the labels after the pass of a version follow, rows aside.

    Version 0, before the first pass: the labels of a run that was resumed, or no label at all.
    Later versions: a full pass with the snapshot, and then the relocation.
    """

    version: int
    snapshot: Snapshot | None = None
    labels: NDArray[np.int32] | None = None
    relocation: Relocation | None = None


@dataclass(frozen=True)
class PassReport:
    """What a pass over one or more partitions did."""

    changes: Changes | None
    """None where no label changed."""
    work: list[int]
    """The counts of ``Work``."""
    sizes: NDArray[np.int64]
    """How many usable rows each cluster has."""
    fingerprint: int
    owners: dict[int, str]
    """The address of the owner of each partition."""
    received: int
    """The bytes of changes that travelled between workers to be added up."""


def _size(value: Any) -> int:
    """The bytes of a dataclass with its arrays."""
    return sum(sizeof(getattr(value, each.name)) for each in fields(value))


# Dask does not look inside, and would place and spill rows as if they took no memory.
sizeof.register(
    (Rows, Census, Summary, Changes, Snapshot, Relocation, Update, Basis, PassReport), _size
)
