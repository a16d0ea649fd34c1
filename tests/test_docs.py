"""The examples in README and docstrings run and say what is true."""

import doctest
from pathlib import Path

import arcmeans.estimator

README = Path(__file__).parent.parent / "README.md"


def test_readme():
    found = doctest.testfile(str(README), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0


def test_docstrings():
    found = doctest.testmod(arcmeans.estimator)
    assert found.attempted > 0
    assert found.failed == 0
