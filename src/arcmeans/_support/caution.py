"""Warnings that point at the caller's line, however deep inside they arise."""

import inspect
import warnings

_INSIDE = ("arcmeans", "sklearn", "contextlib")


def caution(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, with the position of the first frame outside the library."""
    level, frame = 1, inspect.currentframe()
    while frame and frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
