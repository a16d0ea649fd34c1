"""The most similar center of each row, by one pass of an algorithm that need not remember it."""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._rows.rows import Rows
from .arrays import in_memory
from .options import EngineOptions
from .problem import problem_of
from .registry import make_algorithm


def nearest_labels(
    rows: Rows, centers: _core.native.Centers, n_threads: int, algorithm: str = "lloyd"
) -> NDArray[np.int32]:
    """The label of each row; −1 for a row without direction."""
    options = EngineOptions(algorithm, n_threads, keep_bounds=False)
    problem = problem_of(rows, len(centers.scales), options)
    found, _ = make_algorithm(algorithm, problem, in_memory)
    labels, previous = np.full((2, rows.n_rows), -1, np.int32)
    found.assign(rows.native(), centers, labels, previous, n_threads=n_threads, chunk_rows=0)
    return labels
