"""The examples in README and docstrings run and say what is true."""

import doctest
import importlib
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_readme():
    found = doctest.testfile(str(README), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize(
    "module", ["arcmeans._api.kmeans", "arcmeans._api.minibatch", "arcmeans._rows.store"]
)
def test_docstrings(module):
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted > 0
    assert found.failed == 0
