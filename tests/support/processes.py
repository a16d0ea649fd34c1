"""A function in a process of its own, which may be killed, interrupted or measured.

The process is a fork of the one that runs the tests and has its modules already: a new interpreter
takes more than a second to import them. Tests of what an import does start an interpreter.
"""

import ctypes
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
reads_proc = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@dataclass(frozen=True)
class Ended:
    """A process that ended: ``code`` is below zero for the signal that killed it."""

    code: int
    out: str
    err: str


def run(
    function: Callable[..., Any],
    *arguments: Any,
    env: Mapping[str, str] | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
) -> Ended:
    """Calls a function in a fork; ``stdout`` and ``stderr`` are file descriptors, or are captured.

    As for a command, ``sys.exit`` and an exception end the process with their exit code.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        streams = (
            out.fileno() if stdout is None else stdout,
            err.fileno() if stderr is None else stderr,
        )
        process = multiprocessing.get_context("fork").Process(
            target=_called, args=(function, arguments, env or {}, streams)
        )
        process.start()
        process.join(120)
        if process.exitcode is None:
            process.kill()
            process.join()
        assert process.exitcode is not None
        out.seek(0)
        err.seek(0)
        return Ended(process.exitcode, out.read(), err.read())


def _called(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    env: Mapping[str, str],
    streams: tuple[int, int],
) -> None:
    os.environ.update(env)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.resetwarnings()  # those of the test are errors
    for stream, number in zip(streams, (1, 2), strict=True):
        os.dup2(stream, number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
    function(*arguments)


def run_for_a_line(function: Callable[..., Any], *arguments: Any) -> Ended:
    """Calls a function in a fork; whoever reads its standard output leaves after a line."""

    def alone() -> None:
        os.close(near)
        function(*arguments)

    def read() -> None:
        with open(near, "rb", buffering=0) as file:
            lines.append(file.readline())

    near, far = os.pipe()
    lines: list[bytes] = []
    reader = threading.Thread(target=read)
    reader.start()
    ended = run(alone, stdout=far)
    os.close(far)
    reader.join()
    return Ended(ended.code, lines[0].decode(), ended.err)


def kill_me(*_: object, **__: object) -> None:
    """Ends this process as a crash of the machine would: nothing is cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)


def status_mb(name: str) -> float:
    """A size that Linux tells of this process, such as ``VmHWM`` or ``RssAnon``, in megabytes."""
    found = re.search(rf"^{name}:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.M)
    assert found is not None
    return int(found[1]) / 1024


def forget_peak() -> None:
    """Gives back what is free, and lets ``VmHWM`` begin anew from what is taken now."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
