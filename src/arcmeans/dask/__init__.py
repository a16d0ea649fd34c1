"""Spherical k-means on a Dask cluster: the same loop, parameters and bits as on one machine.

Needs ``pip install arcmeans[dask]``.
"""

from .estimator import SphericalKMeans

__all__ = ["SphericalKMeans"]
