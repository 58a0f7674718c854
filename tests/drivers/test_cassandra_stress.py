"""cassandra-stress, unmodified: from the PATH, or from SIBYL_CASSANDRA_STRESS. It is in no package registry but part of
Cassandra's tools. Skipped if these are not installed."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import Server, connect
from harness import Results

ROWS = 2000


@pytest.fixture(scope="module")
def results():
    found = Results("cassandra-stress")
    yield found
    if found.checks:
        found.write()


@pytest.fixture(scope="module")
def stress(results):
    program = os.environ.get("SIBYL_CASSANDRA_STRESS") or shutil.which("cassandra-stress")
    if not program:
        results.skip("it is not installed, and no registry has it")
    said = subprocess.run([program, "version"], capture_output=True, text=True, timeout=60, check=False).stdout
    results.version = (re.search(r"Version: *([\w.-]+)", said) or [None, "unknown"])[1]
    return program


@pytest.fixture(scope="module")
def server():
    server = Server()
    yield server
    server.close()


def run(stress, server, *command):
    done = subprocess.run([stress, *command, "no-warmup", f"n={ROWS}", "cl=ONE", "-node", server.host, "-port",
                           f"native={server.port}", "-mode", "native", "cql3", "-rate", "threads=4"],
                          capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert re.search(r"Total errors +: +0 ", done.stdout), done.stdout[-3000:]
    assert re.search(rf"Total partitions +: +{ROWS:,} ", done.stdout), done.stdout[-3000:]


def ask(server, statement):
    with connect(server) as cluster:
        return cluster.connect().execute(statement).one()[0]


@pytest.mark.features("connect", "prepared")
def test_writes_and_reads(stress, server):
    run(stress, server, "write")
    assert ask(server, "SELECT count(*) FROM keyspace1.standard1") == ROWS
    run(stress, server, "read")
    run(stress, server, "mixed", "ratio(write=1,read=1)")


@pytest.mark.features("counters")
def test_counters(stress, server):
    run(stress, server, "counter_write", "add=fixed(3)")
    assert ask(server, 'SELECT sum("C0") FROM keyspace1.counter1') == 3 * ROWS
    run(stress, server, "counter_read")
