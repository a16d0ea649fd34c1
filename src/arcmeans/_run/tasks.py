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
    """A task of scikit-learn's callbacks: a fit, a run or an iteration.

    Without an estimator, or where scikit-learn has no callbacks, it does nothing.
    """

    def __init__(self, estimator: Any = None, **arguments: Any) -> None:
        """A fit that has not begun. ``arguments`` are X, y and metadata, as the hooks get them."""
        self._estimator, self._arguments = estimator, arguments
        self._context: Any = None

    def begin_fit(self, n_runs: int) -> None:
        if with_callbacks is not None and self._estimator is not None:
            # scikit-learn documents this method for estimators to call.
            context = self._estimator._init_callback_context(max_subtasks=n_runs)  # noqa: SLF001
            self._begin(context)

    def subtask(self, name: str, max_subtasks: int | None) -> "Task":
        """The next part of this task, begun."""
        subtask = Task(self._estimator, **self._arguments)
        if self._context is not None:
            subtask._begin(self._context.subcontext(task_name=name, max_subtasks=max_subtasks))
        return subtask

    def end(self, attributes: Callable[[], dict[str, Any]]) -> bool:
        """Whether a hook wants to stop.

        ``attributes`` are those of an estimator fitted so far. They are made if a hook wants them.
        """
        if self._context is None:
            return False
        stop: bool = self._context.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=attributes, **self._arguments
        )
        return stop

    def _begin(self, context: Any) -> None:
        self._context = context
        context.call_on_fit_task_begin(estimator=self._estimator, **self._arguments)
