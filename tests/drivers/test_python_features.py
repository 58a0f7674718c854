"""One program, python/client.py, with the Python driver that runs these tests: Debian's."""
import pytest

from harness import FEATURES, HERE, Results, examine


@pytest.fixture(scope="module")
def found():
    return examine(Results("python-debian"), ["/usr/bin/python3", str(HERE / "python/client.py")])


@pytest.mark.parametrize("feature", FEATURES)
def test_feature(found, feature):
    found.require(feature)
