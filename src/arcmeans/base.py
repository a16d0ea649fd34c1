"""What every fitted clusterer can do with new rows: predict, transform, score.

An estimator derives from this and says what its centers are (``_center_sums``), as exact integers;
what follows from them is here, once.
"""

import functools
import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from .centers import place_sums
from .engine import Engine, EngineOptions
from .result import CenterSums
from .rows import Rows, warn_of_zero_rows
from .validation import checked_rows, threads


class SphericalClusterer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """The part of a clusterer by cosine that begins once it is fitted."""

    n_threads: int | None
    labels_: NDArray[np.int32]
    _dtype: np.dtype[Any]
    _centers: NDArray[Any] | None

    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        raise NotImplementedError

    def _center_sums(self) -> CenterSums:
        """The fitted centers; an AttributeError before there are any."""
        raise NotImplementedError

    @property
    def cluster_centers_(self) -> NDArray[Any]:
        """The centers, of unit length, in the dtype of X; made when first asked for."""
        sums = self._center_sums()
        if self._centers is None:
            self._centers = sums.unit(self._dtype)
        return self._centers

    def fit_predict(
        self, X: Any, y: None = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.int32]:
        """Cluster the rows of X and return their labels."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def fit_transform(
        self, X: Any, y: None = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Cluster the rows of X and return their distances to the centers: see ``transform``."""
        return self.fit(X, sample_weight=sample_weight)._distances(X)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The most similar center of each row of X, by the arithmetic of the fit; -1 for zero rows.

        Parameters
        ----------
        X : {array-like, sparse matrix or array} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        n_threads = threads(self.n_threads)
        rows = self._rows(X, n_threads, reset=False)
        warn_of_zero_rows(rows)
        centers = place_sums(rows, self._center_sums())
        engine = Engine(rows, self._n_features_out, EngineOptions(n_threads=n_threads))
        engine.assign(centers)
        return engine.labels

    def transform(self, X: Any) -> NDArray[Any]:
        """The cosine distance 1 − cos of each row of X to each center, in [0, 2].

        An all-zero row has no direction: its distance to every center is 1, as if orthogonal.

        Parameters
        ----------
        X : {array-like, sparse matrix or array} of shape (n_samples, n_features)

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            In the dtype of X, by the arithmetic of the fit: except for all-zero rows and for
            distances that are equal once rounded, the smallest of a row is that of ``predict``.
        """
        check_is_fitted(self)
        return self._distances(X)

    def _distances(self, X: Any) -> NDArray[Any]:
        n_threads = threads(self.n_threads)
        rows = self._rows(X, n_threads, reset=False)
        distances = np.empty((rows.n_rows, self._n_features_out))
        centers = place_sums(rows, self._center_sums())
        _core.native.similarity_matrix(rows.native(), centers, n_threads, distances)
        np.subtract(1.0, distances, out=distances)
        np.clip(distances, 0.0, 2.0, out=distances)
        return distances.astype(rows.values.dtype, copy=False)

    def score(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Minus the inertia of X for the fitted centers, −Σ w·‖x − c‖²: greater is better.

        Each unit row counts with the center most similar to it; all-zero rows do not count. For
        the rows and weights of a fit it is ``-inertia_`` up to rounding.

        Parameters
        ----------
        X : {array-like, sparse matrix or array} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
            At most 0.
        """
        check_is_fitted(self)
        n_threads = threads(self.n_threads)
        rows = self._rows(X, n_threads, reset=False, sample_weight=sample_weight)
        which = rows.usable
        labels, similarities = np.empty(len(which), np.int32), np.empty(len(which))
        centers = place_sums(rows, self._center_sums())
        _core.native.nearest(rows.native(), centers, which, n_threads, labels, similarities)
        chords = 2.0 * (1.0 - similarities)
        if rows.weights is not None:
            chords *= rows.weights[which]
        return 0.0 - max(0.0, math.fsum(chords) / rows.weight_scale)

    def _rows(
        self, X: Any, n_threads: int, *, reset: bool, sample_weight: ArrayLike | None = None
    ) -> Rows:
        """Validated unit rows of X."""
        check = functools.partial(validate_data, self, reset=reset)
        return checked_rows(X, check=check, sample_weight=sample_weight, n_threads=n_threads)

    @property
    def _n_features_out(self) -> int:
        """For ``get_feature_names_out``."""
        return len(self._center_sums().scales)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
