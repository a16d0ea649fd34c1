"""What every fitted clusterer can do with new rows: predict, transform, score.

An estimator derives from this class and says what its centers are, as exact integers
(``center_sums``). What follows from them is here, once.
"""

import functools
from abc import ABC, abstractmethod
from fractions import Fraction
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

from .. import _core
from .._algorithms.one_pass import nearest_labels
from .._centers.placing import place_sums
from .._centers.sums import CenterSums
from .._engines.places import open_place
from .._engines.protocol import Place
from .._rows.census import exact_sum
from .._rows.containers import checked_rows
from .._rows.rows import Rows, warn_of_zero_rows
from .._rows.store import RowStore
from .._support.checks import threads


def best_labels(rows: Rows, centers: _core.native.Centers, n_threads: int) -> NDArray[np.int32]:
    """The most similar center of each row; by the sieve where rare features stay lists."""
    algorithm = "lloyd" if rows.frequent is None else "sieve"
    return nearest_labels(rows, centers, n_threads, algorithm)


def chords(
    rows: Rows, centers: _core.native.Centers, n_threads: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The rows that count, and ‖x − c‖² of each to the center most similar to it."""
    similarities = np.empty(rows.n_rows)
    labels = best_labels(rows, centers, n_threads)
    _core.native.own_similarities(rows.native(), centers, labels, n_threads, similarities)
    which = rows.usable
    return which, 2.0 * (1.0 - similarities[which])


class SphericalClusterer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator, ABC
):
    """The part of a clusterer by cosine that begins once it is fitted."""

    n_threads: int | None
    labels_: NDArray[np.int32]
    _dtype: np.dtype[Any]
    _centers: NDArray[Any] | None

    @abstractmethod
    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X."""

    @abstractmethod
    def center_sums(self) -> CenterSums:
        """The fitted centers as exact integers; an AttributeError before there are any."""

    @property
    def cluster_centers_(self) -> NDArray[Any]:
        """The centers, of unit length, in the dtype of X; made when first asked for."""
        sums = self.center_sums()
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
        self.fit(X, sample_weight=sample_weight)
        return self._distances(X)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The most similar center of each row of X, by the arithmetic of the fit; -1 for zero rows.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, RowStore} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        n_threads = threads(self.n_threads)
        place = self._place(X, n_threads, reset=False)
        warn_of_zero_rows(place.census)
        centers = place_sums(place.census, self.center_sums())
        labels = np.empty(place.census.n_rows, np.int32)
        for here, rows in place.pieces():
            labels[here] = best_labels(rows, centers, n_threads)
        return labels

    def transform(self, X: Any) -> NDArray[Any]:
        """The cosine distance 1 − cos of each row of X to each center, in [0, 2].

        An all-zero row has no direction: its distance to every center is 1, as if orthogonal.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, RowStore} of shape (n_samples, n_features)

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
        place = self._place(X, n_threads, reset=False)
        centers = place_sums(place.census, self.center_sums())
        found: list[NDArray[Any]] = []
        for _, rows in place.pieces():
            distances = np.empty((rows.n_rows, self._n_features_out))
            _core.native.similarity_matrix(rows.native(), centers, n_threads, distances)
            np.subtract(1.0, distances, out=distances)
            np.clip(distances, 0.0, 2.0, out=distances)
            found.append(distances.astype(rows.dtype, copy=False))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def score(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> float:
        """Minus the inertia of X for the fitted centers, −Σ w·‖x − c‖²: greater is better.

        Each unit row counts with the center most similar to it; all-zero rows do not count. For
        the rows and weights of a fit it is ``-inertia_`` up to rounding.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, RowStore} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
            At most 0.
        """
        check_is_fitted(self)
        n_threads = threads(self.n_threads)
        place = self._place(X, n_threads, reset=False, sample_weight=sample_weight)
        centers = place_sums(place.census, self.center_sums())
        total = Fraction(0)
        for _, rows in place.pieces():
            which, far = chords(rows, centers, n_threads)
            if rows.weights is not None:
                far *= rows.weights[which]
            total += exact_sum(far)
        return 0.0 - max(0.0, float(total) / place.census.weight_scale)

    def _rows(
        self, X: Any, n_threads: int, *, reset: bool, sample_weight: ArrayLike | None = None
    ) -> Rows:
        """Validated unit rows of X."""
        check = functools.partial(validate_data, self, reset=reset)
        return checked_rows(X, check=check, sample_weight=sample_weight, n_threads=n_threads)

    def _place(
        self, X: Any, n_threads: int, *, reset: bool, sample_weight: ArrayLike | None = None
    ) -> Place:
        """Validated unit rows of X, in memory or in a store."""
        if isinstance(X, RowStore):
            self._check_features(X.shape[1], reset)
        return open_place(
            X,
            check=functools.partial(validate_data, self, reset=reset),
            sample_weight=sample_weight,
            n_threads=n_threads,
            memory_limit=getattr(self, "memory_limit", None),
        )

    def _check_features(self, n_features: int, reset: bool) -> None:
        """What scikit-learn does for arrays."""
        if reset:
            self.n_features_in_ = n_features
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        elif n_features != self.n_features_in_:
            raise ValueError(
                f"X has {n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )

    @property
    def _n_features_out(self) -> int:
        """For ``get_feature_names_out``."""
        return len(self.center_sums().scales)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
