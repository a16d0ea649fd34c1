"""The parameters of the methods that choose initial centers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SeedOptions:
    """The parameters of all methods; each method reads those that concern it."""

    alpha: float = 1.0
    """Rows are drawn in proportion to alpha − (their largest similarity to a seed)."""
    chain_length: int = 200
    """Steps of each Markov chain of afk-mc2."""
    n_local_trials: int | None = None
    """Candidates for each seed of greedy-k-means++; None: 2 + ⌊ln n_clusters⌋."""
    oversampling: float = 2.0
    """k-means|| draws about this times n_clusters candidates in a round."""
    rounds: int = 5
    """Rounds of k-means||."""
