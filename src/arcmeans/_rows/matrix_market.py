"""Matrix Market files, read alike by every SciPy."""

import inspect
from pathlib import Path
from typing import Any

import scipy.io


def read_matrix_market(path: Path) -> Any:
    """A dense array, or a sparse array or matrix in COO format.

    SciPy can be told which of the two sparse kinds is wanted since 1.15, and warns since 1.18 if it
    is not told.
    """
    told = "spmatrix" in inspect.signature(scipy.io.mmread).parameters
    return scipy.io.mmread(path, **({"spmatrix": False} if told else {}))
