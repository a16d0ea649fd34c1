"""Tasks of the seeding on a partition, which its owner runs.

A seed state is what the changing steps so far have made of it, counted by ``done``. So a step that
is asked for a second time is known, and a state that missed steps is not used.
"""

from collections.abc import Sequence
from typing import Any

from .._rows.rows import Rows
from .._seeding.steps import SeedState, Step
from ._exchange import Lost
from ._kept import PartitionSeeding, kept_fit


def seed_step(
    rows: Rows, fit_id: str, number: int, first_row: int, done: int, step: Step[Any]
) -> Any:
    """A step of the seeding; ``done`` steps before it have changed the state of the partition."""
    seedings = kept_fit(fit_id).seedings
    kept = seedings.setdefault(number, PartitionSeeding(SeedState(first_row, n_threads=1)))
    with kept.lock:
        if step.begins_anew():
            kept.state, kept.done = kept.state.fresh(), 0
        if step.changes_state and kept.done == done + 1:
            return kept.answer
        if kept.done != done and step.reads_state:
            return Lost((number,))
        answer = step.on(rows, kept.state)
        if step.changes_state:
            kept.done, kept.answer = done + 1, answer
        return answer


def replay(rows: Rows, fit_id: str, number: int, first_row: int, log: Sequence[Step[Any]]) -> None:
    """Does all steps again that changed the state of a partition."""
    end_seeding(fit_id, number)
    for done, step in enumerate(log):
        seed_step(rows, fit_id, number, first_row, done, step)


def end_seeding(fit_id: str, number: int) -> None:
    """Drops what the seeding keeps of a partition."""
    kept_fit(fit_id).seedings.pop(number, None)
