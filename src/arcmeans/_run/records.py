"""What a run leaves behind: small typed records."""

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .._centers.sums import CenterSums

StopReason = Literal["converged", "tol", "max_iter", "interrupted", "callback", "cycle"]


@dataclass(frozen=True, slots=True)
class Iteration:
    """One assign pass and the move that followed it."""

    iteration: int
    """1 for the first pass."""
    similarities: int
    """Row–center similarities computed."""
    lines: int
    """Visits of a row to a cache line of 32 centers; 0 for algorithms that have no such lines."""
    center_similarities: int
    """Center–center similarities computed."""
    reused: int
    """Row–center similarities known from the seeding, not computed again."""
    exact_decisions: int
    """Rows whose fast similarities lay too close together, decided by float64."""
    skipped_by_bounds: int
    """Rows that kept their label because u < l."""
    skipped_by_centers: int
    """Rows that kept their label because they lie within half the angle to the next center."""
    changed: int
    """Rows whose label changed."""
    relocated: int
    """Rows moved to a cluster that had lost all of its own."""
    objective: float
    """Σ w·cos of the rows to the centers they were assigned to in this pass."""
    fingerprint: int
    """A hash of the labels after this pass: the same labels have the same."""
    movement: float
    """The largest ‖c′ − c‖ of the move that followed; 0 where none did."""
    assign_seconds: float
    update_seconds: float


_TRACE_DTYPE = np.dtype(
    [(f.name, np.int64 if f.type in (int, "int") else np.float64) for f in fields(Iteration)]
)


def trace_array(iterations: list[Iteration]) -> NDArray[np.void]:
    """The iterations as a structured array, one row each: ``pandas.DataFrame(trace)`` reads it."""
    of_one = attrgetter(*(f.name for f in fields(Iteration)))
    return np.array([of_one(i) for i in iterations], dtype=_TRACE_DTYPE)


@dataclass(frozen=True)
class Result:
    """How a run ended."""

    labels: NDArray[np.int32]
    """The center of each row; −1 for rows without a direction."""
    centers: CenterSums
    """The centers the labels refer to."""
    objective: float
    """Σ w·cos of the rows to their centers."""
    iterations: list[Iteration]
    stopped: StopReason
    used: int
    """The number of clusters that have rows."""
    interrupted: bool
    """Ctrl-C was pressed, in time to stop the run or not."""
    error: BaseException | None = None
    """What a callback raised, to be raised again once the result is kept."""
