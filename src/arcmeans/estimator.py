"""``SphericalKMeans``: k-means by cosine with the manners of scikit-learn's ``KMeans``."""

import difflib
import math
import numbers
import sys
import warnings
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .centers import place_sums
from .engine import ALGORITHMS, Engine, EngineOptions, usable_cpus
from .initialise import initial_centers
from .loop import EMPTY_CLUSTER, run
from .result import Iteration, trace_array
from .rows import Rows, unit_rows, warn_of_zero_rows

INITS = ("random",)


class SphericalKMeans(ClusterMixin, BaseEstimator):
    """Spherical k-means: clusters of rows by cosine, around centers of unit length.

    Rows are scaled to unit length internally; X itself is never changed, and sparse X is never
    made dense. Whatever the algorithm, the number of threads, the instruction set or the
    container of X, the result is the same, bit for bit.

    All-zero rows have no direction. They get label -1, move no center, and a warning counts them.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.

    init : "random" or array of shape (n_clusters, n_features), default="random"
        How to choose the initial centers. ``"random"`` draws rows of distinct directions, each
        equally likely. An array, dense or sparse, gives the centers; they are scaled to unit
        length.

    algorithm : {"auto", "lloyd", "simplified-elkan", "elkan", "simplified-hamerly", "hamerly"}, \
default="auto"
        How to avoid computing similarities; it changes the time and memory only.

    max_iter : int, default=300
        The most assign passes.

    tol : float, default=0.0
        With 0, the run goes on until no label changes. Above 0, it ends once the objective gains
        less than this share of itself in an iteration.

    n_threads : int or None, default=None
        Threads for the fit. None takes the processors this process may use.

    random_state : int, RandomState instance or None, default=None
        Determines the initial centers.

    verbose : int, default=0
        1 prints a line for each iteration to standard error.

    empty_cluster : {"relocate", "keep"}, default="relocate"
        What becomes of a cluster that lost all its rows: it takes the row least similar to its
        own center, or keeps its center and stays empty until a row comes back.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers, of unit length, in the dtype of X.

    labels_ : ndarray of shape (n_samples,)
        The cluster of each row; -1 for all-zero rows. Always equal to ``predict`` of the same X.

    inertia_ : float
        Σ w·‖x − c‖² over the unit rows and their centers, which is 2·Σ w·(1 − cos).

    n_iter_ : int
        The number of assign passes, the last one that changed nothing included.

    trace_ : structured ndarray of shape (n_iter_,)
        What each iteration did: see :class:`arcmeans.Iteration`. pandas reads it as a table.

    n_features_in_ : int
        The number of features seen in fit.

    Examples
    --------
    >>> import numpy as np
    >>> from arcmeans import SphericalKMeans
    >>> X = np.array([[1.0, 0.0], [9.0, 1.0], [0.0, 2.0], [0.1, 1.0]])
    >>> model = SphericalKMeans(2, random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Literal["random"] | ArrayLike = "random",
        algorithm: str = "auto",
        max_iter: int = 300,
        tol: float = 0.0,
        n_threads: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        empty_cluster: Literal["relocate", "keep"] = "relocate",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.algorithm = algorithm
        self.max_iter = max_iter
        self.tol = tol
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.empty_cluster = empty_cluster

    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix or array} of shape (n_samples, n_features)
            Rows to cluster. float32 and float64 are kept, float16 becomes float32, other
            numbers float64.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in the centers and the objective.

        Returns
        -------
        self
        """
        self._check_parameters()
        n_threads = self._threads()
        rows = self._rows(X, n_threads, reset=True, sample_weight=sample_weight)
        self._check_enough(rows)
        warn_of_zero_rows(rows)
        init = self._checked_init(rows)
        random_state = check_random_state(self.random_state)
        centers = initial_centers(rows, self.n_clusters, init, random_state, n_threads)
        options = EngineOptions(algorithm=self._algorithm(), n_threads=n_threads)
        result = run(
            Engine(rows, self.n_clusters, options),
            centers,
            max_iter=self.max_iter,
            tol=self.tol,
            empty_cluster=self.empty_cluster,
            report=_print_iteration if self.verbose else None,
        )
        self._sums = result.centers
        self.cluster_centers_ = result.centers.unit(rows.values.dtype)
        self.labels_ = result.labels
        self.inertia_ = max(0.0, 2.0 * (rows.total_weight - result.objective))
        self.n_iter_ = len(result.iterations)
        self.trace_ = trace_array(result.iterations)
        if result.interrupted:
            if result.stopped == "interrupted":
                warnings.warn(
                    f"Interrupted after {self.n_iter_} iterations; the estimator is fitted with "
                    "the result so far.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
            raise KeyboardInterrupt
        return self

    def fit_predict(
        self, X: Any, y: None = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.int32]:
        """Cluster the rows of X and return their labels."""
        return self.fit(X, sample_weight=sample_weight).labels_

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
        n_threads = self._threads()
        rows = self._rows(X, n_threads, reset=False)
        warn_of_zero_rows(rows)
        centers = place_sums(rows, self._sums)
        engine = Engine(rows, len(self.cluster_centers_), EngineOptions(n_threads=n_threads))
        engine.assign(centers)
        return engine.labels

    def _rows(
        self, X: Any, n_threads: int, *, reset: bool, sample_weight: ArrayLike | None = None
    ) -> Rows:
        """Validated unit rows of X."""
        dtype: Any = [np.float64, np.float32]
        if getattr(X, "dtype", None) == np.float16:
            dtype = np.float32
        checked = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=dtype,
            order="C",
            ensure_all_finite=False,
        )
        return unit_rows(
            checked,
            sample_weight=_checked_weights(sample_weight, checked.shape[0]),
            n_threads=n_threads,
            owned=_is_a_copy(checked, X),
        )

    def _checked_init(self, rows: Rows) -> Any:
        if isinstance(self.init, str):
            _check_option("init", self.init, INITS, " or an array of centers")
            return self.init
        init = check_array(
            self.init,
            accept_sparse="csr",
            dtype=rows.values.dtype,
            order="C",
            ensure_all_finite=False,
            input_name="init",
        )
        if init.shape != (self.n_clusters, rows.n_features):
            raise ValueError(
                f"init has shape {init.shape}, but n_clusters={self.n_clusters} centers of "
                f"{rows.n_features} features need shape {(self.n_clusters, rows.n_features)}."
            )
        return init

    def _check_parameters(self) -> None:
        _check_integer("n_clusters", self.n_clusters, 1)
        _check_integer("max_iter", self.max_iter, 1)
        if not isinstance(self.tol, numbers.Real) or not (0 <= self.tol < math.inf):
            raise ValueError(f"tol={self.tol!r} should be a number >= 0.")
        _check_option("algorithm", self.algorithm, ("auto", *ALGORITHMS))
        _check_option("empty_cluster", self.empty_cluster, EMPTY_CLUSTER)

    def _check_enough(self, rows: Rows) -> None:
        n_clusters, usable = self.n_clusters, len(rows.usable)
        if rows.n_rows < n_clusters:
            raise ValueError(f"n_samples={rows.n_rows} should be >= n_clusters={n_clusters}.")
        if usable < n_clusters:
            raise ValueError(
                f"n_clusters={n_clusters} needs as many rows with a direction and a weight; of "
                f"n_samples={rows.n_rows} only {usable} have them."
            )

    def _threads(self) -> int:
        if self.n_threads is None:
            return usable_cpus()
        _check_integer("n_threads", self.n_threads, 1)
        return int(self.n_threads)

    def _algorithm(self) -> str:
        return "lloyd" if self.algorithm == "auto" else self.algorithm

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _check_integer(name: str, value: Any, least: int) -> None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} should be an integer >= {least}.")


