"""Exact, fast spherical k-means: sparse text vectors first, dense embeddings too."""

from importlib.metadata import version

from .config import show_config
from .estimator import SphericalKMeans
from .result import Iteration
from .seeding import Seeding, seed

__version__ = version("arcmeans")
__all__ = ["Iteration", "Seeding", "SphericalKMeans", "seed", "show_config"]
