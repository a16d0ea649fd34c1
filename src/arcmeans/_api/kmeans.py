"""``SphericalKMeans``: k-means by cosine with the manners of scikit-learn's ``KMeans``."""

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._algorithms import auto
from .._algorithms.memory import check_memory
from .._algorithms.registry import ALGORITHMS
from .._centers.sums import CenterSums
from .._engines.protocol import Place
from .._models import fields
from .._models.center_field import Centers
from .._models.model_files import load_model, save_model
from .._rows.containers import check_enough
from .._rows.rows import warn_of_zero_rows
from .._run.checkpoint import Checkpoint
from .._run.identity import identity_of
from .._run.loop import EMPTY_CLUSTER
from .._run.records import Iteration, Result, trace_array
from .._run.restarts import Plan, best_of_runs
from .._run.starts import DrawnStart, GivenStart, Start, WarmStart
from .._run.tasks import CallbackSupportMixin, Task, with_tasks
from .._run.watch import Watch
from .._seeding.methods import METHODS
from .._seeding.options import SeedOptions
from .._support.caution import caution
from .._support.checks import (
    check_callable,
    check_flag,
    check_integer,
    check_number,
    check_option,
    check_path,
    threads,
)
from .._support.files import FilePath
from .base import SphericalClusterer
from .parameters import check_groups, check_warm_start


