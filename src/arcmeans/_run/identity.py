"""Whether a checkpoint is of this very fit: what its result depends on, as JSON has it."""

import hashlib
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._centers.sums import CenterSums
from .._rows.rows import Rows
from .._seeding.keys import scrambled
from .._seeding.steps import SeedPlace, SeedState, Step

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
SHAPE = "the shape of X"
"""A name in the identity. These names are words of the error for a checkpoint of another fit, and
part of the file format."""


@dataclass(frozen=True)
class HashContent(Step[tuple[int, int | None]]):
    """Hashes of the rows and weights of a part, with their numbers: sums over the rows modulo 2^64.

    None for weights that are all 1.
    """

    reads_state = False

    def on(self, rows: Rows, state: SeedState) -> tuple[int, int | None]:
        numbers = np.arange(state.first_row, state.first_row + rows.n_rows, dtype=np.uint64)
        numbers = scrambled(numbers, 0)
        hashes = rows.hashes(np.arange(rows.n_rows), state.n_threads)
        of_rows = int(scrambled(hashes ^ numbers, 1).sum(dtype=np.uint64))
        if rows.weights is None:
            return of_rows, None
        return of_rows, int(scrambled(rows.weights.view(np.uint64) ^ numbers, 2).sum())


def identity_of(
    place: SeedPlace, parameters: Mapping[str, Any], start: CenterSums | None
) -> dict[str, Any]:
    """What the result depends on: data, parameters, and where a warm start begins."""
    of_rows, of_weights = zip(*place.each(HashContent()), strict=True)
    weights = None if of_weights[0] is None else sum(of_weights) % 2**64
    identity = {n: plain(v) for n, v in parameters.items() if n not in COST_ONLY}
    if start is not None:
        vectors = start.vectors
        parts = (vectors.data, vectors.indices, vectors.indptr)
        identity["init"] = f"fitted centers {digest(*parts)}"
    return {
        **identity,
        SHAPE: [place.census.n_rows, place.census.n_features],
        "the dtype of X": str(place.census.dtype),
        "the hash of the rows of X": f"{sum(of_rows) % 2**64:016x}",
        "the hash of sample_weight": None if weights is None else f"{weights:016x}",
    }


def plain(value: Any) -> Any:
    """A parameter as JSON has it: arrays by their content, callables by their name.

    A RandomState is as good as None: what the runs drew from it is in the file.
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
