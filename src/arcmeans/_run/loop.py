"""The loop: assign, move, record, stop. Once, for every algorithm and every engine."""

import time
from dataclasses import replace
from typing import Literal

import numpy as np

from .. import _core
from .._centers.placing import sums_of
from .._engines.protocol import PassEngine
from .._support.interrupts import interrupts_noted
from .records import Iteration, Result, StopReason
from .saved import Midway
from .watch import Watch

EmptyCluster = Literal["relocate", "keep"]
EMPTY_CLUSTER = ("relocate", "keep")


def run(
    engine: PassEngine,
    centers: _core.native.Centers,
    *,
    max_iter: int = 300,
    tol: float = 0.0,
    empty_cluster: EmptyCluster = "relocate",
    watch: Watch | None = None,
    resumed: Midway | None = None,
) -> Result:
    """Alternate between assigning rows and moving centers until a reason to stop.

    The run ends after an assign pass, before the centers move again, so the labels always are
    those of the centers returned. Ctrl-C and callbacks take effect there too: the result so far is
    returned. With ``resumed``, engine and ``centers`` are those restored from it.
    """
    watch = watch or Watch()
    iterations = list(resumed.iterations) if resumed else []
    objective = iterations[-1].objective if iterations else -np.inf
    stopped: StopReason | None = None

    def result() -> Result:
        return Result(
            labels=engine.labels,
            centers=sums_of(engine.census, centers),
            objective=objective,
            iterations=iterations,
            stopped=stopped or "callback",
            used=engine.count_used(),
            interrupted=interrupted(),
            error=watch.error,
        )

    def midway() -> Midway:
        before = engine.labels if stopped is None else engine.previous_labels
        done = iterations if stopped is None else iterations[:-1]
        return Midway(before, sums_of(engine.census, centers), done)

    with interrupts_noted() as interrupted:
        while stopped is None:
            watch.begin()
            before = objective
            step, changes = _assign(engine, centers, len(iterations) + 1)
            objective = step.objective
            iterations.append(step)
            asked = watch.passed(step, result)
            if step.changed == 0:
                stopped = "converged"
            elif interrupted():
                stopped = "interrupted"
            elif asked:
                stopped = "callback"
            elif len(iterations) >= max_iter:
                stopped = "max_iter"
            elif _seen_before(step, iterations[:-1]):
                stopped = "cycle"
            elif tol > 0 and objective - before <= tol * abs(objective):
                stopped = "tol"
            else:
                iterations[-1] = step = _move(engine, centers, step, changes, empty_cluster)
            watch.moved(step, midway if stopped is None else None)
        watch.ended(interrupted() or watch.error is not None, midway)
        return result()


def _seen_before(step: Iteration, earlier: list[Iteration]) -> bool:
    """Whether the run is back at labels it had, with the same objective: it would go on for ever.

    Only rows closer to two centers than the reference similarity can tell make it do so.
    """
    return any(step.fingerprint == i.fingerprint and step.objective == i.objective for i in earlier)


def _assign(
    engine: PassEngine, centers: _core.native.Centers, number: int
) -> tuple[Iteration, _core.native.SumChanges | None]:
    """One pass: what it did, and how the sums change by it; None where no label changed."""
    started = time.perf_counter()
    work = engine.assign(centers)
    assigned = time.perf_counter()
    changes = engine.sum_changes() if work.changed else None
    step = Iteration(
        iteration=number,
        similarities=work.similarities,
        lines=work.lines,
        center_similarities=work.center_similarities,
        reused=work.reused,
        exact_decisions=work.exact_decisions,
        skipped_by_bounds=work.skipped_by_bounds,
        skipped_by_centers=work.skipped_by_centers,
        changed=work.changed,
        relocated=0,
        objective=centers.objective(changes) / engine.census.weight_scale,
        fingerprint=engine.fingerprint(),
        movement=0.0,
        assign_seconds=assigned - started,
        update_seconds=0.0,
    )
    return replace(step, update_seconds=time.perf_counter() - assigned), changes


def _move(
    engine: PassEngine,
    centers: _core.native.Centers,
    step: Iteration,
    changes: _core.native.SumChanges | None,
    empty_cluster: EmptyCluster,
) -> Iteration:
    """The centers go to their new sums: the iteration with what is to be said of that."""
    assert changes is not None  # rows changed, or the run had converged
    started = time.perf_counter()
    relocated = engine.relocate(centers) if empty_cluster == "relocate" else 0
    if relocated:
        changes = engine.sum_changes()
    engine.move(centers, changes)
    return replace(
        step,
        relocated=relocated,
        movement=float(centers.chords.max()),
        update_seconds=step.update_seconds + time.perf_counter() - started,
    )
