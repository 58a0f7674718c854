"""`sibyl migrate` from a real Cassandra. Skipped if none can be started."""
import importlib.util
import pathlib
import re
import signal
import subprocess

import pytest

from conftest import BINARY, ROOT, Server, connect

# The file has the name of the driver's package.
specification = importlib.util.spec_from_file_location("reference", ROOT / "tests/compat/cassandra.py")
reference = importlib.util.module_from_spec(specification)
specification.loader.exec_module(reference)

STATEMENTS = pathlib.Path(__file__).with_name("moving.cql").read_text(encoding="utf-8").strip().split(";\n")
QUERIES = [
    "SELECT * FROM moving.every",
    "SELECT k, c, WRITETIME(a), WRITETIME(b), WRITETIME(l), WRITETIME(se), WRITETIME(m), WRITETIME(mu), WRITETIME(ud), "
    "WRITETIME(sm), WRITETIME(st), WRITETIME(fl) FROM moving.every",
    "SELECT * FROM moving.every WHERE s = -5",
    "SELECT * FROM moving.by_bi",
    "SELECT * FROM moving.ranges",
    "SELECT k, a, b, c, WRITETIME(v) FROM moving.ranges",
    "SELECT * FROM moving.counts",
    "SELECT * FROM moving.keys_only",
    "SELECT * FROM system_schema.types WHERE keyspace_name = 'moving'",
    "SELECT * FROM system_schema.columns WHERE keyspace_name = 'moving'",
    "SELECT * FROM system_schema.indexes WHERE keyspace_name = 'moving'",
]


@pytest.fixture(scope="module")
def cassandra():
    try:
        server = reference.Cassandra.start()
    except reference.Unavailable as reason:
        pytest.skip(f"no Cassandra: {reason}")
    server.host = "127.0.0.1"
    yield server
    server.stop()


def rows(server, query):
    """The answer as `sibyl shell` shows it. The Python driver cannot decode the nulls in WRITETIME(mu)."""
    done = subprocess.run([BINARY, "shell", f"127.0.0.1:{server.port}", "-e", query], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def migrate(cassandra, target, folder, *more):
    return subprocess.run([BINARY, "migrate", "--from", cassandra.address, "--to", f"127.0.0.1:{target.port}", "-k", "moving",
                           "--journal", f"{folder}/journal", *more], capture_output=True, text=True, timeout=300, check=False)


def test_every_select_answers_the_same(cassandra, own_server, tmp_path):
    source, target = connect(cassandra), connect(own_server)
    there, here = source.connect(), target.connect()
    for statement in STATEMENTS:
        there.execute(statement)
    done = migrate(cassandra, own_server, tmp_path)
    assert done.returncode == 1, done.stderr + done.stdout  # because of the function in Java
    assert "function moving.f(int): written in java" in done.stdout
    assert "moving.g" not in done.stdout  # a body that Sibyl runs
    for query in QUERIES:
        expected = rows(cassandra, query)
        assert "(0 rows)" not in expected, query
        assert rows(own_server, query) == expected, query
    query = "SELECT TTL(b) FROM moving.every WHERE k = 1"
    (mine,), (theirs,) = here.execute(query).one(), there.execute(query).one()
    assert abs(mine - theirs) < 100, (mine, theirs)
    done = migrate(cassandra, own_server, tmp_path, "--verify")
    assert done.returncode == 0, done.stderr + done.stdout
    here.execute("UPDATE moving.every SET a = 'planted' WHERE k = 1 AND c = 'it''s'")
    done = migrate(cassandra, own_server, tmp_path, "--verify")
    assert done.returncode == 1 and "different values of a" in done.stdout, done.stderr + done.stdout
    # Nothing is counted or appended twice by another run.
    done = migrate(cassandra, own_server, tmp_path, "--restart")
    for query in ("SELECT * FROM moving.counts", "SELECT l FROM moving.every"):
        assert rows(own_server, query) == rows(cassandra, query), done.stderr
    source.shutdown()
    target.shutdown()


def test_an_interrupted_run_copies_nothing_twice(cassandra, own_server, tmp_path):
    source = connect(cassandra)
    there = source.connect()
    there.execute("CREATE KEYSPACE IF NOT EXISTS interrupted WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    there.execute("CREATE TABLE IF NOT EXISTS interrupted.rows (k int, c int, v text, PRIMARY KEY (k, c))")
    row_count = 10_000
    insert = there.prepare("INSERT INTO interrupted.rows (k, c, v) VALUES (?, ?, 'value')")
    for begin in range(0, row_count, 500):
        for future in [there.execute_async(insert, (i % 200, i)) for i in range(begin, begin + 500)]:
            future.result()
    source.shutdown()
    command = [BINARY, "migrate", "--from", cassandra.address, "--to", f"127.0.0.1:{own_server.port}", "-k", "interrupted",
               "--journal", f"{tmp_path}/journal"]
    journal = tmp_path / "journal"
    with subprocess.Popen([*command, "--jobs", "1", "--window", "1", "--page-size", "20", "--quiet"]) as process:
        while not journal.exists() or not re.search(r"rows-interrupted.rows [1-9]", journal.read_text(encoding="utf-8")):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 3
    copied = int(re.findall(r"\d+", rows(own_server, "SELECT count(*) FROM interrupted.rows"))[0])
    assert 0 < copied < row_count
    resumed = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert resumed.returncode == 0, resumed.stderr
    assert f"copied {row_count - copied:,} rows".replace(",", "") in resumed.stderr.replace(",", ""), resumed.stderr
    verified = subprocess.run([*command, "--verify"], capture_output=True, text=True, timeout=300, check=False)
    assert verified.returncode == 0, verified.stderr + verified.stdout
