"""How many processors this process may use."""

import joblib


def usable_cpus() -> int:
    """The processors this process may use: affinity and container limits are respected."""
    return int(joblib.cpu_count())
