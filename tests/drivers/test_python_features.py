"""Runs python/client.py with Debian's Python driver, which also runs these tests."""
import pytest

from harness import FEATURES, HERE, Results, examine


@pytest.fixture(scope="module")
def found():
    return examine(Results("python-debian"), ["/usr/bin/python3", str(HERE / "python/client.py")])


@pytest.mark.parametrize("feature", FEATURES)
def test_feature(found, feature):
    found.require(feature)
