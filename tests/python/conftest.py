"""Tests of the Python package: run by ctest with the package of the build first on the path."""
import numpy
import pytest


@pytest.fixture
def rng():
    return numpy.random.default_rng(0)
