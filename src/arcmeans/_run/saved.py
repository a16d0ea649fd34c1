"""A fit between two passes: as records, and as the arrays of a checkpoint file.

The names of the arrays are the file's format, as ``FORMAT`` of ``checkpoint.py`` numbers it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._centers.sums import CenterSums
from .records import Iteration, Result, trace_array


@dataclass(frozen=True)
class RunState:
    """A run between two passes: all that the passes to come depend on, and those done."""

    labels: NDArray[np.int32]
    """The labels with which the next pass begins; all −1 before the first."""
    centers: CenterSums
    """The centers of the next pass."""
    iterations: list[Iteration]
    """The iterations that are done."""

    def to_arrays(self, prefix: str) -> dict[str, Any]:
        """The run as arrays by name; the names begin with a prefix."""
        vectors = self.centers.vectors
        return {
            f"{prefix}labels": np.asarray(self.labels),  # they may lie on a cluster
            f"{prefix}trace": trace_array(self.iterations),
            f"{prefix}data": vectors.data,
            f"{prefix}indices": vectors.indices,
            f"{prefix}indptr": vectors.indptr,
            f"{prefix}scales": self.centers.scales,
            f"{prefix}one": np.float64(self.centers.one),
        }


@dataclass(frozen=True)
class FitState:
    """A fit between two passes of one of its runs."""

    random_states: NDArray[np.int64]
    """For each run the integer its random numbers begin with: without a random_state of the caller
    these are known to the fit alone."""
    run_number: int
    """The number of the run that goes on, from 0."""
    run: RunState
    best: Result | None
    """The best result of the runs before it."""

    def to_arrays(self) -> dict[str, Any]:
        arrays = {
            "streams": self.random_states,
            "run": np.int64(self.run_number),
            **self.run.to_arrays(""),
        }
        if self.best is not None:
            best = RunState(self.best.labels, self.best.centers, self.best.iterations)
            arrays |= {"best_stopped": np.array(self.best.stopped), **best.to_arrays("best_")}
        return arrays


def fit_state(stored: dict[str, NDArray[Any]], *sizes: int) -> FitState:
    """The fit in the arrays of a file; ``sizes`` are n_clusters, n_rows and n_features."""
    best = None
    if "best_labels" in stored:
        end = _run_state(stored, "best_", *sizes)
        best = Result(
            labels=end.labels,
            centers=end.centers,
            objective=end.iterations[-1].objective,
            iterations=end.iterations,
            stopped=stored["best_stopped"].item(),
            used=len(np.unique(end.labels[end.labels >= 0])),
            interrupted=False,
        )
    run = _run_state(stored, "", *sizes)
    return FitState(stored["streams"], int(stored["run"]), run, best)


def _run_state(
    stored: dict[str, NDArray[Any]], prefix: str, n_clusters: int, n_rows: int, n_features: int
) -> RunState:
    """A run in the arrays of a file, checked as far as the core relies on it."""
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
    return RunState(labels, CenterSums(vectors, scales, float(one)), iterations)
