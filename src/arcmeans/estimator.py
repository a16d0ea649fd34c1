"""``SphericalKMeans``: k-means by cosine with the manners of scikit-learn's ``KMeans``."""

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from .centers import place_rows, place_sums
from .engine import ALGORITHMS, Engine, EngineOptions
from .initialise import METHODS, SeedOptions, choose_rows, given_centers
from .loop import EMPTY_CLUSTER, run
from .result import CenterSums, FirstPass, Iteration, Result, trace_array
from .rows import Rows, warn_of_zero_rows
from .validation import (
    check_enough,
    check_integer,
    check_number,
    check_option,
    checked_centers,
    checked_indices,
    checked_rows,
    threads,
)


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

    init : {"random", "k-means++", "greedy-k-means++", "afk-mc2", "k-means||"}, array or \
callable, default="random"
        How to choose the initial centers. The methods draw rows, and never two of one direction
        while others are left: see :func:`arcmeans.seed`. An array of shape (n_clusters,
        n_features), dense or sparse, gives the centers; they are scaled to unit length. An array
        of n_clusters integers names rows. A callable gets ``(X, n_clusters, random_state)`` and
        returns either.

    n_init : int, default=1
        The number of runs, each with initial centers of its own; the best objective is kept.

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

    alpha : float, default=1.0
        k-means++, its greedy form, afk-mc2 and k-means|| draw rows in proportion to alpha − (the
        largest similarity to a seed); 1.5 gives the metric of Endo and Miyamoto.

    chain_length : int, default=200
        Steps of each Markov chain of afk-mc2.

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

    _sums: CenterSums
    _dtype: np.dtype[Any]
    _centers: NDArray[Any] | None

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | ArrayLike | Callable[..., Any] = "random",
        n_init: int = 1,
        algorithm: str = "auto",
        max_iter: int = 300,
        tol: float = 0.0,
        n_threads: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        alpha: float = 1.0,
        chain_length: int = 200,
        empty_cluster: Literal["relocate", "keep"] = "relocate",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.algorithm = algorithm
        self.max_iter = max_iter
        self.tol = tol
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose
        self.alpha = alpha
        self.chain_length = chain_length
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
        n_threads = threads(self.n_threads)
        rows = self._rows(X, n_threads, reset=True, sample_weight=sample_weight)
        check_enough(rows, self.n_clusters)
        warn_of_zero_rows(rows)
        # A stream for each run: the first is the same however many follow.
        streams = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_init)
        best = None
        for stream in streams:
            result = self._run(X, rows, np.random.RandomState(stream), n_threads)
            if best is None or result.objective > best.objective:
                best = result
            if result.interrupted:
                break
        assert best is not None
        self._set_fitted(rows, best)
        if result.interrupted:
            if result.stopped == "interrupted":
                warnings.warn(
                    f"Interrupted after {len(result.iterations)} iterations; the estimator is "
                    "fitted with the best result so far.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
            raise KeyboardInterrupt
        return self

    def _set_fitted(self, rows: Rows, result: Result) -> None:
        self._sums = result.centers
        self._dtype = rows.values.dtype
        self._centers = None
        self.labels_ = result.labels
        self.inertia_ = max(0.0, 2.0 * (rows.total_weight - result.objective))
        self.n_iter_ = len(result.iterations)
        self.trace_ = trace_array(result.iterations)

    @property
    def cluster_centers_(self) -> NDArray[Any]:
        """The centers, of unit length, in the dtype of X; made when first asked for."""
        if not hasattr(self, "_sums"):
            raise AttributeError(f"{type(self).__name__} has no centers before it is fitted.")
        if self._centers is None:
            self._centers = self._sums.unit(self._dtype)
        return self._centers

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
        n_threads = threads(self.n_threads)
        rows = self._rows(X, n_threads, reset=False)
        warn_of_zero_rows(rows)
        centers = place_sums(rows, self._sums)
        engine = Engine(rows, len(self._sums.scales), EngineOptions(n_threads=n_threads))
        engine.assign(centers)
        return engine.labels

    def _rows(
        self, X: Any, n_threads: int, *, reset: bool, sample_weight: ArrayLike | None = None
    ) -> Rows:
        """Validated unit rows of X."""
        check = functools.partial(validate_data, self, reset=reset)
        return checked_rows(X, check=check, sample_weight=sample_weight, n_threads=n_threads)

    def _check_parameters(self) -> None:
        check_integer("n_clusters", self.n_clusters, 1)
        check_integer("n_init", self.n_init, 1)
        check_integer("max_iter", self.max_iter, 1)
        check_number("tol", self.tol, 0)
        check_number("alpha", self.alpha, 1)
        check_integer("chain_length", self.chain_length, 1)
        check_option("algorithm", self.algorithm, ("auto", *ALGORITHMS))
        check_option("empty_cluster", self.empty_cluster, EMPTY_CLUSTER)
        if isinstance(self.init, str):
            check_option("init", self.init, METHODS, ", an array or a callable")

    def _start(
        self, X: Any, rows: Rows, random_state: np.random.RandomState, n_threads: int
    ) -> tuple[_core.native.Centers, FirstPass | None]:
        """Initial centers, and what the seeding learned of the first pass."""
        k, init = self.n_clusters, self.init
        if isinstance(init, str):
            options = SeedOptions(alpha=self.alpha, chain_length=self.chain_length)
            seeds = choose_rows(rows, k, init, options, random_state, n_threads)
            return place_rows(rows, rows, seeds.indices), seeds.first_pass
        if callable(init):
            init = init(X, n_clusters=k, random_state=random_state)
        if np.ndim(init) == 1 and np.issubdtype(np.asarray(init).dtype, np.integer):
            return place_rows(rows, rows, checked_indices(np.asarray(init), k, rows)), None
        return given_centers(rows, checked_centers(init, k, rows), n_threads), None

    def _run(
        self, X: Any, rows: Rows, random_state: np.random.RandomState, n_threads: int
    ) -> Result:
        """One run, from the initial centers to the end."""
        centers, first_pass = self._start(X, rows, random_state, n_threads)
        algorithm = "lloyd" if self.algorithm == "auto" else self.algorithm
        engine = Engine(rows, self.n_clusters, EngineOptions(algorithm, n_threads))
        if first_pass is not None:
            engine.adopt(first_pass)
        return run(
            engine,
            centers,
            max_iter=self.max_iter,
            tol=self.tol,
            empty_cluster=self.empty_cluster,
            report=_print_iteration if self.verbose else None,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _print_iteration(iteration: Iteration) -> None:
    print(
        f"iteration {iteration.iteration}: objective {iteration.objective:.6f}, "
        f"{iteration.changed} rows changed, {iteration.similarities} similarities, "
        f"{iteration.assign_seconds + iteration.update_seconds:.2f} s",
        file=sys.stderr,
    )
