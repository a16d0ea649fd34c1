"""The field of a model file that holds the centers, and the checks of their integers and scales."""

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._centers.sums import CenterSums
from .sparse import read_csr, write_csr
from .stored import Stored

CENTERS = {"indptr": np.int64, "indices": np.int32, "data": np.int64}
"""Features are fewer than 2^31."""


class Centers:
    """The integer vectors of the centers, their scales, and 1.0 in fixed point."""

    def write(self, stored: Stored, name: str, value: CenterSums) -> None:
        stored.header["one"] = value.one.hex()
        stored.tensors["centers.scales"] = value.scales
        write_csr(stored.tensors, "centers", value.vectors, CENTERS)

    def read(self, stored: Stored, name: str) -> CenterSums:
        one: float = stored.number("one", float.fromhex)
        if not (1.0 <= one <= 2.0**61 and math.frexp(one)[0] == 0.5):
            raise stored.refusal(f"one={one} should be a power of two in [1, 2^61]")
        scales = stored.array("centers.scales", np.float64, "n_clusters")
        if not len(scales):
            raise stored.refusal("there are no centers")
        shape = (len(scales), stored.sizes["n_features"])
        vectors = read_csr(stored, "centers", shape, CENTERS)
        within = np.ones(len(vectors.indices), bool)  # all but the first entries of rows
        within[vectors.indptr[:-1][np.diff(vectors.indptr) > 0]] = False
        if np.any(np.diff(vectors.indices, prepend=0)[within] <= 0):
            raise stored.refusal("tensor 'centers.indices' does not ascend within each center")
        stored.check_range("centers.data", vectors.data, 1 - 2**62, 2**62)
        _check_scales(stored, vectors, scales)
        return CenterSums(vectors, scales, one)


def _check_scales(stored: Stored, vectors: sp.csr_array, scales: NDArray[np.float64]) -> None:
    for j, scale in enumerate(scales.tolist()):
        squared = squared_length(vectors.data[vectors.indptr[j] : vectors.indptr[j + 1]])
        if not 0 < squared < 2**124:
            raise stored.refusal(f"center {j} should have a length above 0 and below 2^62")
        if scale != 1.0 / math.sqrt(squared):
            raise stored.refusal(
                f"the scale of center {j} is {scale}, but one over the length of its vector is "
                f"{1.0 / math.sqrt(squared)}"
            )


def squared_length(vector: NDArray[np.int64]) -> int:
    """Σ v², exactly: halves of 31 bits, whose products' halves add up without overflow."""
    size = np.abs(vector).astype(np.uint64)
    high, low = size >> np.uint64(31), size & np.uint64(2**31 - 1)
    total = 0
    for products, shift in ((high * high, 62), (high * low, 32), (low * low, 0)):
        total += int((products >> np.uint64(32)).sum()) << (shift + 32)
        total += int((products & np.uint64(2**32 - 1)).sum()) << shift
    return total