class SphericalKMeans(CallbackSupportMixin, SphericalClusterer):
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

    algorithm : {"auto", "lloyd", "simplified-elkan", "elkan", "simplified-hamerly", "hamerly", \
"yinyang", "exponion", "shallot", "sieve", "tally"}, default="auto"
        How to avoid computing similarities; it changes the time and memory only. "auto" chooses by
        the data: the sieve for text and embeddings, tally for sparse rows of few entries, exponion
        or shallot for many clusters in few dimensions unless rows fill them. If one that keeps
        more than a few numbers a row needs more memory than this process may use, a MemoryError
        says so before the fit begins: see :func:`arcmeans.memory.required`.

    max_iter : int, default=300
        The most assign passes.

    tol : float, default=0.0
        With 0, the run goes on until no label changes, or until it comes back to labels it had
        (rows too close to call may change places for ever). Above 0, it ends once the objective
        gains less than this share of itself in an iteration.

    n_threads : int or None, default=None
        Threads for the fit. None takes the processors this process may use.

    random_state : int, RandomState instance or None, default=None
        Determines the initial centers.

    verbose : int, default=0
        1 shows the progress on standard error: one line that tqdm keeps up to date, or a line
        for each iteration where tqdm is not installed or the output is not a terminal or notebook.

    alpha : float, default=1.0
        k-means++, its greedy form, afk-mc2 and k-means|| draw rows in proportion to alpha − (the
        largest similarity to a seed); 1.5 gives the metric of Endo and Miyamoto.

    chain_length : int, default=200
        Steps of each Markov chain of afk-mc2.

    empty_cluster : {"relocate", "keep"}, default="relocate"
        What becomes of a cluster that lost all its rows: it takes the row least similar to its
        own center, or keeps its center and stays empty until a row comes back.

    warm_start : bool, default=False
        With True, ``fit`` of a fitted model begins at its centers, so that clusters keep their
        numbers; ``init`` and ``n_init`` are not used then. n_clusters and the features must be
        those that were fitted.

    callback : callable or None, default=None
        Called once an iteration with its :class:`arcmeans.Iteration`, when the labels are known
        and before the centers move: ``relocated`` and ``movement`` are still 0, ``trace_`` has
        them. If it returns True, the fit ends there, runs of ``n_init`` to come included. If it
        raises, the model is fitted with the best result so far, and the exception goes on to the
        caller of ``fit``. With scikit-learn 1.9 and later there is ``set_callbacks`` too: fit is
        a task, with a task for each run, with a task for each iteration.

    checkpoint : path or None, default=None
        A file to which the state of the fit is written every now and then, and from which ``fit``
        goes on if it is there: the result is that of a fit that was never interrupted, bit for
        bit. It must be of the same data and parameters (those that only cost time may differ).
        Killed, interrupted by Ctrl-C or ended by an exception in a callback, a fit leaves it; at
        its end it is removed. Two fits at a time need two files.

    checkpoint_seconds : float, default=60.0
        The time between two writes; 0 writes after every iteration.

    n_groups : int or None, default=None
        Groups of centers for ``algorithm="yinyang"``, from 1 to n_clusters; None takes a twentieth
        of n_clusters. It changes the time and memory only.
    memory_limit : float or None, default=None
        For a :class:`arcmeans.RowStore`, in bytes: what may be in memory of its rows and of their
        labels and bounds, beside the centers. A quarter, and 256 MiB at most, goes to the chunk of
        rows that is worked on; labels and bounds that do not fit into the rest go to temporary
        files. None is 1 GiB.

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

    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, where X has names that are all strings.

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
    inertia_: float
    n_iter_: int
    trace_: NDArray[np.void]
    __model_fields__: ClassVar[Mapping[str, fields.Field]] = {
        "n_iter_": fields.Integer("n_iter"),
        "_dtype": fields.FloatType(),
        "_sums": Centers(),
        "_centers": fields.Cache(),
        "labels_": fields.Labels(np.int32, ("n_samples",)),
        "inertia_": fields.Float(),
        "trace_": fields.Trace(),
    }

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
        warm_start: bool = False,
        callback: Callable[[Iteration], Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_seconds: float = 60.0,
        n_groups: int | None = None,
        memory_limit: float | None = None,
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
        self.warm_start = warm_start
        self.callback = callback
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds
        self.n_groups = n_groups
        self.memory_limit = memory_limit

    @with_tasks
    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, RowStore} of shape (n_samples, n_features)
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
        warm = self.warm_start and hasattr(self, "_sums")
        if warm:
            check_warm_start(X, self.n_clusters, *self._sums.vectors.shape)
        start = self._start(X, n_threads, warm)
        task = Task(self, X=X, y=y, metadata={"sample_weight": sample_weight})
        place = self._place(X, n_threads, reset=not warm, sample_weight=sample_weight)
        with closing(place):
            self._check_place(place)
            plan = self._plan(place, start, n_threads)
            watch = self._watch(place, start, task)
            best, last = best_of_runs(place, plan, watch)
            for name, value in self._attributes(place, best).items():
                setattr(self, name, value)
            watch.end_fit(last)
        if last.stopped == "interrupted":
            caution(
                f"Interrupted after {len(last.iterations)} iterations; the estimator is "
                "fitted with the best result so far.",
                ConvergenceWarning,
            )
        elif self.empty_cluster == "relocate":
            self._warn_of_empty_clusters(last)
        if last.error is not None:
            raise last.error
        if last.interrupted:
            raise KeyboardInterrupt
        return self

    def _warn_of_empty_clusters(self, last: Result) -> None:
        """Clusters stay empty where there are fewer directions; the seeding may have said so."""
        known = isinstance(self.init, str) and not self.warm_start
        if last.used < self.n_clusters and self.trace_["changed"][-1] == 0 and not known:
            caution(
                f"Only {last.used} of n_clusters={self.n_clusters} clusters have rows: X has fewer "
                "distinct directions, or all rows lie at their centers.",
                ConvergenceWarning,
            )

    def _threads(self) -> int:
        return threads(self.n_threads)

    def _start(self, X: Any, n_threads: int, warm: bool) -> Start:
        if warm:
            return WarmStart(self._sums)
        if isinstance(self.init, str):
            options = SeedOptions(alpha=self.alpha, chain_length=self.chain_length)
            return DrawnStart(self.init, options)
        return GivenStart(X, self.init, n_threads)

    def _check_place(self, place: Place) -> None:
        """Whether the rows are enough, and the memory for their bounds is."""
        census = place.census
        check_enough(census, self.n_clusters)
        if place.in_this_process:  # elsewhere bounds may go to disk
            sizes = (census.n_rows, self.n_clusters, census.n_features)
            check_memory(self.algorithm, *sizes, self.n_groups)
        warn_of_zero_rows(census)

    def _plan(self, place: Place, start: Start, n_threads: int) -> Plan:
        warm = start.fitted_centers is not None
        n_runs = 1 if warm else self.n_init
        return Plan(
            n_clusters=self.n_clusters,
            start=start,
            random_states=check_random_state(self.random_state).randint(2**31 - 1, size=n_runs),
            options=auto.options_for(
                self.algorithm,
                place.census,
                self.n_clusters,
                n_threads,
                n_groups=self.n_groups,
                state_limit=place.state_limit,
            ),
            auto=self.algorithm == "auto" and not warm,
            max_iter=self.max_iter,
            tol=self.tol,
            empty_cluster=self.empty_cluster,
        )

    def _watch(self, place: Place, start: Start, task: Task) -> Watch:
        checkpoint = None
        if self.checkpoint is not None:
            identity = identity_of(place, self.get_params(deep=False), start.fitted_centers)
            checkpoint = Checkpoint(self.checkpoint, self.checkpoint_seconds, identity)
        return Watch(
            task=task,
            attributes_of=lambda result: self._attributes(place, result),
            callback=self.callback,
            verbose=bool(self.verbose),
            checkpoint=checkpoint,
        )

    def _attributes(self, place: Place, result: Result) -> dict[str, Any]:
        """The attributes of an estimator fitted with a result."""
        return {
            "_sums": result.centers,
            "_dtype": place.census.dtype,
            "_centers": None,
            "labels_": result.labels.copy(),
            "inertia_": max(0.0, 2.0 * (place.census.total_weight - result.objective)),
            "n_iter_": len(result.iterations),
            "trace_": trace_array(result.iterations),
        }

    def center_sums(self) -> CenterSums:
        """The fitted centers as exact integers; an AttributeError before there are any."""
        if not hasattr(self, "_sums"):
            raise AttributeError(f"{type(self).__name__} has no centers before it is fitted.")
        return self._sums

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_sums")

    def _check_parameters(self) -> None:
        check_integer("n_clusters", self.n_clusters, 1)
        check_integer("n_init", self.n_init, 1)
        check_integer("max_iter", self.max_iter, 1)
        check_number("tol", self.tol, 0)
        check_number("alpha", self.alpha, 1)
        check_integer("chain_length", self.chain_length, 1)
        check_option("algorithm", self.algorithm, ("auto", *ALGORITHMS))
        check_groups(self.n_groups, self.n_clusters, self.algorithm)
        check_option("empty_cluster", self.empty_cluster, EMPTY_CLUSTER)
        check_flag("warm_start", self.warm_start)
        check_callable("callback", self.callback)
        check_path("checkpoint", self.checkpoint)
        check_number("checkpoint_seconds", self.checkpoint_seconds, 0)
        if self.memory_limit is not None:
            check_number("memory_limit", self.memory_limit, 1)
        if isinstance(self.init, str):
            check_option("init", self.init, METHODS, ", an array or a callable")

    def save(self, path: FilePath) -> None:
        """Write the fitted model to a safetensors file, whole or not at all.

        Parameters that no file can hold, a callable or a RandomState, are left out with a warning.
        Needs ``pip install arcmeans[save]``.
        """
        save_model(self, path)

    @classmethod
    def load(cls, path: FilePath) -> Self:
        """The fitted model that :meth:`save` wrote: the same parameters, attributes and bits.

        The file is checked in full, and nothing in it is run.
        """
        return load_model(cls, path)

    def __getstate__(self) -> dict[str, Any]:
        """Without the dense centers, which follow from the integers."""
        state = dict(super().__getstate__())
        return {**state, "_centers": None} if "_centers" in state else state
