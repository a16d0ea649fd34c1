"""The loop: assign, move, record, stop. Once, for every algorithm and every engine."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import numpy as np

from . import _core
from .centers import sums_of
from .engine import Engine
from .result import Iteration, Result, StopReason

EmptyCluster = Literal["relocate", "keep"]
EMPTY_CLUSTER = ("relocate", "keep")


def run(
    engine: Engine,
    centers: _core.native.Centers,
    *,
    max_iter: int = 300,
    tol: float = 0.0,
    empty_cluster: EmptyCluster = "relocate",
    report: Callable[[Iteration], None] | None = None,
) -> Result:
    """Alternate between assigning rows and moving centers until a reason to stop.

    The run ends after an assign pass, before the centers move again, so the labels always are
    those of the centers returned. Ctrl-C takes effect there too: the result so far is returned,
    marked as interrupted.
    """
    iterations: list[Iteration] = []
    stopped: StopReason | None = None
    objective = -np.inf
    with _interrupts_noted() as interrupted:
        while stopped is None:
            started = time.perf_counter()
            before = objective
            work = engine.assign(centers)
            assigned = time.perf_counter()
            changes = engine.sum_changes() if work.changed else None
            objective = centers.objective(changes) / engine.rows.weight_scale

            if work.changed == 0:
                stopped = "converged"
            elif interrupted():
                stopped = "interrupted"
            elif len(iterations) + 1 >= max_iter:
                stopped = "max_iter"
            elif tol > 0 and objective - before <= tol * abs(objective):
                stopped = "tol"
            relocated, movement = 0, 0.0
            if stopped is None:
                assert changes is not None  # rows changed, or the run had converged
                if empty_cluster == "relocate":
                    relocated = engine.relocate(centers)
                if relocated:
                    changes = engine.sum_changes()
                centers.move(changes, engine.options.n_threads)
                movement = float(centers.chords.max())
            iterations.append(
                Iteration(
                    iteration=len(iterations) + 1,
                    similarities=work.similarities,
                    center_similarities=work.center_similarities,
                    reused=work.reused,
                    exact_decisions=work.exact_decisions,
                    skipped_by_bounds=work.skipped_by_bounds,
                    skipped_by_centers=work.skipped_by_centers,
                    changed=work.changed,
                    relocated=relocated,
                    objective=objective,
                    movement=movement,
                    assign_seconds=assigned - started,
                    update_seconds=time.perf_counter() - assigned,
                )
            )
            if report is not None:
                report(iterations[-1])
        return Result(
            labels=engine.labels,
            centers=sums_of(engine.rows, centers),
            objective=objective,
            iterations=iterations,
            stopped=stopped,
            interrupted=interrupted(),
        )


@contextmanager
def _interrupts_noted() -> Iterator[Callable[[], bool]]:
    """Ctrl-C is noted instead of raised, so that it never strikes in the middle of a step.

    Only where it would raise KeyboardInterrupt here: in the main thread, under Python's own
    handler. Other handlers are left in charge.
    """
    noted = threading.Event()
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if ours:
        signal.signal(signal.SIGINT, lambda *_: noted.set())
    try:
        yield noted.is_set
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
