"""Who looks on while a fit goes: a callback, a display, a checkpoint, scikit-learn's tasks.

The loop tells a ``Watch`` when a pass begins, when its labels are known and when the centers have
moved. A run can be stopped where the labels are known and nothing has moved yet: labels and centers
belong together there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from .._support.progress import Steps
from .checkpoint import Checkpoint, Midway
from .records import Iteration, Result

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks
except ImportError:
    with_callbacks = None

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """scikit-learn before 1.9 has no callbacks."""


_Method = TypeVar("_Method", bound=Callable[..., Any])


def with_tasks(method: _Method) -> _Method:
    """A method within which scikit-learn's callbacks are set up and torn down."""
    return method if with_callbacks is None else cast(_Method, with_callbacks(method))


class Task:
    """A task of scikit-learn's callbacks (fit, a run, an iteration); nothing where it has none."""

    def __init__(self, estimator: Any, context: Any, **arguments: Any) -> None:
        self._estimator, self._context, self._arguments = estimator, context, arguments

    @classmethod
    def fit(cls, estimator: Any, n_runs: int, **arguments: Any) -> "Task":
        """The whole fit, begun. ``arguments``: X, y and metadata, as the hooks get them."""
        context = None
        if with_callbacks is not None:
            context = estimator._init_callback_context(max_subtasks=n_runs)
        return cls(estimator, context, **arguments)._begun()

    def part(self, name: str, max_subtasks: int | None) -> "Task":
        """The next part of this task, begun."""
        context = self._context
        if context is not None:
            context = context.subcontext(task_name=name, max_subtasks=max_subtasks)
        return Task(self._estimator, context, **self._arguments)._begun()

    def end(self, fitted: Callable[[], dict[str, Any]]) -> bool:
        """Whether a hook wants to stop. ``fitted``: the attributes of an estimator fitted so far,
        asked for only if a hook wants one."""
        if self._context is None:
            return False
        stop: bool = self._context.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=fitted, **self._arguments
        )
        return stop

    def _begun(self) -> "Task":
        if self._context is not None:
            self._context.call_on_fit_task_begin(estimator=self._estimator, **self._arguments)
        return self


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
