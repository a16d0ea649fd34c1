import functools
import signal

import pytest
from hypothesis import settings

from arcmeans import _core

from .cases import CASES

# A shell that runs the tests in the background has them ignore Ctrl-C, and their children too.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No test is about time, not even one example of a property.
settings.register_profile("arcmeans", deadline=None)
settings.load_profile("arcmeans")


@functools.cache
def _case(name):
    return CASES[name]()


@pytest.fixture(params=CASES)
def case(request):
    return _case(request.param)


@pytest.fixture(params=_core.available())
def simd(request, monkeypatch):
    """Every instruction set this machine has, in turn."""
    monkeypatch.setattr(_core, "native", _core.load(request.param))
    return request.param
