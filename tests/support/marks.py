"""Marks that tests of several files carry."""

import os

import pytest

measures_memory = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer keeps what is freed"
)
