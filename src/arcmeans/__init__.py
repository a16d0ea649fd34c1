"""Exact, fast spherical k-means: sparse text vectors first, dense embeddings too."""

import importlib
from importlib.metadata import version
from types import ModuleType

from ._analysis.explain import explain
from ._api.choose_k import choose_k
from ._api.config import show_config
from ._api.kmeans import SphericalKMeans
from ._api.minibatch import MiniBatchSphericalKMeans
from ._api.seed import Seeding, seed
from ._rows.store import RowStore
from ._run.records import Iteration

_MODULES = ("dask", "datasets", "memory", "metrics")
"""Public modules, each loaded when it is first used."""

__version__ = version("arcmeans")
__all__ = [
    "Iteration",
    "MiniBatchSphericalKMeans",
    "RowStore",
    "Seeding",
    "SphericalKMeans",
    "choose_k",
    "explain",
    "seed",
    "show_config",
]
for _name in __all__:  # pickles, help() and error messages say where a caller finds it
    globals()[_name].__module__ = __name__
del _name


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
