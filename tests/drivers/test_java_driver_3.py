"""The Java driver 3, unmodified, from Maven's central repository: the program is in java3/. Skipped if it cannot be fetched."""
import shutil

import pytest

from harness import BUILD, FEATURES, HERE, Results, build, examine

SOURCES = HERE / "java3"


@pytest.fixture(scope="module")
def found():
    results = Results("java-driver-3")
    results.need("java", "javac", "mvn")
    folder = BUILD / "java-driver-3"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(SOURCES / "pom.xml", folder)
    results.fetch(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"], folder,
                  (SOURCES / "pom.xml").read_text(encoding="utf-8"))
    build(["javac", "-cp", "jars/*", "-d", "classes", *map(str, sorted(SOURCES.glob("*.java"))), str(HERE / "java/Checks.java")], folder)
    return examine(results, ["java", "-Xmx512m", "-cp", f"{folder}/classes:{folder}/jars/*", "Client3"])


@pytest.mark.parametrize("feature", FEATURES)
def test_feature(found, feature):
    found.require(feature)
