"""Who looks on while a fit goes: a callback, a display, a checkpoint, scikit-learn's tasks.

``best_of_runs`` tells a ``Watch`` where the fit and its runs begin and end, and the loop tells it
where passes and moves do. A run can be stopped between a pass and the move after it: there labels
and centers belong together, so the fit can end with them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .._support.progress import Steps
from .checkpoint import Checkpoint
from .records import Iteration, Result
from .saved import RunState
from .tasks import Task


class Display:
    """``verbose``: the progress of one run, a line for each iteration."""

    def __init__(self) -> None:
        self._steps = Steps(unit=" iterations")

    def show(self, iteration: Iteration) -> None:
        objective = f"objective {iteration.objective:.6f}, {iteration.changed} rows changed"
        seconds = iteration.assign_seconds + iteration.update_seconds
        line = f"{objective}, {iteration.similarities} similarities, {seconds:.2f} s"
        self._steps.end(objective, f"iteration {iteration.iteration}: {line}")

    def close(self) -> None:
        self._steps.close()


@dataclass
class Watch:
    """All that looks on at a fit, one run after another."""

    task: Task = field(default_factory=Task)
    """The fit, as a task of scikit-learn's."""
    attributes_of: Callable[[Result], dict[str, Any]] = lambda result: {}
    """The attributes of an estimator that is fitted with a result."""
    callback: Callable[[Iteration], Any] | None = None
    verbose: bool = False
    checkpoint: Checkpoint | None = None
    error: BaseException | None = None
    """What a callback raised. It stops the run, and the fit after it."""
    _display: Display | None = None
    _run: Task = field(default_factory=Task)
    _iteration: Task = field(default_factory=Task)

    def begin_run(self, max_iter: int) -> None:
        self._display = Display() if self.verbose else None
        self._run = self.task.subtask("run", max_iter)

    def begin_pass(self) -> None:
        self._iteration = self._run.subtask("iteration", 0)

    def end_pass(self, iteration: Iteration, so_far: Callable[[], Result]) -> bool:
        """A pass has found its labels; the centers have not moved. Returns whether to stop here.

        ``so_far`` is the result that the run would end with.
        """
        stop = False
        try:
            if self.callback is not None:
                stop = bool(self.callback(iteration) is True)
            stop |= self._iteration.end(lambda: self.attributes_of(so_far()))
        except BaseException as error:
            self.error = error
            stop = True
        return stop

    def end_iteration(self, iteration: Iteration, run_state: Callable[[], RunState] | None) -> None:
        """The centers have moved; ``run_state`` is None if no pass will follow."""
        if self._display is not None:
            self._display.show(iteration)
        if self.checkpoint is not None and run_state is not None and self.checkpoint.due():
            self.checkpoint.save(run_state())

    def end_passes(self, broken_off: bool, run_state: Callable[[], RunState]) -> None:
        """No pass will follow. A run that was broken off can be resumed from ``run_state``."""
        if self._display is not None:
            self._display.close()
        if self.checkpoint is not None and broken_off:
            self.checkpoint.save(run_state())

    def end_run(self, result: Result) -> None:
        if result.error is None:
            self._run.end(lambda: self.attributes_of(result))

    def end_fit(self, last: Result) -> None:
        """The estimator is fitted; ``last`` is the result of the last run."""
        if last.error is None:
            if self.checkpoint is not None and not last.interrupted:
                self.checkpoint.remove()
            self.task.end(dict)
