"""Checkpoints: a fit that was killed goes on where it was, and ends with the same bits.

Between two passes a run depends on two things only: the labels going into the next pass (rows that
were relocated included) and the integer vectors of the centers. A center either is the sum of its
rows, which follows from the labels exactly, or is detached: its rows sum to zero, and its vector is
what is left of a seed or of rows that went (``cpp/core/centers/centers.hpp``). So every vector is
placed, which detaches it, and then moved by the sums of all rows from no label to theirs: where
they sum to zero the vector stays, elsewhere it becomes the sum. The vectors stored are held against
the outcome.

Bounds are not kept. The first pass of a fresh engine labels each row by the reference similarity,
whatever the algorithm, and is then counted as the pass after the labels stored. Objective, changed
rows, relocation and movement follow from labels and integers; only the work to get there differs.
"""

import hashlib
import json
import numbers
import os
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from .._centers.placing import place_sums, sums_of
from .._engines.memory import PassEngine
from .._rows.rows import AnyCensus
from .._support.caution import caution
from .._support.files import written_whole
from .records import CenterSums, Iteration, Result, trace_array

FORMAT = 1
"""Of the file. A file of another format is refused."""
COST_ONLY = (
    "algorithm",
    "n_threads",
    "verbose",
    "warm_start",
    "callback",
    "checkpoint",
    "checkpoint_seconds",
    "n_groups",
    "memory_limit",
)
"""Parameters that may differ between a fit and the one that goes on with it."""
_MARK = "arcmeans_checkpoint"


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


class Checkpoint:
    """A file that is replaced every so often while a fit goes, and removed at its end."""

    def __init__(
        self, path: str | os.PathLike[str], seconds: float, identity: Mapping[str, Any]
    ) -> None:
        self.path = Path(path)
        self.seconds = seconds
        self.identity = json.loads(json.dumps(identity))
        self.streams: NDArray[np.int64] = np.empty(0, np.int64)
        self.run = 0
        self.best: Result | None = None
        self._last = time.monotonic()
        if not self.path.parent.is_dir():
            raise ValueError(
                f"checkpoint={os.fspath(path)!r} should lie in a folder that exists; "
                f"{os.fspath(self.path.parent)!r} does not."
            )

    def due(self) -> bool:
        return time.monotonic() - self._last >= self.seconds

    def save(self, midway: Midway) -> None:
        """Replaces the file by one of this state. A disk that is full does not end the fit."""
        arrays = {
            _MARK: np.int64(FORMAT),
            "identity": np.array(json.dumps(self.identity)),
            "streams": self.streams,
            "run": np.int64(self.run),
            **_packed("", midway.labels, midway.centers, midway.iterations),
        }
        if self.best is not None:
            best = self.best
            arrays["best_stopped"] = np.array(best.stopped)
            arrays.update(_packed("best_", best.labels, best.centers, best.iterations))
        try:
            with written_whole(self.path, beside=self._temporary) as file:
                np.savez(file, **arrays)
        except OSError as error:
            caution(
                f"checkpoint={str(self.path)!r} could not be written ({error}); the fit goes on.",
            )
        self._last = time.monotonic()

    def load(self) -> Saved | None:
        """The fit on disk, if there is one; an error if it is not a state of this very fit."""
        if not self.path.exists():
            return None
        try:
            with open(self.path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
                stored = dict(file)
            if int(stored[_MARK]) != FORMAT:
                raise ValueError(f"format {int(stored[_MARK])}, not {FORMAT}")
            identity = json.loads(str(stored["identity"]))
        except (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise self._unreadable(error) from error
        self._check_identity(identity)
        try:
            return _unpacked(stored, identity["n_clusters"], *identity["the shape of X"])
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self._unreadable(error) from error

    def remove(self) -> None:
        for path in (self.path, self._temporary):
            with suppress(OSError):
                path.unlink()

    @property
    def _temporary(self) -> Path:
        """In the same folder, so that it can take the file's place in one step."""
        return self.path.with_name(f".{self.path.name}.tmp")

    def _unreadable(self, error: Exception) -> ValueError:
        return ValueError(
            f"checkpoint={str(self.path)!r} is damaged or no checkpoint of this version of "
            f"arcmeans ({type(error).__name__}: {error}). Delete it to begin anew, or name another."
        )

    def _check_identity(self, stored: Mapping[str, Any]) -> None:
        mine = self.identity
        different = [
            f"{name} was {stored.get(name)!r}, is {mine.get(name)!r}"
            for name in [*mine, *(name for name in stored if name not in mine)]
            if stored.get(name) != mine.get(name)
        ]
        if different:
            raise ValueError(
                f"checkpoint={str(self.path)!r} belongs to another fit: {'; '.join(different)}. "
                "Delete it to begin anew, or name another."
            )


def identity_of(
    census: AnyCensus,
    hashes: tuple[int, int | None],
    parameters: Mapping[str, Any],
    start: CenterSums | None,
) -> dict[str, Any]:
    """What the result depends on: data, parameters, and where a warm start begins.

    ``hashes`` are those of the rows and of their weights.
    """
    identity = {n: _plain(v) for n, v in parameters.items() if n not in COST_ONLY}
    if start is not None:
        vectors = start.vectors
        parts = (vectors.data, vectors.indices, vectors.indptr)
        identity["init"] = f"fitted centers {digest(*parts)}"
    return {
        **identity,
        "the shape of X": [census.n_rows, census.n_features],
        "the dtype of X": str(census.dtype),
        "the hash of the rows of X": f"{hashes[0]:016x}",
        "the hash of sample_weight": None if hashes[1] is None else f"{hashes[1]:016x}",
    }


def _plain(value: Any) -> Any:
    """A parameter as JSON has it: arrays by their content, callables by their name.

    A RandomState is as good as None: its streams are in the file.
    """
    if value is None or isinstance(value, (str, bool, np.random.RandomState)):
        return None if isinstance(value, np.random.RandomState) else value
    if isinstance(value, numbers.Real):
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    if callable(value):
        return f"callable {getattr(value, '__name__', type(value).__name__)}"
    if sp.issparse(value):
        value = sp.csr_array(value)
        return f"array {digest(value.data, value.indices, value.indptr)}"
    return f"array {digest(np.asarray(value))}"


def digest(*arrays: NDArray[Any]) -> str:
    """A short name for the content of arrays."""
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(f"{array.dtype.str}{array.shape}".encode())
        sha.update(np.ascontiguousarray(array).data)
    return sha.hexdigest()[:16]


def restored(engine: PassEngine, midway: Midway, path: Path) -> _core.native.Centers:
    """The centers of a stored run, for a fresh engine whose next pass is a first one."""
    centers = place_sums(engine.census, midway.centers)
    engine.move(centers, engine.resume(midway.labels))
    mine, stored = sums_of(engine.census, centers).vectors, midway.centers.vectors
    for name in ("indptr", "indices", "data"):
        if not np.array_equal(getattr(mine, name), getattr(stored, name)):
            raise ValueError(
                f"checkpoint={str(path)!r} is damaged: its centers are not those of its labels. "
                "Delete it to begin anew, or name another."
            )
    return centers


def _packed(
    prefix: str, labels: NDArray[np.int32], centers: CenterSums, iterations: list[Iteration]
) -> dict[str, Any]:
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


def _unpacked(stored: dict[str, NDArray[Any]], *sizes: int) -> Saved:
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
