"""latte, the load generator, unmodified, from its registry. Skipped if it cannot be fetched."""
import json
import subprocess

import pytest

from conftest import Server, connect
from harness import BUILD, HERE, Results, build, secured_server

VERSION = "0.29.0"
WORKLOAD = str(HERE / "latte/workload.rn")


@pytest.fixture(scope="module")
def results():
    found = Results("latte")
    yield found
    found.write()


@pytest.fixture(scope="module")
def latte(results):
    results.need("cargo")
    folder = BUILD / "latte"
    folder.mkdir(parents=True, exist_ok=True)
    results.version = VERSION
    program = folder / "bin/latte"
    if not program.exists():
        results.fetch(["cargo", "info", f"latte-cli@{VERSION}"], folder, VERSION)
        build(["cargo", "install", "latte-cli", "--version", VERSION, "--locked", "--debug", "--root", str(folder),
               "--target-dir", str(folder / "target")], folder, timeout=3000)
    return str(program)


def run(latte, folder, command, server, *arguments):
    done = subprocess.run([latte, "--log-dir", str(folder), command, *arguments, WORKLOAD, f"{server.host}:{server.port}"],
                          cwd=folder, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.features("connect", "prepared")
def test_load_and_run(latte, tmp_path):
    server = Server()
    try:
        run(latte, tmp_path, "schema", server)
        run(latte, tmp_path, "load", server, "--quiet")
        report = tmp_path / "report.json"
        run(latte, tmp_path, "run", server, "--quiet", "--warmup", "0", "--duration", "3000", "--output", str(report))
        with connect(server) as cluster:
            rows = list(cluster.connect().execute("SELECT id, part, name FROM latte.readings"))
        assert sorted(rows) == sorted((n, part, ["loaded", "run"][part]) for n in range(3000) for part in (0, 1))
        found = json.loads(report.read_text(encoding="utf-8"))["result"]
        assert found["cycle_count"] == 3000 and found["error_count"] == 0, {k: found[k] for k in found if "count" in k}
    finally:
        server.close()


@pytest.mark.features("login", "tls")
def test_login_over_tls(latte, tmp_path):
    with secured_server() as (server, known):
        login = ["--user", known["SIBYL_USER"], "--password"]
        tls = ["--ssl", "--ssl-ca", known["SIBYL_CA"]]
        run(latte, tmp_path, "schema", server, *tls, *login, known["SIBYL_PASSWORD"])
        with pytest.raises(AssertionError, match="password are incorrect"):
            run(latte, tmp_path, "schema", server, *tls, *login, "wrong")
