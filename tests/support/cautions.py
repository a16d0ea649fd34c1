"""Which warnings are of arcmeans' own: those that go through ``arcmeans.caution``."""

import functools
import warnings
from types import SimpleNamespace

from arcmeans._support import caution


class Caution(Warning):
    """Base of the categories that the warnings of arcmeans have in the tests, beside their own."""


@functools.cache
def _marked(category):
    return type(category.__name__, (category, Caution), {})


def _warn(message, category, stacklevel):
    warnings.warn(message, _marked(category), stacklevel=stacklevel + 1)


def mark():
    """From now on a filter can tell them from all others."""
    caution.warnings = SimpleNamespace(warn=_warn)
