"""Angles and chords that Hypothesis draws, with those where rounding matters."""

import numpy as np
from hypothesis import strategies as st

angles = st.floats(0.0, np.pi) | st.floats(0.0, 1e-6) | st.floats(np.pi - 1e-6, np.pi)


chords = (
    st.floats(0.0, 2.0) | st.floats(0.0, 1e-7) | st.floats(1.999, 2.0) | st.sampled_from([0.0, 2.0])
)


def turn(chord):
    """The angle between two unit vectors whose difference has this length."""
    return 2.0 * np.arcsin(chord / 2.0)


def around(angle):
    """The cosine of an angle, rounded down and rounded up: bounds to begin with."""
    cosine = float(np.cos(angle))
    return max(-1.0, np.nextafter(cosine, -2.0)), min(1.0, np.nextafter(cosine, 2.0))
