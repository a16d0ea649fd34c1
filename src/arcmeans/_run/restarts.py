"""A fit: runs from initial centers of their own, of which the best is kept."""

from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._algorithms import auto
from .._algorithms.options import EngineOptions
from .._algorithms.registry import ALGORITHMS
from .._engines.protocol import Place
from .checkpoint import restored
from .loop import EmptyCluster, run
from .records import Result
from .saved import Midway
from .starts import Start
from .watch import Onlookers


@dataclass(frozen=True)
class Plan:
    """What is asked of a fit."""

    n_clusters: int
    start: Start
    streams: NDArray[np.int64]
    """The random stream of each run. The first is the same however many follow."""
    options: EngineOptions
    auto: bool
    """Whether the initial centers of a run may change the algorithm."""
    max_iter: int = 300
    tol: float = 0.0
    empty_cluster: EmptyCluster = "relocate"


def best_of_runs(place: Place, plan: Plan, onlookers: Onlookers) -> tuple[Result, Result]:
    """The best of all runs and the last of them, going on from what the checkpoint has.

    Who breaks off a run, or stops it by a callback, has no use for those to come.
    """
    checkpoint, saved, streams = onlookers.checkpoint, None, plan.streams
    if checkpoint is not None:
        saved = checkpoint.load()
        streams = checkpoint.streams = plan.streams if saved is None else saved.streams
    first, best, midway = (saved.run, saved.best, saved.midway) if saved else (0, None, None)
    onlookers.task.begin(len(streams))
    for number in range(first, len(streams)):
        if checkpoint is not None:
            checkpoint.run, checkpoint.best = number, best
        last = _run(place, plan, onlookers, int(streams[number]), midway)
        midway = None
        if best is None or last.objective > best.objective:
            best = last
        if last.interrupted or last.error is not None or last.stopped == "callback":
            break
    assert best is not None
    return best, last


def _run(
    place: Place, plan: Plan, onlookers: Onlookers, stream: int, midway: Midway | None
) -> Result:
    """One run, from its initial centers or from midway to the end."""
    task = onlookers.task.part("run", plan.max_iter)
    options, beginning = plan.options, None
    in_full = place.passes_here and ALGORITHMS[options.algorithm].in_full
    if midway is None:
        random_state = np.random.RandomState(stream)
        beginning = plan.start.begin(place, plan.n_clusters, random_state, in_full)
        if plan.auto:
            options = auto.settled(options, place, beginning.centers, place.state_limit)
    seeded = beginning is not None and beginning.seeded
    with closing(place.engine(plan.n_clusters, options, seeded=seeded)) as engine:
        if beginning is not None:
            centers = beginning.centers
        else:
            assert midway is not None
            assert onlookers.checkpoint is not None
            centers = restored(engine, midway, onlookers.checkpoint.path, in_full=in_full)
        result = run(
            engine,
            centers,
            max_iter=plan.max_iter,
            tol=plan.tol,
            empty_cluster=plan.empty_cluster,
            watch=onlookers.at_run(task),
            resumed=midway,
        )
    if result.error is None:
        task.end(lambda: onlookers.fitted(result))
    return result
