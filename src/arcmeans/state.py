"""Memory for what is kept of every row between passes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Callable[[str, tuple[int, ...], Any], NDArray[Any]]
"""An array by name, shape (rows first) and dtype, contiguous and not filled."""


def in_memory(name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Memory of its own for each."""
    return np.empty(shape, dtype)
