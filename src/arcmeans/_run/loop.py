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
from .saved import RunState
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
    resumed: RunState | None = None,
) -> Result:
    """Alternate between passes and moves until there is a reason to stop.

    A run ends after a pass, before the centers move again, so labels and centers of the result
    belong together. Ctrl-C and callbacks take effect there too. With ``resumed``, engine and
    ``centers`` come from ``restored_centers``, and the iterations go on from its own.
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

    def run_state() -> RunState:
        """Before the next pass; if the run has stopped, before the last pass, to be repeated."""
        labels = engine.labels if stopped is None else engine.previous_labels
        done = iterations if stopped is None else iterations[:-1]
        return RunState(labels, sums_of(engine.census, centers), done)

    with interrupts_noted() as interrupted:
        while stopped is None:
            watch.begin_pass()
            before = objective
            iteration, changes = _assign(engine, centers, len(iterations) + 1)
            objective = iteration.objective
            iterations.append(iteration)
            asked = watch.end_pass(iteration, result)
            if iteration.changed == 0:
                stopped = "converged"
            elif interrupted():
                stopped = "interrupted"
            elif asked:
                stopped = "callback"
            elif len(iterations) >= max_iter:
                stopped = "max_iter"
            elif _seen_before(iteration, iterations[:-1]):
                stopped = "cycle"
            elif tol > 0 and objective - before <= tol * abs(objective):
                stopped = "tol"
            else:
                iteration = _move(engine, centers, iteration, changes, empty_cluster)
                iterations[-1] = iteration
            watch.end_iteration(iteration, run_state if stopped is None else None)
        watch.end_passes(interrupted() or watch.error is not None, run_state)
        return result()


def _seen_before(last: Iteration, earlier: list[Iteration]) -> bool:
    """Whether the run is back at labels it had, with the same objective: it would go on for ever.

    That takes rows whose two best cosines differ by less than the reference error.
    """
    return any(last.fingerprint == i.fingerprint and last.objective == i.objective for i in earlier)


def _assign(
    engine: PassEngine, centers: _core.native.Centers, number: int
) -> tuple[Iteration, _core.native.SumChanges | None]:
    """One pass: what it did, and how the sums change by it; None where no label changed."""
    started = time.perf_counter()
    work = engine.assign(centers)
    assigned = time.perf_counter()
    changes = engine.sum_changes() if work.changed else None
    iteration = Iteration(
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
    return replace(iteration, update_seconds=time.perf_counter() - assigned), changes


def _move(
    engine: PassEngine,
    centers: _core.native.Centers,
    iteration: Iteration,
    changes: _core.native.SumChanges | None,
    empty_cluster: EmptyCluster,
) -> Iteration:
    """Relocates rows and moves the centers; returns the iteration with what that did."""
    assert changes is not None  # rows changed, or the run had converged
    started = time.perf_counter()
    relocated = engine.relocate(centers) if empty_cluster == "relocate" else 0
    if relocated:
        changes = engine.sum_changes()
    engine.move(centers, changes)
    return replace(
        iteration,
        relocated=relocated,
        movement=float(centers.chords.max()),
        update_seconds=iteration.update_seconds + time.perf_counter() - started,
    )
