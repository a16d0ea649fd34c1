"""``MiniBatchSphericalKMeans``: spherical k-means by small batches, in memory or as they come."""

import math
import sys
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .. import _core
from .._centers.placing import place_rows
from .._centers.sums import CenterSums
from .._minibatch.batches import StopRule, batches_of, plain, sample_of
from .._minibatch.stream import BatchReport, Stream, inertia, no_rows, variance
from .._rows.containers import check_enough
from .._rows.rows import Rows, warn_of_zero_rows
from .._seeding.given import asked_centers
from .._seeding.methods import METHODS, choose_rows
from .._seeding.options import SeedOptions
from .._seeding.steps import SeedRows
from .._support.caution import caution
from .._support.checks import check_integer, check_number, check_option, threads
from .._support.interrupts import interrupts_noted
from .base import SphericalClusterer


class MiniBatchSphericalKMeans(SphericalClusterer):
    """Spherical k-means by small batches: for data too large to go over often, or still coming in.

    A center is the direction of the sum of all the rows it has taken so far. The sums are exact
    integers, so the model depends on the sequence of the batches and nothing else: not on the
    number of threads, the container of X or the instruction set.

    All-zero rows have no direction. They get label -1, move no center, and a warning counts them.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.

    init : {"random", "k-means++", "greedy-k-means++", "afk-mc2", "k-means||"}, array or \
callable, default="greedy-k-means++"
        How to choose the initial centers: see :class:`SphericalKMeans`. ``partial_fit`` takes them
        from its first batch. They count for nothing: the first rows replace them.

    max_iter : int, default=100
        ``fit`` takes at most as many batches as go over X that many times.

    batch_size : int, default=1024
        Rows in a batch of ``fit``, drawn with replacement in proportion to their weights.

    tol : float, default=0.0
        Above 0, ``fit`` ends once a batch moves the centers by less, Σ ‖c′ − c‖², than this share
        of the mean variance of the features of the unit rows.

    max_no_improvement : int or None, default=10
        ``fit`` ends after so many batches in a row without a gain in the smoothed inertia. None:
        it never does.

    init_size : int or None, default=None
        Rows among which ``fit`` chooses initial centers. None: 3·batch_size, or 3·n_clusters if
        that is fewer than n_clusters.

    n_init : int, default=3
        Initial centers tried by ``fit``, each among other rows; the best are used.

    reassignment_ratio : float, default=0.01
        A center whose count is below this share of the largest is moved to a row of the batch,
        drawn in proportion to 1 − (similarity to its own center). Looked at whenever 10·n_clusters
        rows have gone by, or at once where a center has no rows. 0: never.

    alpha : float, default=1.0
        Seeding draws rows in proportion to alpha − (the largest similarity to a seed).

    n_threads : int or None, default=None
        None takes the processors this process may use.

    random_state : int, RandomState instance or None, default=None
        Determines initial centers, batches and reassignments.

    verbose : int, default=0
        1 prints a line for each batch of ``fit`` to standard error.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers, of unit length, in the dtype of the (first) X.

    labels_ : ndarray of shape (n_samples,)
        The cluster of each row of X, or of the last batch of ``partial_fit``; -1 for all-zero rows.
        Always equal to ``predict`` of the same rows.

    inertia_ : float
        Σ w·‖x − c‖² over these rows, which is 2·Σ w·(1 − cos).

    n_iter_ : int
        How often ``fit`` went over X, rounded up.

    n_steps_ : int
        The number of batches taken.

    counts_ : ndarray of shape (n_clusters,)
        The weight of the rows that each center is the sum of.

    n_features_in_ : int
        The number of features seen in fit.

    Examples
    --------
    >>> import numpy as np
    >>> from arcmeans import MiniBatchSphericalKMeans
    >>> model = MiniBatchSphericalKMeans(2, random_state=0)
    >>> for batch in np.random.default_rng(0).random((5, 100, 3)):
    ...     model = model.partial_fit(batch)
    >>> float(model.counts_.sum())
    500.0
    """

    _stream: Stream

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str | ArrayLike | Callable[..., Any] = "greedy-k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: int = 3,
        reassignment_ratio: float = 0.01,
        alpha: float = 1.0,
        n_threads: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio
        self.alpha = alpha
        self.n_threads = n_threads
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X by random batches, then label them all.

        Parameters
        ----------
        X : {array-like, sparse matrix or array} of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How likely each row is to be drawn, and how much it counts in the inertia.

        Returns
        -------
        self
        """
        self._check_parameters()
        n_threads = threads(self.n_threads)
        rows = self._rows(X, n_threads, reset=True, sample_weight=sample_weight)
        check_enough(rows, self.n_clusters)
        warn_of_zero_rows(rows)
        random_state = check_random_state(self.random_state)
        stream = self._best_start(X, rows, random_state, n_threads)
        with interrupts_noted() as interrupted:
            stopped = self._learn(stream, rows, random_state, n_threads, interrupted)
            self._set_fitted(stream, rows, n_threads)
            self._random_state = random_state
        if interrupted():
            if stopped:
                caution(
                    f"Interrupted after {self.n_steps_} batches; the estimator is fitted with "
                    "the centers so far.",
                    ConvergenceWarning,
                )
            raise KeyboardInterrupt
        return self

    def partial_fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Take in the rows of X as one batch; the first batch gives the initial centers too.

        Parameters
        ----------
        X : {array-like, sparse matrix or array} of shape (n_samples, n_features)
            The first batch needs as many rows with a direction as there are clusters.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in the centers and the inertia.

        Returns
        -------
        self
        """
        self._check_parameters()
        n_threads = threads(self.n_threads)
        first = not hasattr(self, "_stream")
        rows = self._rows(X, n_threads, reset=first, sample_weight=sample_weight)
        if first:
            check_enough(rows, self.n_clusters)
        warn_of_zero_rows(rows)
        if first:
            self._random_state = check_random_state(self.random_state)
            centers = self._start(X, rows, rows, self._random_state, n_threads)
            stream = Stream(centers, no_rows(rows.n_features), rows.weight_scale)
            self.n_steps_ = 0
        else:
            stream = self._stream
        with interrupts_noted() as interrupted:  # a batch is taken whole or not at all
            stream.take_batch(rows, self.reassignment_ratio, self._random_state, n_threads)
            self.n_steps_ += 1
            self._set_fitted(stream, rows, n_threads)
        if interrupted():
            raise KeyboardInterrupt
        return self

    def _set_fitted(self, stream: Stream, rows: Rows, n_threads: int) -> None:
        """Labels the rows by the centers as they are now."""
        if getattr(self, "_stream", None) is not stream:
            self._dtype = rows.values.dtype
        self._stream = stream
        self._centers = None
        self.labels_, similarities = stream.label(rows, n_threads)
        self.inertia_ = inertia(rows, similarities)

    def _learn(
        self,
        stream: Stream,
        rows: Rows,
        random_state: np.random.RandomState,
        n_threads: int,
        interrupted: Callable[[], bool],
    ) -> bool:
        """Takes batches until a reason to stop; whether that was Ctrl-C."""
        n_rows = len(rows.usable)
        size = min(self.batch_size, n_rows)
        last = self.max_iter * n_rows // size
        tol = self.tol * variance(rows) if self.tol > 0 else 0.0
        rule = StopRule(min(1.0, 2.0 * size / (n_rows + 1)), tol, self.max_no_improvement)
        draw = batches_of(rows, size, random_state)
        stopped = False
        for number in range(1, last + 1):
            report = stream.take_batch(draw(), self.reassignment_ratio, random_state, n_threads)
            converged = number > 1 and rule.converged(report, size)
            if self.verbose:
                _print_report(number, last, report, size)
            stopped = interrupted()
            if converged or stopped:
                break
        self.n_steps_ = number
        self.n_iter_ = math.ceil(number * size / n_rows)
        return stopped

    def _best_start(
        self, X: Any, rows: Rows, random_state: np.random.RandomState, n_threads: int
    ) -> Stream:
        """The best of several initial centers, as measured on a sample."""
        size = self.init_size
        if size is None:
            size = 3 * self.batch_size if 3 * self.batch_size >= self.n_clusters else 0
            size = size or 3 * self.n_clusters
        check = sample_of(rows, size, random_state)
        best, least = None, math.inf
        one_only = not isinstance(self.init, str) and not callable(self.init)
        for _ in range(1 if one_only else self.n_init):
            sample = sample_of(rows, size, random_state)
            if len(np.unique(sample.hashes(sample.usable))) < self.n_clusters:
                sample = rows
            centers = self._start(X, rows, sample, random_state, n_threads)
            stream = Stream(centers, no_rows(rows.n_features), 1.0)
            found = inertia(check, stream.label(check, n_threads)[1])
            if best is None or found < least:
                best, least = stream, found
        assert best is not None
        return best

    def _start(
        self, X: Any, rows: Rows, sample: Rows, random_state: np.random.RandomState, n_threads: int
    ) -> _core.native.Centers:
        """Initial centers: drawn from the sample, or given."""
        k, init, census = self.n_clusters, self.init, no_rows(rows.n_features)
        if isinstance(init, str):
            options = SeedOptions(alpha=self.alpha)
            place = SeedRows(sample, n_threads)
            seeds = choose_rows(place, k, init, options, random_state)
            return place_rows(census, sample, seeds.indices)
        return asked_centers(census, SeedRows(rows, n_threads), X, k, init, random_state, n_threads)

    @property
    def counts_(self) -> NDArray[np.float64]:
        """The weight of the rows that each center is the sum of."""
        return self._fitted("counts_").counts.copy()

    def _fitted(self, name: str) -> Stream:
        if not hasattr(self, "_stream"):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted.")
        return self._stream

    def center_sums(self) -> CenterSums:
        return self._fitted("cluster_centers_").sums()

    def _rows(
        self, X: Any, n_threads: int, *, reset: bool, sample_weight: ArrayLike | None = None
    ) -> Rows:
        """Validated unit rows of X, features in the caller's order."""
        return plain(super()._rows(X, n_threads, reset=reset, sample_weight=sample_weight))

    def _check_parameters(self) -> None:
        check_integer("n_clusters", self.n_clusters, 1)
        check_integer("max_iter", self.max_iter, 1)
        check_integer("batch_size", self.batch_size, 1)
        check_number("tol", self.tol, 0)
        if self.max_no_improvement is not None:
            check_integer("max_no_improvement", self.max_no_improvement, 0)
        if self.init_size is not None:
            check_integer("init_size", self.init_size, 1)
            if self.init_size < self.n_clusters:
                raise ValueError(
                    f"init_size={self.init_size} should be >= n_clusters={self.n_clusters}."
                )
        check_integer("n_init", self.n_init, 1)
        check_number("reassignment_ratio", self.reassignment_ratio, 0)
        check_number("alpha", self.alpha, 1)
        if isinstance(self.init, str):
            check_option("init", self.init, METHODS, ", an array or a callable")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream")


def _print_report(number: int, last: int, report: BatchReport, size: int) -> None:
    print(
        f"batch {number} of at most {last}: mean inertia {report.inertia / size:.6f}, "
        f"{report.reassigned} centers reassigned",
        file=sys.stderr,
    )
