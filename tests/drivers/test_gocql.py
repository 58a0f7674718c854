"""The Go driver, unmodified, from Go's module proxy: the program is in gocql/. Skipped if it cannot be fetched."""
import shutil

import pytest

from harness import BUILD, FEATURES, HERE, Results, build, examine

SOURCES = HERE / "gocql"


@pytest.fixture(scope="module")
def found():
    results = Results("gocql")
    results.need("go")
    folder = BUILD / "gocql"
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    results.fetch(["go", "mod", "download"], folder, (SOURCES / "go.sum").read_text(encoding="utf-8"))
    build(["go", "build", "-o", "client", "."], folder)
    return examine(results, [str(folder / "client")])


@pytest.mark.parametrize("feature", FEATURES)
def test_feature(found, feature):
    found.require(feature)
