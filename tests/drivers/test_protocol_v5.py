"""Protocol v5 through the Python driver: segments with and without lz4, negotiation, and the additions of v5 to requests.

SIBYL_PIPELINED is the number of rows that the pipelined test writes and reads with lz4 (default: 100,000). Without lz4 it
uses a fifth of them."""
import os
import threading
import uuid

import pytest
from cassandra import InvalidRequest
from cassandra.query import BatchStatement, SimpleStatement

from conftest import connect
from raw_v5 import Connection

PIPELINED = int(os.environ.get("SIBYL_PIPELINED", "100000"))


@pytest.fixture(params=["lz4", False], ids=["lz4", "plain"])
def v5(request, server):
    """A session over v5 in a separate keyspace."""
    if request.param:
        pytest.importorskip("lz4")
    cluster = connect(server, protocol_version=5, compression=request.param)
    session = cluster.connect()
    keyspace = "v5" + uuid.uuid4().hex[:12]
    session.execute(f"CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}")
    session.set_keyspace(keyspace)
    yield session
    session.execute(f"DROP KEYSPACE {keyspace}")
    cluster.shutdown()


def test_drivers_that_start_higher_come_down_to_v5(server):
    cluster = connect(server)
    cluster.connect()
    assert cluster.protocol_version == 5
    cluster.shutdown()


@pytest.mark.parametrize("version", [3, 4, 5])
def test_every_version_is_spoken(server, version):
    cluster = connect(server, protocol_version=version)
    assert cluster.connect().execute("SELECT key FROM system.local").one().key == "local"
    cluster.shutdown()


def pipeline(session, statement, arguments, check, in_flight=1000):
    """Runs the statement once for each of the arguments, many at a time. Returns the errors and the results of `check`."""
    slots = threading.Semaphore(in_flight)
    wrong = []

    def answered(rows, argument):
        if not check(argument, rows):
            wrong.append((argument, rows))
        slots.release()

    def failed(error, argument):
        wrong.append((argument, error))
        slots.release()

    for argument in arguments:
        slots.acquire()
        future = session.execute_async(statement, argument)
        future.add_callbacks(answered, failed, callback_args=(argument,), errback_args=(argument,))
    for _ in range(in_flight):
        slots.acquire()
    return wrong


def test_pipelined_prepared_writes_and_reads(v5):
    count = PIPELINED if v5.cluster.compression == "lz4" else PIPELINED // 5
    v5.execute("CREATE TABLE t (k int PRIMARY KEY, a text, b bigint, c blob)")
    insert = v5.prepare("INSERT INTO t (k, a, b, c) VALUES (?, ?, ?, ?)")
    read = v5.prepare("SELECT k, a, b, c FROM t WHERE k = ?")
    rows = {k: (k, f"row {k}", k * k, bytes([k % 256]) * (k % 300)) for k in range(count)}
    assert not pipeline(v5, insert, rows.values(), lambda argument, answer: not answer)
    assert not pipeline(v5, read, [(k,) for k in rows], lambda argument, answer: [tuple(r) for r in answer] == [rows[argument[0]]])


def test_messages_of_many_segments(v5):
    v5.execute("CREATE TABLE t (k int PRIMARY KEY, v blob)")
    insert = v5.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
    for k, value in enumerate([b"x" * 131_072, os.urandom(200_000), os.urandom(3_000_000), b"y" * 5_000_000]):
        v5.execute(insert, (k, value))
        assert v5.execute("SELECT v FROM t WHERE k = %s", (k,)).one().v == value
    assert len(list(v5.execute("SELECT v FROM t"))) == 4


def test_keyspace_of_one_request(v5):
    v5.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    v5.execute("INSERT INTO t (k, v) VALUES (1, 'here')")
    other = v5.cluster.connect()
    with pytest.raises(InvalidRequest):
        other.execute("SELECT v FROM t")
    assert other.execute(SimpleStatement("SELECT v FROM t", keyspace=v5.keyspace)).one().v == "here"
    prepared = other.prepare("SELECT v FROM t WHERE k = ?", keyspace=v5.keyspace)
    assert other.execute(prepared, (1,)).one().v == "here"
    with pytest.raises(InvalidRequest):
        other.execute(SimpleStatement("SELECT v FROM t", keyspace="nowhere"))


