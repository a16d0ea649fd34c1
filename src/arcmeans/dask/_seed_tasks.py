"""Tasks of the seeding on a partition."""

from collections.abc import Sequence
from typing import Any

from .._rows.rows import Rows
from .._seeding.steps import SeedState, Step
from ._exchange import Lost
from ._resident import PartitionSeeding, resident


def seed_step(rows: Rows, token: str, part: int, first: int, done: int, step: Step[Any]) -> Any:
    """A step of the seeding; ``done`` steps before it have changed the state of the partition."""
    kept = resident(token).seedings.setdefault(part, PartitionSeeding(SeedState(first, 1)))
    with kept.lock:
        if step.begins_anew():
            kept.state, kept.done = kept.state.fresh(), 0
        if step.changes_state and kept.done == done + 1:
            return kept.answer
        if kept.done != done and step.reads_state:
            return Lost(part)
        answer = step.on(rows, kept.state)
        if step.changes_state:
            kept.done, kept.answer = done + 1, answer
        return answer


def replay(rows: Rows, token: str, part: int, first: int, log: Sequence[Step[Any]]) -> None:
    """Does all steps again that changed the state of a partition."""
    resident(token).seedings.pop(part, None)
    for done, step in enumerate(log):
        seed_step(rows, token, part, first, done, step)


def end_seeding(token: str, part: int) -> None:
    """Drops what the seeding keeps of a partition."""
    resident(token).seedings.pop(part, None)
