"""What the row state of an algorithm says of every row, read by the names of its arrays.

The arrays mean, after a pass, about the centers of that pass:

- ``lower``, ``upper``, ``uppers``: at most the cosine to the own center; at least the cosine to all
  others; at least the cosine to each. ``tally`` keeps ``lower`` less ``upper`` true, and not each;
- ``own``, ``other``, ``groups``: at least the angle to the own center; at most the angle to all
  others; at most the angle to the others of each group, plus how far the group had moved by then;
- for the sieve, ``lower`` and ``uppers`` in fixed point: see ``sieve_bounds.py``.
"""

from dataclasses import dataclass

import numpy as np

from arcmeans import _core
from arcmeans._centers.placing import sums_of

from .rows import full
from .sieve_bounds import UNIT, lower_now, now

LAST_BITS = 1e-14
"""Of a cosine that the test computes in float64."""


@dataclass
class Said:
    """Bounds on cosines: of each row to its own center, and to each other center."""

    lower: np.ndarray | None
    upper: np.ndarray
    lead: np.ndarray
    """At most the own cosine less any other, or less −1."""


def said(engine):
    """What the row state says; None where the algorithm keeps nothing of a row."""
    state, n, k = engine.state, len(engine.labels), engine.n_clusters
    names = set(state) - {"seconds"}
    if not names:
        return None
    if isinstance(engine.algorithm, _core.native.Sieve):
        return _of_the_sieve(engine)
    if names == {"lower", "uppers"}:
        return _said(state["lower"], state["uppers"].reshape(n, k).astype(float))
    if names == {"lower", "upper"}:
        lower, upper = (state[name].astype(float) for name in ("lower", "upper"))
        if state["lower"].dtype == np.float32:  # tally
            return Said(None, np.repeat(upper[:, None], k, axis=1), lower - upper)
        return _said(lower, np.repeat(upper[:, None], k, axis=1))
    if names in ({"own", "other"}, {"own", "other", "groups"}):
        angles = np.repeat(state["other"][:, None], k, axis=1)
        if "groups" in names:
            groups = engine.algorithm.groups
            of = np.array([groups.group_of(j) for j in range(k)])
            moved = np.array([groups.moved(g) for g in range(groups.size)])
            angles = np.maximum(angles, (state["groups"].reshape(n, -1) - moved)[:, of])
        cosines = (np.cos(np.clip(a, 0.0, np.pi)) for a in (state["own"], angles))
        return _said(*cosines)
    raise AssertionError(f"Say here how the row state {sorted(state)} is read.")


def _said(lower, upper):
    return Said(lower, upper, np.full(len(lower), -np.inf))


def _of_the_sieve(engine):
    rows, aging = engine.rows, engine.algorithm.aging
    groups = _core.native.LineGroups(engine.n_clusters, rows.starts is None)
    of = np.array([groups.of(slot) for slot in aging.slots])
    uppers = now(engine.state["uppers"][:, : groups.count], np.asarray(aging.rises)) / UNIT
    lower = np.maximum(lower_now(engine, slice(None), engine.labels), -2.0)
    return _said(lower.astype(float), uppers[:, of])


def assert_bounds_hold(engine, centers):
    """No bound excludes a center that is more similar than the own one, nor says what is untrue."""
    found = said(engine)
    if found is None:
        return
    rows = engine.rows
    which = np.flatnonzero(rows.zero == 0)
    values = full(rows).astype(np.float64)[which]
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    unit = sums_of(rows, centers).unit(np.float64)
    cosines = values @ (unit if rows.by_rank is None else unit[:, rows.by_rank]).T
    own = np.arange(len(which)), engine.labels[which]
    similarity = cosines[own]
    if found.lower is not None:
        assert np.all(found.lower[which] <= similarity + LAST_BITS)
    cosines[own] = -1.0
    upper = found.upper[which]
    upper[own] = 1.0
    assert np.all(upper >= cosines - LAST_BITS)
    assert np.all(found.lead[which] <= similarity - cosines.max(axis=1) + LAST_BITS)
