"""Spherical k-means on a Dask cluster: the same loop, parameters and bits as on one machine."""

try:
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"arcmeans.dask needs a package that is not installed ({error}): pip install arcmeans[dask]"
    ) from error

from ._estimator import SphericalKMeans

__all__ = ["SphericalKMeans"]
SphericalKMeans.__module__ = __name__  # pickles and help() say where a caller finds it