def _check_option(name: str, value: Any, options: tuple[str, ...], or_else: str = "") -> None:
    if value in options:
        return
    near = difflib.get_close_matches(str(value), options, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    listed = ", ".join(repr(option) for option in options)
    raise ValueError(f"{name}={value!r} should be one of {listed}{or_else}.{hint}")


def _checked_weights(weights: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected {(n_rows,)}.")
    wrong = ~np.isfinite(weights) | (weights < 0)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(f"sample_weight[{i}]={weights[i]} should be a finite number >= 0.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    return weights


def _is_a_copy(checked: Any, X: Any) -> bool:
    """Whether validation made new arrays that are nobody else's."""
    if sp.issparse(checked):
        if not sp.issparse(X):
            return False
        given = [getattr(X, name, None) for name in ("data", "indices", "indptr")]
        arrays = [a for a in given if isinstance(a, np.ndarray)]
        made = (checked.data, checked.indices)
        return not any(np.may_share_memory(a, b) for a in arrays for b in made)
    return isinstance(X, np.ndarray) and not np.may_share_memory(checked, X)


def _print_iteration(iteration: Iteration) -> None:
    print(
        f"iteration {iteration.iteration}: objective {iteration.objective:.6f}, "
        f"{iteration.changed} rows changed, {iteration.similarities} similarities, "
        f"{iteration.assign_seconds + iteration.update_seconds:.2f} s",
        file=sys.stderr,
    )
