"""The Node driver, unmodified: installs it with npm, then runs node/driver_test.js against a server."""
import os
import pathlib
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent / "node"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("node")
    for name in ("package.json", "package-lock.json", "driver_test.js"):
        shutil.copy(HERE / name, folder / name)
    installed = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, text=True,
                               timeout=300, check=False)
    said = installed.stderr + installed.stdout
    unreachable = [code for code in ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH") if code in said]
    if installed.returncode != 0 and unreachable:
        pytest.skip(f"the npm registry does not answer: {unreachable[0]}")
    assert installed.returncode == 0, installed.stderr
    return folder


def test_node_driver(project, server):
    environment = dict(os.environ, HOST=server.host, PORT=str(server.port))
    run = subprocess.run(["node", "--test", "driver_test.js"], cwd=project, env=environment, capture_output=True,
                         text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "# fail 0" in run.stdout and "# pass 0" not in run.stdout, run.stdout
