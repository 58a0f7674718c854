"""Runs one client program against a server and collects its results for each feature.

A program gets the server's address in SIBYL_HOST and SIBYL_PORT. It creates the schema in the file SIBYL_SCHEMA
(statements end with ";" and a line end) and prints one JSON line for each check:

    {"check": "paging", "ok": true, "detail": "pages of 7"}      ok: null if the driver does not support it

and once {"version": "4.19.2"}. On a line {"ask": "restart"} the harness restarts the server on the same port and answers
with a line. With SIBYL_MODE=secured the server requires a login over TLS: SIBYL_USER, SIBYL_PASSWORD, SIBYL_CA (a PEM file).

The results are written to build/clients/<client>.json. `tests/drivers/report.py` generates build/clients.json and the
table in docs/clients.md from them."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading

import pytest

from certificates import Authority
from conftest import ROOT, ForeignServer, Server
from features import CLIENTS, FEATURES

HERE = pathlib.Path(__file__).resolve().parent
BUILD = ROOT / "build/clients"
SCHEMA = HERE / "schema.cql"


class Results:
    """The results of a client; written when closed."""

    def __init__(self, client):
        assert client in CLIENTS, client
        self.client = client
        self.version = None
        self.skipped = None
        self.checks = []

    def add(self, check, ok, detail=""):
        assert check in FEATURES, check
        self.checks.append({"check": check, "ok": ok, "detail": detail})

    def write(self):
        BUILD.mkdir(parents=True, exist_ok=True)
        found = {"client": self.client, "version": self.version, "skipped": self.skipped, "checks": self.checks}
        (BUILD / f"{self.client}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")

    def skip(self, reason):
        """Skips a client that is not available here, with the reason in the test run and in its results."""
        self.skipped = reason
        self.write()
        pytest.skip(f"{self.client}: {reason}")

    def need(self, *tools):
        for tool in tools:
            if shutil.which(tool) is None:
                self.skip(f"{tool} is not installed")

    def fetch(self, command, cwd, manifest, timeout=900, **options):
        """Runs a package manager, once for each content of the manifest. Skips the client if a package cannot be fetched."""
        stamp, wanted = cwd / "fetched", " ".join(map(str, command)) + "\n" + manifest
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return
        stamp.unlink(missing_ok=True)
        try:
            done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False, **options)
        except subprocess.TimeoutExpired:
            self.skip(f"its packages did not come within {timeout} s")
        if done.returncode != 0:
            lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()] or ["no reason given"]
            telling = [line for line in lines if "rror" in line or "annot" in line] or lines[-1:]
            self.skip(f"its packages cannot be had: {telling[0][:200]}")
        stamp.write_text(wanted, encoding="utf-8")

    def require(self, feature):
        """Fails, skips or passes the test of one feature according to its checks."""
        found = [check for check in self.checks if check["check"] == feature]
        failed = [check["detail"] for check in found if check["ok"] is False]
        assert not failed, f"{self.client}, {feature}: {failed}"
        if not any(check["ok"] for check in found):
            reasons = [check["detail"] for check in found] or ["not asked"]
            pytest.skip(f"{self.client}, {feature}: {reasons[0]}")


def build(command, cwd, timeout=1800, **options):
    done = subprocess.run(["nice", *command], cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr


def run_program(results, command, server, mode="plain", extra=None, timeout=900):
    """Communicates with one program and adds its checks to the results."""
    environment = dict(os.environ, SIBYL_HOST=server.host, SIBYL_PORT=str(server.port), SIBYL_SCHEMA=str(schema_for(server)),
                       SIBYL_MODE=mode, LC_ALL="C.UTF-8", **(extra or {}))
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints, \
            subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints,
                             text=True, encoding="utf-8") as process:
        watchdog = threading.Timer(timeout, process.kill)
        watchdog.start()
        for line in process.stdout:
            if line.startswith("{"):
                listen(results, json.loads(line), server, process)
        code = process.wait()
        watchdog.cancel()
        complaints.seek(0)
        assert code == 0, f"{results.client} ended with {code}: {complaints.read()[-4000:]}"


def listen(results, said, server, process):
    if said.get("ask") == "restart":
        if isinstance(server, ForeignServer):
            answer = "no"
        else:
            server.stop(signal.SIGTERM)
            server.start()
            answer = "done"
        process.stdin.write(answer + "\n")
        process.stdin.flush()
    elif "version" in said:
        results.version = said["version"]
    else:
        results.add(said["check"], said["ok"], str(said.get("detail", "")))


def schema_for(server):
    """Returns the schema. For a real Cassandra, replaces the function by one in Java with the same signature."""
    if not isinstance(server, ForeignServer):
        return SCHEMA
    text = SCHEMA.read_text(encoding="utf-8").replace("LANGUAGE lua", "LANGUAGE java")
    text = "DROP KEYSPACE IF EXISTS clients;\n" + text.replace("return state + value", "return state + value;")
    BUILD.mkdir(parents=True, exist_ok=True)
    path = BUILD / "schema-foreign.cql"
    path.write_text(text, encoding="utf-8")
    return path


def new_server(*arguments):
    address = os.environ.get("SIBYL_TEST_SERVER")
    return ForeignServer(address) if address else Server(arguments=arguments)


@contextlib.contextmanager
def secured_server():
    """A server that requires a login over TLS, and the environment variables for its clients."""
    with tempfile.TemporaryDirectory(prefix="sibyl-test-") as folder:
        authority = Authority(folder, "authority")
        certificate, key = authority.sign("server")
        server = Server(arguments=["--tls-certificate", certificate, "--tls-key", key, "--authenticator",
                                   "PasswordAuthenticator", "--authorizer", "CassandraAuthorizer"])
        try:
            yield server, {"SIBYL_USER": "cassandra", "SIBYL_PASSWORD": "cassandra", "SIBYL_CA": authority.certificate}
        finally:
            server.close()


def examine(results, command):
    """Runs all checks of one client program, writes the results and returns them."""
    server = new_server()
    try:
        run_program(results, command, server)
    finally:
        server.close()
        results.write()
    if isinstance(server, ForeignServer):
        return results
    with secured_server() as (server, known):
        try:
            run_program(results, command, server, mode="secured", extra=known)
        finally:
            results.write()
    return results
