"""A fit: runs from initial centers of their own, of which the best is kept."""

from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._algorithms import auto
from .._algorithms.options import EngineOptions
from .._algorithms.registry import ALGORITHMS
from .._engines.protocol import Place
from .checkpoint import restored_centers
from .loop import EmptyCluster, run
from .records import Result
from .saved import RunState
from .starts import Start
from .watch import Watch


@dataclass(frozen=True)
class Plan:
    """What is asked of a fit."""

    n_clusters: int
    start: Start
    random_states: NDArray[np.int64]
    """For each run the integer its random numbers begin with."""
    options: EngineOptions
    auto: bool
    """Whether the initial centers of a run may change the algorithm."""
    max_iter: int = 300
    tol: float = 0.0
    empty_cluster: EmptyCluster = "relocate"


def best_of_runs(place: Place, plan: Plan, watch: Watch) -> tuple[Result, Result]:
    """The best of all runs and the last of them, going on from what the checkpoint has.

    Who breaks off a run, or stops it by a callback, has no use for those to come.
    """
    checkpoint, stored, random_states = watch.checkpoint, None, plan.random_states
    if checkpoint is not None:
        stored = checkpoint.load()
        random_states = random_states if stored is None else stored.random_states
        checkpoint.random_states = random_states
    first, best, resumed = (
        (stored.run_number, stored.best, stored.run) if stored else (0, None, None)
    )
    watch.task.begin_fit(len(random_states))
    for number in range(first, len(random_states)):
        if checkpoint is not None:
            checkpoint.run_number, checkpoint.best = number, best
        last = _run(place, plan, watch, int(random_states[number]), resumed)
        resumed = None
        if best is None or last.objective > best.objective:
            best = last
        if last.interrupted or last.error is not None or last.stopped == "callback":
            break
    assert best is not None
    return best, last


def _run(
    place: Place, plan: Plan, watch: Watch, random_state: int, resumed: RunState | None
) -> Result:
    """One run, from its initial centers or resumed, to the end."""
    watch.begin_run(plan.max_iter)
    options, beginning = plan.options, None
    in_full = place.passes_here and ALGORITHMS[options.algorithm].in_full
    if resumed is None:
        random = np.random.RandomState(random_state)
        beginning = plan.start.begin(place, plan.n_clusters, random, in_full)
        if plan.auto:
            options = auto.settled(options, place, beginning.centers, place.state_limit)
    seeded = beginning is not None and beginning.seeded
    with closing(place.engine(plan.n_clusters, options, seeded=seeded)) as engine:
        if beginning is not None:
            centers = beginning.centers
        else:
            assert resumed is not None
            assert watch.checkpoint is not None
            centers = restored_centers(engine, resumed, watch.checkpoint.path, in_full=in_full)
        result = run(
            engine,
            centers,
            max_iter=plan.max_iter,
            tol=plan.tol,
            empty_cluster=plan.empty_cluster,
            watch=watch,
            resumed=resumed,
        )
    watch.end_run(result)
    return result
