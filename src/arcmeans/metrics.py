"""How good a clustering is, by cosine and without n² memory.

Three metrics, each exact and in O(stored entries × clusters):

- the *simplified silhouette*, from the distances to the centers;
- the *silhouette* itself. The mean cosine distance of a row to all rows of a cluster is
  1 − x·S/m, with S the sum of the cluster's m unit rows: no pair of rows is ever compared;
- the *Calinski–Harabasz* index on the sphere.

Rows with label −1 and all-zero rows, which have no direction, are left out everywhere. Sparse X is
never made dense. The results are the same for any container of X and any number of threads.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ._analysis.labels import checked_labels
from ._analysis.metrics import (
    calinski_harabasz,
    silhouettes,
    simplified_silhouettes,
    weighted_mean,
)
from ._rows.containers import checked_rows
from ._support.checks import check_integer, threads

__all__ = [
    "calinski_harabasz_score",
    "silhouette_samples",
    "silhouette_score",
    "simplified_silhouette_samples",
    "simplified_silhouette_score",
]


def simplified_silhouette_samples(
    X: Any,
    labels: ArrayLike | None = None,
    centers: Any = None,
    *,
    model: Any = None,
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """The simplified silhouette of each row (Hruschka, de Castro and Campello, 2004), by cosine.

    (b − a)/max(a, b), where a is the cosine distance to the row's own center and b the smallest to
    another. A row alone in its cluster lies on its center and gets 1, unlike in the silhouette
    itself: beware of that where there are nearly as many clusters as rows.

    Parameters
    ----------
    X : {array-like, sparse matrix or array} of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,), default=None
        The cluster of each row, −1 for none. None: the most similar center.
    centers : {array-like, sparse matrix or array} of shape (n_clusters, n_features), default=None
        Any length will do. Every center counts, also one without rows. None: those of the model
        or, without a model, the mean directions of the rows with each label.
    model : fitted estimator, default=None
        Gives the centers and, where ``labels`` is None, predicts the labels.
    n_threads : int or None, default=None
        None takes the processors this process may use.

    Returns
    -------
    ndarray of shape (n_samples,)
        NaN for rows with label −1 and all-zero rows.
    """
    rows = checked_rows(X, n_threads=threads(n_threads))
    labels, centers = _from_model(X, labels, centers, model)
    return simplified_silhouettes(rows, labels, centers, threads(n_threads))


def simplified_silhouette_score(
    X: Any,
    labels: ArrayLike | None = None,
    centers: Any = None,
    *,
    model: Any = None,
    sample_weight: ArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The mean of :func:`simplified_silhouette_samples`, weighted; −1 to 1, larger is better.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts in the mean and, where neither centers nor model is given, in the
        mean directions.

    The others are those of :func:`simplified_silhouette_samples`.
    """
    rows = checked_rows(X, sample_weight=sample_weight, n_threads=threads(n_threads))
    labels, centers = _from_model(X, labels, centers, model)
    samples = simplified_silhouettes(rows, labels, centers, threads(n_threads))
    return weighted_mean(samples, rows.weights)


def silhouette_samples(
    X: Any, labels: ArrayLike, *, n_threads: int | None = None
) -> NDArray[np.float64]:
    """The silhouette of each row (Rousseeuw, 1987) by cosine distance, exactly.

    (b − a)/max(a, b), where a is the mean distance to the other rows of its cluster and b the
    smallest mean distance to the rows of another; 0 for a row alone in its cluster. Equal to
    ``sklearn.metrics.silhouette_samples(X, labels, metric="cosine")``, at a cost in proportion to
    the clusters instead of the rows.

    Parameters
    ----------
    X : {array-like, sparse matrix or array} of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        The cluster of each row, −1 for none.
    n_threads : int or None, default=None

    Returns
    -------
    ndarray of shape (n_samples,)
        NaN for rows with label −1 and all-zero rows.
    """
    rows = checked_rows(X, n_threads=threads(n_threads))
    return silhouettes(rows, labels, threads(n_threads))


def silhouette_score(
    X: Any,
    labels: ArrayLike,
    *,
    sample_size: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_threads: int | None = None,
) -> float:
    """The mean silhouette by cosine distance; −1 to 1, larger is better.

    Parameters
    ----------
    X, labels, n_threads
        Those of :func:`silhouette_samples`.
    sample_size : int or None, default=None
        The mean is over this many rows, drawn without replacement, each held against *all* rows
        (scikit-learn holds the sample against itself). None: all rows, which is exact.
    random_state : int, RandomState instance or None, default=None
        Draws the sample.
    """
    rows = checked_rows(X, n_threads=threads(n_threads))
    if sample_size is None:
        return weighted_mean(silhouettes(rows, labels, threads(n_threads)), None)
    check_integer("sample_size", sample_size, 1)
    possible = np.flatnonzero(checked_labels(labels, rows) >= 0)
    if sample_size > len(possible):
        raise ValueError(
            f"sample_size={sample_size} should be <= {len(possible)}, the number of rows with a "
            "label and a direction."
        )
    picked = check_random_state(random_state).choice(possible, sample_size, replace=False)
    samples = silhouettes(rows, labels, threads(n_threads), np.sort(picked))
    return weighted_mean(samples, None)


def calinski_harabasz_score(
    X: Any,
    labels: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The ratio of dispersion between and within clusters on the sphere; larger is better.

    With R_j the length of the sum of the unit rows of cluster j, R that of the sum of all n rows:

    - within:  W = Σ (1 − cos to the mean direction of the own cluster) = n − Σ R_j
    - total:   T = Σ (1 − cos to the mean direction of all rows) = n − R
    - between: B = T − W = Σ R_j·(1 − cos between the mean directions of j and of all) = Σ R_j − R

    and the score is B/(k − 1) : W/(n − k). This is Calinski and Harabasz' index (1974) with the
    sums of squares replaced by those of the analysis of variance of directions; it is the F
    statistic of Watson and Williams (1956). Clusters whose rows all have one direction make W
    zero within rounding: the score is then infinite, or 0 where B is zero too.

    Parameters
    ----------
    X : {array-like, sparse matrix or array} of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        The cluster of each row, −1 for none.
    sample_weight : array-like of shape (n_samples,), default=None
        A row of weight 3 counts as three rows; n is the sum of the weights.
    n_threads : int or None, default=None
    """
    rows = checked_rows(X, sample_weight=sample_weight, n_threads=threads(n_threads))
    return calinski_harabasz(rows, labels, threads(n_threads))


def _from_model(
    X: Any, labels: ArrayLike | None, centers: Any, model: Any
) -> tuple[ArrayLike | None, Any]:
    """Labels and centers as given, or those of the model."""
    if model is None:
        return labels, centers
    if centers is not None:
        raise ValueError("centers and model are both given; only one of them can be used.")
    check_is_fitted(model)
    return model.predict(X) if labels is None else labels, model.cluster_centers_
