"""The Go driver of major version 1, unmodified, from Go's module proxy: the program is in gocql1/ and uses files
of gocql/. Skipped if it cannot be fetched."""
import shutil

import pytest

from harness import BUILD, FEATURES, HERE, Results, build, examine

SOURCES, SHARED = HERE / "gocql1", HERE / "gocql"


@pytest.fixture(scope="module")
def found():
    results = Results("gocql-1")
    results.need("go")
    folder = BUILD / "gocql-1"
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    for name in ("checks.go", "schema_changes.go"):
        text = (SHARED / name).read_text(encoding="utf-8")
        text = text.replace("github.com/apache/cassandra-gocql-driver/v2", "github.com/gocql/gocql")
        (folder / name).write_text(text, encoding="utf-8")
    results.fetch(["go", "mod", "download"], folder, (SOURCES / "go.sum").read_text(encoding="utf-8"))
    build(["go", "build", "-o", "client", "."], folder)
    return examine(results, [str(folder / "client")])


@pytest.mark.parametrize("feature", FEATURES)
def test_feature(found, feature):
    found.require(feature)
