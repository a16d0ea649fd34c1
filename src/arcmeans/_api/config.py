"""What this installation is made of."""

import importlib.metadata
import platform

from .. import _core
from .._support.cpus import usable_cpus

_DEPENDENCIES = ("numpy", "scipy", "scikit-learn", "joblib")


def config() -> dict[str, str]:
    """Version, instruction set, threads and the versions of the dependencies."""
    lines = {
        "arcmeans": importlib.metadata.version("arcmeans"),
        "instruction set": f"{_core.simd} (available: {', '.join(_core.available())}; "
        f"{_core.VARIABLE} forces a lower one)",
        "threads": str(usable_cpus()),
        "python": platform.python_version(),
    }
    for name in _DEPENDENCIES:
        lines[name] = importlib.metadata.version(name)
    return lines


def show_config() -> None:
    """Print version, instruction set, threads and the versions of the dependencies."""
    lines = config()
    width = max(map(len, lines))
    for key, value in lines.items():
        print(f"{key:<{width}}  {value}")
