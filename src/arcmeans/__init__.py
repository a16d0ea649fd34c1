"""Exact, fast spherical k-means: sparse text vectors first, dense embeddings too."""

from importlib.metadata import version

from . import metrics
from .choose import choose_k
from .config import show_config
from .estimator import SphericalKMeans
from .explanation import explain
from .minibatch import MiniBatchSphericalKMeans
from .result import Iteration
from .seeding import Seeding, seed
from .store import RowStore

__version__ = version("arcmeans")
__all__ = [
    "Iteration",
    "MiniBatchSphericalKMeans",
    "RowStore",
    "Seeding",
    "SphericalKMeans",
    "choose_k",
    "explain",
    "metrics",
    "seed",
    "show_config",
]
