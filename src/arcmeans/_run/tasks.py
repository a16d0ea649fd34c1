"""scikit-learn's callbacks (1.9 and later): a fit, its runs and their iterations as tasks."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

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

    def __init__(self, estimator: Any, **arguments: Any) -> None:
        """The whole fit, not begun yet. ``arguments``: X, y and metadata, as the hooks get them."""
        self._estimator, self._arguments = estimator, arguments
        self._context: Any = None

    def begin(self, n_runs: int) -> None:
        """The fit begins."""
        if with_callbacks is not None:
            # scikit-learn documents this method for estimators to call.
            context = self._estimator._init_callback_context(max_subtasks=n_runs)  # noqa: SLF001
            self.enter(context)

    def part(self, name: str, max_subtasks: int | None) -> "Task":
        """The next part of this task, begun."""
        part = Task(self._estimator, **self._arguments)
        if self._context is not None:
            part.enter(self._context.subcontext(task_name=name, max_subtasks=max_subtasks))
        return part

    def end(self, fitted: Callable[[], dict[str, Any]]) -> bool:
        """Whether a hook wants to stop. ``fitted``: the attributes of an estimator fitted so far,
        asked for only if a hook wants one."""
        if self._context is None:
            return False
        stop: bool = self._context.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=fitted, **self._arguments
        )
        return stop

    def enter(self, context: Any) -> None:
        """The task begins, with its context."""
        self._context = context
        context.call_on_fit_task_begin(estimator=self._estimator, **self._arguments)
