"""Memory for what is kept of every row between passes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Callable[[str, tuple[int, ...], Any], NDArray[Any]]
"""An array by name, shape (rows first) and dtype, contiguous and not filled."""


CACHE_LINE = 64


def in_memory(name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Memory of its own for each, from the beginning of a cache line on."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    memory = np.empty(size + CACHE_LINE, np.uint8)
    skip = -memory.ctypes.data % CACHE_LINE
    aligned: NDArray[Any] = memory[skip : skip + size].view(dtype)
    return aligned.reshape(shape)
