"""Who looks on while a fit goes: a callback, a display, a checkpoint, scikit-learn's tasks.

The loop tells a ``Watch`` when a pass begins, when its labels are known and when the centers have
moved. A run can be stopped where the labels are known and nothing has moved yet: labels and centers
belong together there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._support.progress import Steps
from .checkpoint import Checkpoint
from .records import Iteration, Result
from .saved import Midway
from .tasks import Task


class Display:
    """``verbose``: a step of the progress for each iteration."""

    def __init__(self) -> None:
        self._steps = Steps(unit=" iterations")

    def show(self, step: Iteration) -> None:
        objective = f"objective {step.objective:.6f}, {step.changed} rows changed"
        seconds = step.assign_seconds + step.update_seconds
        line = f"{objective}, {step.similarities} similarities, {seconds:.2f} s"
        self._steps.end(objective, f"iteration {step.iteration}: {line}")

    def close(self) -> None:
        self._steps.close()


@dataclass
class Watch:
    """All that looks on at one run; each part may be absent."""

    callback: Callable[[Iteration], Any] | None = None
    display: Display | None = None
    checkpoint: Checkpoint | None = None
    task: Task | None = None
    """The run, as a task of scikit-learn's."""
    fitted: Callable[[Result], dict[str, Any]] = lambda result: {}
    """The attributes of an estimator fitted with a result."""
    error: BaseException | None = None
    """What a callback raised."""
    _iteration: Task | None = None

    def begin(self) -> None:
        """A pass begins."""
        if self.task is not None:
            self._iteration = self.task.part("iteration", 0)

    def passed(self, step: Iteration, so_far: Callable[[], Result]) -> bool:
        """The labels are known. Whether to stop here; an exception is noted and stops too."""
        stop = False
        try:
            if self.callback is not None:
                stop = bool(self.callback(step) is True)
            if self._iteration is not None:
                stop |= self._iteration.end(lambda: self.fitted(so_far()))
        except BaseException as error:
            self.error = error
            stop = True
        return stop

    def moved(self, step: Iteration, midway: Callable[[], Midway] | None) -> None:
        """The iteration is complete. ``midway``: the run before its next pass, if there is one."""
        if self.display is not None:
            self.display.show(step)
        if self.checkpoint is not None and midway is not None and self.checkpoint.due():
            self.checkpoint.save(midway())

    def ended(self, broken_off: bool, midway: Callable[[], Midway]) -> None:
        """The run is over. Where it was broken off, it can be taken up from ``midway``."""
        if self.display is not None:
            self.display.close()
        if self.checkpoint is not None and broken_off:
            self.checkpoint.save(midway())


@dataclass(frozen=True)
class Onlookers:
    """Who looks on at all runs of a fit."""

    task: Task
    """The fit, as a task of scikit-learn's."""
    fitted: Callable[[Result], dict[str, Any]]
    """The attributes of an estimator fitted with a result."""
    callback: Callable[[Iteration], Any] | None = None
    verbose: bool = False
    checkpoint: Checkpoint | None = None

    def at_run(self, task: Task) -> Watch:
        """All that looks on at one run."""
        return Watch(
            callback=self.callback,
            display=Display() if self.verbose else None,
            checkpoint=self.checkpoint,
            task=task,
            fitted=self.fitted,
        )

    def end_fit(self, last: Result) -> None:
        """The estimator is fitted; ``last`` is how the last run ended."""
        if last.error is not None:
            return
        if self.checkpoint is not None and not last.interrupted:
            self.checkpoint.remove()
        self.task.end(dict)
