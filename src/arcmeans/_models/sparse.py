"""Sparse matrices in model files: three tensors, NAME.indptr, NAME.indices and NAME.data."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._rows.unit_rows import MAX_FEATURES
from .stored import Stored


def write_csr(
    tensors: dict[str, NDArray[Any]], name: str, matrix: Any, dtypes: Mapping[str, Any]
) -> None:
    for part, dtype in dtypes.items():
        tensors[f"{name}.{part}"] = getattr(matrix, part).astype(dtype)


def read_csr(
    stored: Stored, name: str, shape: tuple[int, int], dtypes: Mapping[str, Any]
) -> sp.csr_array:
    if min(shape) < 0 or max(shape) > MAX_FEATURES:
        raise stored.refusal(f"{name!r} has shape {shape}; the limit is {MAX_FEATURES}")
    starts = stored.array(f"{name}.indptr", dtypes["indptr"], shape[0] + 1)
    entries = f"entries of {name}"
    columns = stored.array(f"{name}.indices", dtypes["indices"], entries)
    data = stored.array(f"{name}.data", dtypes.get("data"), entries)
    if starts[0] != 0 or np.any(np.diff(starts) < 0) or starts[-1] != len(columns):
        raise stored.refusal(
            f"tensor '{name}.indptr' should ascend from 0 to {len(columns)}, the number of entries"
        )
    stored.check_range(f"{name}.indices", columns, 0, shape[1])
    return sp.csr_array((data, columns, starts), shape=shape)
