"""What the engines of several parts have to say together."""

from collections.abc import Iterable


def fingerprint_of(parts: Iterable[int]) -> int:
    """The fingerprint of all rows from those of their parts: the sum of 64 bits, in 64 bits."""
    total = sum(parts) % 2**64
    return total - 2**64 if total >= 2**63 else total
