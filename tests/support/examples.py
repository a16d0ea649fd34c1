"""How many examples Hypothesis draws of a property."""

from hypothesis import settings


def examples(number: int) -> settings:
    """So many, or ten times as many under ``--hypothesis-profile=long``."""
    return settings(max_examples=number * settings.default.max_examples // 100)
