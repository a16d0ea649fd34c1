"""Ctrl-C without loss: noted where it would strike, acted upon where it does no harm."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_noted() -> Iterator[Callable[[], bool]]:
    """Within, Ctrl-C is noted and not raised, so that it never strikes in the middle of a step.

    It is noted where it would raise KeyboardInterrupt: in the main thread, under Python's own
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
