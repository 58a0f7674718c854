"""The Node driver, unmodified: installs it with npm, then runs node/client.js against a server."""
import shutil
import subprocess

import pytest

from harness import BUILD, FEATURES, HERE, Results, examine

SOURCES = HERE / "node"


@pytest.fixture(scope="module")
def found():
    results = Results("node")
    folder = BUILD / "node"
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
    installed = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, text=True,
                               timeout=300, check=False)
    said = installed.stderr + installed.stdout
    unreachable = [code for code in ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH") if code in said]
    if installed.returncode != 0 and unreachable:
        results.skip(f"the npm registry does not answer: {unreachable[0]}")
    assert installed.returncode == 0, installed.stderr
    return examine(results, ["node", str(folder / "client.js")])


@pytest.mark.parametrize("feature", FEATURES)
def test_feature(found, feature):
    found.require(feature)
