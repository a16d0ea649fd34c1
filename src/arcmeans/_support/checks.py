"""Checks of parameters: an error names the parameter, its value and the limit, before any work."""

import difflib
import math
import numbers
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from .cpus import usable_cpus

MOST_THREADS = 1024
"""More threads are of no use and only cost."""


def check_integer(name: str, value: Any, least: int) -> None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} should be an integer >= {least}.")


def check_number(name: str, value: Any, least: float) -> None:
    if not isinstance(value, numbers.Real) or not (least <= float(value) < math.inf):
        raise ValueError(f"{name}={value!r} should be a number >= {least:g}.")


def check_option(name: str, value: Any, options: Iterable[str], or_else: str = "") -> None:
    options = tuple(options)
    if value in options:
        return
    near = difflib.get_close_matches(str(value), options, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    listed = ", ".join(repr(option) for option in options)
    raise ValueError(f"{name}={value!r} should be one of {listed}{or_else}.{hint}")


def check_flag(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r} should be True or False.")


def check_callable(name: str, value: Any) -> None:
    if value is not None and not callable(value):
        raise ValueError(f"{name}={value!r} should be None or a callable.")


def check_path(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, (str, os.PathLike)):
        raise ValueError(f"{name}={value!r} should be None or the path of a file.")


def threads(n_threads: int | None) -> int:
    """The number of threads asked for, or that of the processors this process may use."""
    if n_threads is None:
        return usable_cpus()
    check_integer("n_threads", n_threads, 1)
    return min(int(n_threads), MOST_THREADS)
