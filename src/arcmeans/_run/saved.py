"""A fit between two passes, as records and as the arrays of a file."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._centers.sums import CenterSums
from .records import Iteration, Result, trace_array


@dataclass(frozen=True)
class Midway:
    """A run between two passes."""

    labels: NDArray[np.int32]
    """Those before the next pass; all −1 before the first."""
    centers: CenterSums
    """Those of the next pass."""
    iterations: list[Iteration]
    """Those that are done."""


@dataclass(frozen=True)
class Saved:
    """A fit on disk."""

    streams: NDArray[np.int64]
    """The random stream of each run, so that a fit without a random_state goes on too."""
    run: int
    """The run that was going on, from 0."""
    midway: Midway
    best: Result | None
    """The best of the runs before it."""


def to_arrays(
    prefix: str, labels: NDArray[np.int32], centers: CenterSums, iterations: list[Iteration]
) -> dict[str, Any]:
    """A run as arrays by name; the names begin with a prefix."""
    vectors = centers.vectors
    return {
        f"{prefix}labels": np.asarray(labels),  # they may lie on a cluster
        f"{prefix}trace": trace_array(iterations),
        f"{prefix}data": vectors.data,
        f"{prefix}indices": vectors.indices,
        f"{prefix}indptr": vectors.indptr,
        f"{prefix}scales": centers.scales,
        f"{prefix}one": np.float64(centers.one),
    }


def from_arrays(stored: dict[str, NDArray[Any]], *sizes: int) -> Saved:
    """The fit in the arrays of a file; ``sizes`` are n_clusters, n_rows and n_features."""
    best = None
    if "best_labels" in stored:
        end = _midway(stored, "best_", *sizes)
        best = Result(
            labels=end.labels,
            centers=end.centers,
            objective=end.iterations[-1].objective,
            iterations=end.iterations,
            stopped=stored["best_stopped"].item(),
            used=len(np.unique(end.labels[end.labels >= 0])),
            interrupted=False,
        )
    return Saved(stored["streams"], int(stored["run"]), _midway(stored, "", *sizes), best)


def _midway(
    stored: dict[str, NDArray[Any]], prefix: str, n_clusters: int, n_rows: int, n_features: int
) -> Midway:
    """Checked as far as the core has to rely on it."""
    labels, data, indices, indptr, scales, one, trace = (
        stored[prefix + name]
        for name in ("labels", "data", "indices", "indptr", "scales", "one", "trace")
    )
    if labels.dtype != np.int32 or labels.shape != (n_rows,):
        raise ValueError(f"labels of dtype {labels.dtype} and shape {labels.shape}")
    if np.any((labels < -1) | (labels >= n_clusters)):
        raise ValueError(f"labels outside [-1, n_clusters={n_clusters})")
    vectors = sp.csr_array((data, indices, indptr), shape=(n_clusters, n_features))
    vectors.check_format(full_check=True)
    if data.dtype != np.int64 or np.any(np.diff(indptr) == 0):
        raise ValueError("centers without a direction or not of integers")
    if trace.dtype != trace_array([]).dtype:
        raise ValueError("a trace with other columns")
    iterations = [Iteration(*row) for row in trace.tolist()]
    return Midway(labels, CenterSums(vectors, scales, float(one)), iterations)