def test_result_metadata_changes_are_followed(v5, server):
    """Another client alters the table of a prepared SELECT *, in every protocol version."""
    v5.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    v5.execute("INSERT INTO t (k, v) VALUES (1, 'x')")
    clusters = [connect(server, protocol_version=version) for version in (4, 5)]
    sessions = [cluster.connect(v5.keyspace) for cluster in clusters]
    prepared = [session.prepare("SELECT * FROM t WHERE k = ?") for session in sessions]
    for session, statement in zip(sessions, prepared):
        assert session.execute(statement, (1,)).one() == (1, "x")
    v5.execute("ALTER TABLE t ADD a int")
    v5.execute("UPDATE t SET a = 7 WHERE k = 1")
    v5.prepare("SELECT * FROM t WHERE k = ?")
    for session, statement in zip(sessions, prepared):
        for _ in range(2):
            row = session.execute(statement, (1,)).one()
            assert (row.k, row.a, row.v) == (1, 7, "x")
    for cluster in clusters:
        cluster.shutdown()


def test_warnings_and_custom_payload(v5):
    v5.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    assert v5.execute("SELECT * FROM t", custom_payload={"key": b"value"}).one() is None
    future = v5.execute_async("SELECT count(*) FROM t")
    future.result()
    assert any("Aggregation query used without partition key" in warning for warning in future.warnings)


def test_traces(v5):
    v5.execute("CREATE TABLE t (k int, c int, v text, PRIMARY KEY (k, c))")
    insert = v5.prepare("INSERT INTO t (k, c, v) VALUES (?, ?, ?)")
    trace = v5.execute(insert, (1, 2, "x"), trace=True).get_query_trace()
    assert trace.request_type == "Execute CQL3 prepared query"
    assert trace.parameters["query"] == "INSERT INTO t (k, c, v) VALUES (?, ?, ?)"
    assert (trace.parameters["bound_var_1_c"], trace.parameters["bound_var_2_v"]) == ("2", "'x'")
    assert trace.duration.total_seconds() > 0 and trace.client
    assert trace.events and all(event.thread_name for event in trace.events)
    elapsed = [event.source_elapsed for event in trace.events]
    assert elapsed == sorted(elapsed) and elapsed[-1] <= trace.duration
    read = v5.execute("SELECT * FROM t WHERE k = 1", trace=True).get_query_trace()
    assert read.request_type == "Execute CQL3 query"
    assert read.events[0].description == "Parsing SELECT * FROM t WHERE k = 1"
    batch = BatchStatement()
    batch.add(insert, (1, 3, "y"))
    batch.add("INSERT INTO t (k, c, v) VALUES (1, 4, 'z')")
    assert v5.execute(batch, trace=True).get_query_trace().request_type == "Execute batch of CQL3 queries"


def test_now_of_a_request_decides_what_has_expired(v5, server):
    """The Python driver cannot send this. The expected times to live are those of a real Cassandra."""
    v5.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    raw = Connection(server, v5.keyspace)
    raw.query("INSERT INTO t (k, v) VALUES (1, 'x') USING TTL 100", now=1000)
    lives = {now: raw.query("SELECT ttl(v) FROM t WHERE k = 1", now=now) for now in (999, 1000, 1099, 1100, 1101)}
    assert lives == {999: [[101]], 1000: [[100]], 1099: [[1]], 1100: [], 1101: []}
    assert raw.query("SELECT ttl(v) FROM t WHERE k = 1") == []
    assert raw.query("SELECT ttl(v) FROM t WHERE k = 1", now=-2**31) == []
    raw.batch(["INSERT INTO t (k, v) VALUES (2, 'y') USING TTL 5"], now=2000)
    assert raw.query("SELECT ttl(v) FROM t WHERE k = 2", now=2001) == [[4]]
    raw.close()


@pytest.mark.parametrize("spoil", [0, 8], ids=["header", "payload"])
def test_corrupt_segments_are_refused_and_end_the_connection(server, spoil):
    raw = Connection(server)
    raw.send(5, b"", spoil=spoil)
    code, text = raw.error()
    assert code == 0x0A and "unrecoverable CRC mismatch" in text
    with pytest.raises((EOFError, ConnectionResetError)):
        raw.receive()
    assert Connection(server).query("SELECT key FROM system.local WHERE key = 'local'") == [["local"]]
