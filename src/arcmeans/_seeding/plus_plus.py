"""k-means++ (Arthur and Vassilvitskii, 2007) by cosine, as in the paper, and its greedy form.

The first seed is drawn by weight alone, each other in proportion to weight·(alpha − the largest
similarity to a seed). With alpha = 1.5 the dissimilarity is a metric (Endo and Miyamoto, 2015).

Both compare every row with every seed on the way, which is what the first pass would compute: it
is kept, and the loop begins with it.
"""

import numpy as np

from .options import SeedOptions
from .search import Chosen, Seeding
from .steps import SeedPlace


def plus_plus(
    place: SeedPlace, n_clusters: int, options: SeedOptions, random_state: np.random.RandomState
) -> Chosen:
    """One draw for each seed."""
    seeding = Seeding(place, n_clusters, random_state)
    while len(seeding.indices) < n_clusters and (drawn := seeding.draw(options.alpha)):
        seeding.choose(drawn[0])
    return np.array(seeding.indices), seeding


def greedy_plus_plus(
    place: SeedPlace, n_clusters: int, options: SeedOptions, random_state: np.random.RandomState
) -> Chosen:
    """Several draws for each seed, of which the best is kept."""
    trials = options.n_local_trials or 2 + int(np.log(n_clusters))
    seeding = Seeding(place, n_clusters * trials, random_state)
    seeding.choose(seeding.draw(options.alpha)[0])
    while len(seeding.indices) < n_clusters and (drawn := seeding.draw(options.alpha, trials)):
        seeding.choose_among(list(dict.fromkeys(drawn)), options.alpha)
    return np.array(seeding.indices), seeding
