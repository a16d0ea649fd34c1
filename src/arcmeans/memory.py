"""The memory a fit needs, before it is begun, and what this process may use."""

from ._algorithms.memory import required
from ._support.memory import available

__all__ = ["available", "required"]
