"""The newest Python driver from PyPI, unmodified, in a separate environment. Skipped if it cannot be fetched."""
import venv

import pytest

from harness import BUILD, FEATURES, HERE, Results, examine

PACKAGES = "cassandra-driver==3.30.1 lz4 python-snappy"


@pytest.fixture(scope="module")
def found():
    results = Results("python-pypi")
    folder = BUILD / "python-pypi"
    if not (folder / "bin/pip").exists():
        venv.create(folder, with_pip=True)
    results.fetch(["bin/pip", "install", "-q", "--disable-pip-version-check", "--prefer-binary", *PACKAGES.split()], folder, PACKAGES)
    return examine(results, [str(folder / "bin/python"), str(HERE / "python/client.py")])


@pytest.mark.parametrize("feature", FEATURES)
def test_feature(found, feature):
    found.require(feature)
