"""Random keys: a number for each of many things, from the random state and the thing's own number.

A draw by keys depends neither on the order of the things nor on the parts they lie in.
"""

import numpy as np
from numpy.typing import NDArray


def scrambled(numbers: NDArray[np.uint64], salt: int) -> NDArray[np.uint64]:
    """Random keys for numbers: SplitMix64's finalizer (Steele, Lea and Flood, 2014), seeded."""
    keys = numbers ^ np.uint64(salt)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
    return keys ^ (keys >> np.uint64(31))


def salt(random_state: np.random.RandomState) -> int:
    """64 random bits."""
    high, low = random_state.randint(2**32, size=2, dtype=np.int64)
    return (int(high) << 32) | int(low)
