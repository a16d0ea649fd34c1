"""Measuring side by side: in one process, on one thread, in turns.

A machine that others use is faster at one moment than at the next. Peers that take turns share its
good and bad moments, and the least of several CPU times is the one that was disturbed the least.
"""

import gc
import math
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

LEAST_SECONDS = 3.0

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Measured:
    """One piece of work, done several times."""

    seconds: float
    """The least CPU time, of all threads together."""
    result: Any
    """What the last repetition returned."""


def in_turns(
    works: Mapping[Name, Callable[[], Any]], repeats: int, least_seconds: float = LEAST_SECONDS
) -> dict[Name, Measured]:
    """Do every work in turn, with BLAS and OpenMP on one thread.

    ``repeats`` times over, and short works more often: until ``least_seconds`` were spent. Forth
    and back, so that none always comes after the same other one, with the memory that leaves.
    """
    order = list(works.items())
    seconds = dict.fromkeys(works, math.inf)
    results: dict[Name, Any] = {}
    with threadpool_limits(limits=1):
        began = time.process_time()
        while repeats > 0 or time.process_time() - began < least_seconds:
            repeats -= 1
            for name, work in order:
                gc.collect()
                started = time.process_time()
                results[name] = work()
                seconds[name] = min(seconds[name], time.process_time() - started)
            order.reverse()
    return {name: Measured(seconds[name], results[name]) for name in works}
