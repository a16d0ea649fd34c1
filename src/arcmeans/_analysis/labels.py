"""Labels that a caller gives: integers from −1 on, checked and numbered anew."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._rows.rows import Rows


def checked_labels(
    labels: ArrayLike, rows: Rows, n_clusters: int | None = None
) -> NDArray[np.int64]:
    """Integers from −1 on, one a row; −1 too where a row has no direction."""
    if np.shape(labels) != (rows.n_rows,):
        raise ValueError(f"labels has shape {np.shape(labels)}, expected {(rows.n_rows,)}.")
    checked = label_array(labels, n_clusters)
    checked[rows.zero != 0] = -1
    if np.all(checked < 0):
        raise ValueError(f"None of the {rows.n_rows} rows has both a label >= 0 and a direction.")
    return checked


def label_array(labels: ArrayLike, n_clusters: int | None) -> NDArray[np.int64]:
    """A copy of labels as integers from −1 on, below the number of clusters if that is known."""
    given = np.asarray(labels)
    if given.ndim != 1:
        raise ValueError(f"labels has shape {given.shape}, expected (n_samples,).")
    if not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"labels has dtype {given.dtype}; labels are integers >= -1.")
    checked = given.astype(np.int64)
    wrong = checked < -1
    limit = "an integer >= -1"
    if n_clusters is not None:
        wrong |= checked >= n_clusters
        limit = f"between -1 and {n_clusters - 1}: there are {n_clusters} centers"
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(f"labels[{i}]={checked[i]} should be {limit}.")
    return checked


def numbered(labels: NDArray[np.int64]) -> tuple[NDArray[np.int32], int]:
    """The labels that occur, numbered 0, 1, …, and how many labels occur: at least two."""
    codes = np.full(len(labels), -1, np.int32)
    counted = labels >= 0
    used, codes[counted] = np.unique(labels[counted], return_inverse=True)
    if len(used) < 2:
        raise ValueError(f"labels name {len(used)} cluster with rows; at least 2 are needed.")
    return codes, len(used)
