"""The native core, compiled once for each instruction set and chosen here.

``native`` is the core in use. The environment variable ``ARCMEANS_SIMD`` (``baseline``, ``avx2``,
``avx512``) forces a lower one than the processor has; results are the same bits on all of them.
"""

import importlib
import importlib.util
import os
from types import ModuleType
from typing import TYPE_CHECKING

from . import _cpu

VARIABLE = "ARCMEANS_SIMD"


def available() -> list[str]:
    """Instruction sets this build has and this processor runs, lowest first."""
    return [
        name
        for name in _cpu.supported()
        if importlib.util.find_spec(f"{__name__}._{name}") is not None
    ]


def load(name: str) -> ModuleType:
    """The core compiled for one instruction set."""
    return importlib.import_module(f"{__name__}._{name}")


def choose() -> str:
    """The instruction set asked for by the environment, or the highest."""
    names = available()
    wanted = os.environ.get(VARIABLE, "").strip().lower()
    if not wanted:
        return names[-1]
    if wanted not in names:
        raise ImportError(
            f"{VARIABLE}={wanted!r} is not an instruction set of this build and processor; "
            f"use one of {', '.join(names)}, or leave it unset for the best."
        )
    return wanted


simd = choose()
if TYPE_CHECKING:
    from . import native
else:
    native = load(simd)
