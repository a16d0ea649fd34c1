"""Checks of parameters that depend on each other, or on what was fitted before."""

from typing import Any

from .._support.checks import check_integer


def check_groups(n_groups: Any, n_clusters: int, algorithm: str) -> None:
    """The groups of yinyang; where another algorithm runs, n_clusters may be fewer."""
    if n_groups is None:
        return
    check_integer("n_groups", n_groups, 1)
    if algorithm == "yinyang" and n_groups > n_clusters:
        raise ValueError(f"n_groups={n_groups} should be <= n_clusters={n_clusters}.")


def check_warm_start(X: Any, n_clusters: int, fitted_clusters: int, fitted_features: int) -> None:
    """A warm start needs centers of the right number and length."""
    if n_clusters != fitted_clusters:
        raise ValueError(
            f"warm_start=True begins at the fitted centers: n_clusters={n_clusters} should be the "
            f"{fitted_clusters} that were fitted."
        )
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and shape[1] != fitted_features:
        raise ValueError(
            f"warm_start=True begins at the fitted centers: X has {shape[1]} features, but should "
            f"have the {fitted_features} that were fitted."
        )
