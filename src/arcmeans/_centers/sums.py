"""``CenterSums``: centers in full, as they leave the core and go into files."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray


@dataclass(frozen=True)
class CenterSums:
    """Centers in full: the integer vectors whose directions they are.

    Everything the reference similarity needs follows from these integers, so a model that keeps
    them predicts the same bits as the run that made it.
    """

    vectors: sp.csr_array
    """``(n_clusters, n_features)``, int64, in the caller's feature order."""
    scales: NDArray[np.float64]
    """One over the length of each vector."""
    one: float
    """1.0 in fixed point."""

    def unit(self, dtype: DTypeLike) -> NDArray[Any]:
        """The centers as unit rows."""
        dense = np.zeros(self.vectors.shape, dtype)
        for j, scale in enumerate(self.scales):
            at = slice(self.vectors.indptr[j], self.vectors.indptr[j + 1])
            dense[j, self.vectors.indices[at]] = self.vectors.data[at] * scale
        return dense
