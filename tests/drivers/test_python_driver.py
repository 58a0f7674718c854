"""The Python driver, unmodified: types, prepared statements, paging, batches, metadata, errors, events, reconnection."""
import collections
import datetime
import decimal
import time
import uuid

import cassandra.cqltypes
import pytest
from cassandra import AlreadyExists, ConsistencyLevel, InvalidRequest
from cassandra.cluster import NoHostAvailable
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.protocol import ConfigurationException, SyntaxException
from cassandra.query import BatchStatement, BatchType, SimpleStatement, UNSET_VALUE, dict_factory
from cassandra.util import Date, Duration, OrderedMapSerializedKey, SortedSet, Time

from conftest import connect

ADDRESS = collections.namedtuple("address", "street zip_code phones")

VALUES = [
    ("ascii", "plain"), ("bigint", -2**63), ("blob", b"\x00\xff"), ("boolean", True),
    ("date", Date(datetime.date(1969, 7, 20))), ("decimal", decimal.Decimal("-123.4500")), ("double", 1.5e300),
    ("duration", Duration(14, -0, 3_000_000_000)), ("float", 0.25), ("inet", "2001:db8::1"), ("inet", "10.0.0.1"),
    ("int", -2**31), ("smallint", -32768), ("text", "žluťoučký 🐎"), ("text", ""), ("time", Time("13:30:54.234000001")),
    ("timestamp", datetime.datetime(2011, 2, 3, 4, 5, 6, 789000)),
    ("timeuuid", uuid.UUID("50554d6e-29bb-11e5-b345-feff819cdc9f")), ("tinyint", -128),
    ("uuid", uuid.UUID("5f2b4a1e-8c1c-4a3e-9b1f-0d7a1c2b3d4e")), ("varint", -10**40),
    ("list<int>", [3, 1, 3]), ("set<text>", SortedSet(["a", "b"])), ("map<text, int>", {"x": 1, "y": 2}),
    ("frozen<list<frozen<map<int, text>>>>", [{1: "a"}, {2: "b"}]), ("tuple<int, text, double>", (1, "x", None)),
    ("vector<float, 3>", [1.0, 2.5, -3.0]),
]


def plain(value):
    if isinstance(value, OrderedMapSerializedKey):
        return dict(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


@pytest.mark.parametrize("cql_type,value", VALUES, ids=lambda v: v if isinstance(v, str) else "")
def test_every_type_both_ways(session, cql_type, value):
    if cql_type.startswith("vector"):
        if not hasattr(cassandra.cqltypes, "VectorType"):
            pytest.skip("this driver predates vectors")
    session.execute(f"CREATE TABLE v (k int PRIMARY KEY, v {cql_type})")
    insert = session.prepare("INSERT INTO v (k, v) VALUES (?, ?)")
    session.execute(insert, (1, value))
    session.execute(insert, (2, None))
    read = session.prepare("SELECT v FROM v WHERE k = ?")
    assert plain(session.execute(read, (1,)).one().v) == value
    assert session.execute(read, (2,)).one().v is None
    assert plain(session.execute("SELECT v FROM v WHERE k = 1").one().v) == value


def test_user_types(session, server):
    cluster = connect(server)  # a separate cluster, because the registration is part of it
    keyspace, session = session.keyspace, cluster.connect(session.keyspace)
    session.execute("CREATE TYPE address (street text, zip_code int, phones frozen<set<text>>)")
    session.execute("CREATE TABLE people (name text PRIMARY KEY, home address, others list<frozen<address>>)")
    cluster.register_user_type(keyspace, "address", ADDRESS)
    insert = session.prepare("INSERT INTO people (name, home, others) VALUES (?, ?, ?)")
    home = ADDRESS("Elm 1", 12345, SortedSet(["+1", "+2"]))
    session.execute(insert, ("Ann", home, [ADDRESS("x", None, None)]))
    row = session.execute("SELECT * FROM people").one()
    assert (row.home.street, row.home.zip_code, set(row.home.phones)) == ("Elm 1", 12345, {"+1", "+2"})
    assert row.others[0].street == "x" and row.others[0].zip_code is None
    cluster.shutdown()


@pytest.mark.parametrize("page_size", [1, 7, 100, 5000])
def test_paging(session, page_size):
    session.execute("CREATE TABLE t (p int, c int, v text, PRIMARY KEY (p, c))")
    insert = session.prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?)")
    rows = [(p, c, f"{p}-{c}") for p in range(4) for c in range(30)]
    assert all(result.success for result in execute_concurrent_with_args(session, insert, rows))
    for query in ("SELECT * FROM t", "SELECT * FROM t WHERE p IN (0, 1, 2, 3)"):
        found = list(session.execute(SimpleStatement(query, fetch_size=page_size)))
        assert sorted(map(tuple, found)) == rows
    reverse = list(session.execute(SimpleStatement("SELECT c FROM t WHERE p = 2 ORDER BY c DESC", fetch_size=page_size)))
    assert [row.c for row in reverse] == list(range(29, -1, -1))
    first = session.execute(SimpleStatement("SELECT c FROM t WHERE p = 1", fetch_size=page_size))
    if page_size < 30:
        rest = session.execute(SimpleStatement("SELECT c FROM t WHERE p = 1", fetch_size=5000),
                               paging_state=first.paging_state)
        assert [row.c for row in rest] == list(range(page_size, 30))
    else:
        assert not first.has_more_pages


def test_concurrent_prepared_statements(session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    insert = session.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
    read = session.prepare("SELECT v FROM t WHERE k = ?")
    results = execute_concurrent_with_args(session, insert, [(k, str(k)) for k in range(3000)], concurrency=200)
    assert all(result.success for result in results)
    results = execute_concurrent_with_args(session, read, [(k,) for k in range(3000)], concurrency=200)
    assert [result.result_or_exc.one().v for result in results] == [str(k) for k in range(3000)]


def test_batches(session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v text)")
    session.execute("CREATE TABLE hits (k int PRIMARY KEY, n counter)")
    insert = session.prepare("INSERT INTO t (k, v) VALUES (?, ?)")
    for kind in (BatchType.LOGGED, BatchType.UNLOGGED):
        batch = BatchStatement(batch_type=kind)
        batch.add(insert, (kind.value, "prepared"))
        batch.add("INSERT INTO t (k, v) VALUES (%s, %s)", (kind.value + 10, "text"))
        batch.add(SimpleStatement("DELETE FROM t WHERE k = 99"))
        session.execute(batch)
    assert {row.k for row in session.execute("SELECT k FROM t")} == {0, 1, 10, 11}
    counters = BatchStatement(batch_type=BatchType.COUNTER)
    add = session.prepare("UPDATE hits SET n = n + ? WHERE k = ?")
    for delta in (5, -2, 10):
        counters.add(add, (delta, 1))
    session.execute(counters)
    assert session.execute("SELECT n FROM hits WHERE k = 1").one().n == 13
    mixed = BatchStatement(batch_type=BatchType.LOGGED)
    mixed.add(add, (1, 1))
    with pytest.raises(InvalidRequest):
        session.execute(mixed)


def test_conditional_writes(session):
    session.execute("CREATE TABLE t (k int, c int, v int, w text, PRIMARY KEY (k, c))")
    insert = session.prepare("INSERT INTO t (k, c, v) VALUES (?, ?, ?) IF NOT EXISTS")
    update = session.prepare("UPDATE t SET v = ? WHERE k = ? AND c = ? IF v = ?")
    # The columns of the result differ between the two statements.
    for _ in range(2):
        session.execute("TRUNCATE t")
        assert session.execute(insert, (1, 1, 7)).was_applied
        refused = session.execute(insert, (1, 1, 8))
        assert not refused.was_applied
        assert refused.one()._asdict() == {"applied": False, "k": 1, "c": 1, "v": 7, "w": None}
        assert session.execute(update, (9, 1, 1, 7)).was_applied
        assert session.execute(update, (9, 1, 1, 7)).one()._asdict() == {"applied": False, "v": 9}
        assert session.execute(update, (9, 2, 2, 7)).one()._asdict() == {"applied": False}
    batch = BatchStatement(serial_consistency_level=ConsistencyLevel.LOCAL_SERIAL)
    batch.add(update, (10, 1, 1, 9))
    batch.add(insert, (1, 2, 2))
    batch.add("UPDATE t SET w = 'x' WHERE k = 1 AND c = 3")
    assert session.execute(batch).was_applied
    refused = session.execute(batch)
    assert [tuple(row) for row in refused] == [(False, 1, 1, 10, None), (False, 1, 2, 2, None)]
    serial = SimpleStatement("SELECT v FROM t WHERE k = 1 AND c = 1", consistency_level=ConsistencyLevel.SERIAL)
    assert session.execute(serial).one().v == 10
    with pytest.raises(InvalidRequest, match="cannot span multiple partitions"):
        batch.add(insert, (2, 1, 1))
        session.execute(batch)
    with pytest.raises(InvalidRequest, match="conditional updates for serializable writes"):
        session.execute(SimpleStatement("UPDATE t SET v = 1 WHERE k = 1 AND c = 1",
                                        consistency_level=ConsistencyLevel.SERIAL))


def test_counters_add_up_exactly_under_concurrency(session):
    session.execute("CREATE TABLE hits (k int PRIMARY KEY, n counter)")
    add = session.prepare("UPDATE hits SET n = n + ? WHERE k = ?")
    results = execute_concurrent_with_args(session, add, [(i % 7 - 2, i % 3) for i in range(1000)], concurrency=100)
    assert all(result.success for result in results)
    for k in range(3):
        expected = sum(i % 7 - 2 for i in range(1000) if i % 3 == k)
        assert session.execute("SELECT n FROM hits WHERE k = %s", (k,)).one().n == expected


def test_timestamps_ttl_and_unset(session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, a int, b int)")
    insert = session.prepare("INSERT INTO t (k, a, b) VALUES (?, ?, ?) USING TIMESTAMP ? AND TTL ?")
    session.execute(insert, (1, 10, 20, 1000, 5000))
    session.execute(insert, (1, UNSET_VALUE, 21, 2000, 6000))
    row = session.execute("SELECT a, b, writetime(a) AS wa, writetime(b) AS wb, ttl(b) AS tb FROM t WHERE k = 1").one()
    assert (row.a, row.b, row.wa, row.wb) == (10, 21, 1000, 2000)
    assert 5900 < row.tb <= 6000
    session.execute("UPDATE t USING TIMESTAMP 1500 SET a = 11, b = 99 WHERE k = 1")
    row = session.execute("SELECT a, b FROM t WHERE k = 1").one()
    assert (row.a, row.b) == (11, 21)


def test_ttl_expires(session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v int)")
    session.execute("INSERT INTO t (k, v) VALUES (1, 1) USING TTL 1")
    deadline = time.monotonic() + 10
    while session.execute("SELECT * FROM t WHERE k = 1").one() is not None:
        assert time.monotonic() < deadline, "the row outlived its TTL by far"
        time.sleep(0.05)


def test_schema_metadata(session, cluster):
    session.execute("CREATE TYPE kind (name text, level int)")
    session.execute("""CREATE TABLE measurements (site text, day date, at timestamp, sensor int, note text STATIC,
        value double, tags set<text>, k frozen<kind>, PRIMARY KEY ((site, day), at, sensor))
        WITH CLUSTERING ORDER BY (at DESC, sensor ASC) AND comment = 'what we measured' AND default_time_to_live = 3600
        AND gc_grace_seconds = 100 AND compaction = {'class': 'LeveledCompactionStrategy'}""")
    cluster.refresh_schema_metadata()
    table = cluster.metadata.keyspaces[session.keyspace].tables["measurements"]
    assert [c.name for c in table.partition_key] == ["site", "day"]
    assert [c.name for c in table.clustering_key] == ["at", "sensor"]
    assert [c.is_reversed for c in table.clustering_key] == [True, False]
    assert table.columns["note"].is_static and table.columns["tags"].cql_type == "set<text>"
    assert table.columns["k"].cql_type == "frozen<kind>"
    assert table.options["comment"] == "what we measured" and table.options["default_time_to_live"] == 3600
    assert "CLUSTERING ORDER BY (at DESC, sensor ASC)" in table.export_as_string()
    assert cluster.metadata.keyspaces[session.keyspace].user_types["kind"].field_names == ["name", "level"]
    assert cluster.metadata.partitioner.endswith("Murmur3Partitioner")
    host = cluster.metadata.all_hosts()[0]
    assert host.datacenter == "datacenter1" and host.rack == "rack1" and host.release_version.startswith("5.0")
    # The CQL that the driver prints recreates the table.
    statement = table.as_cql_query().replace("measurements", "again")
    session.execute(statement)


def test_schema_changes_reach_other_clients(session, server):
    other = connect(server)
    other.connect()
    session.execute("CREATE TABLE seen (k int PRIMARY KEY)")
    deadline = time.monotonic() + 15
    while "seen" not in getattr(other.metadata.keyspaces.get(session.keyspace), "tables", {}):
        assert time.monotonic() < deadline, "no schema event arrived"
        time.sleep(0.05)
    other.shutdown()


def test_errors_have_their_classes(session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, v int)")
    with pytest.raises(SyntaxException):
        session.execute("SELEC * FROM t")
    with pytest.raises(InvalidRequest):
        session.execute("SELECT nope FROM t")
    with pytest.raises(AlreadyExists) as caught:
        session.execute("CREATE TABLE t (k int PRIMARY KEY)")
    assert (caught.value.keyspace, caught.value.table) == (session.keyspace, "t")
    with pytest.raises(ConfigurationException):
        session.execute("CREATE KEYSPACE x WITH replication = {'class': 'NoSuchStrategy'}")
    with pytest.raises(InvalidRequest):
        session.execute(session.prepare("SELECT * FROM t WHERE k = ?"), (None,))
    assert session.execute("SELECT * FROM t").one() is None


def test_prepared_statements_follow_alter(session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY, a int)")
    read = session.prepare("SELECT k, a FROM t WHERE k = ?")
    session.execute("INSERT INTO t (k, a) VALUES (1, 2)")
    assert tuple(session.execute(read, (1,)).one()) == (1, 2)
    session.execute("ALTER TABLE t ADD b int")
    assert tuple(session.execute(read, (1,)).one()) == (1, 2)
    session.execute("DROP TABLE t")
    with pytest.raises(InvalidRequest):
        session.execute(read, (1,))


def test_consistency_levels_are_accepted(session):
    session.execute("CREATE TABLE t (k int PRIMARY KEY)")
    for level in (ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.ALL, ConsistencyLevel.LOCAL_QUORUM,
                  ConsistencyLevel.LOCAL_ONE):
        session.execute(SimpleStatement("INSERT INTO t (k) VALUES (1)", consistency_level=level))
        assert session.execute(SimpleStatement("SELECT * FROM t", consistency_level=level)).one().k == 1


@pytest.mark.parametrize("compression", ["lz4", "snappy"])
def test_compression(server, compression):
    pytest.importorskip(compression)
    cluster = connect(server, compression=compression, profile={"row_factory": dict_factory})
    session = cluster.connect()
    assert session.execute("SELECT key FROM system.local").one() == {"key": "local"}
    assert len(list(session.execute("SELECT * FROM system_schema.columns"))) > 100
    cluster.shutdown()


def test_token_aware_routing_key(session, cluster):
    session.execute("CREATE TABLE t (a int, b text, v int, PRIMARY KEY ((a, b)))")
    insert = session.prepare("INSERT INTO t (v, b, a) VALUES (?, ?, ?)")
    bound = insert.bind((1, "x", 7))
    token = cluster.metadata.token_map.token_class.from_key(bound.routing_key).value
    session.execute(bound)
    assert session.execute("SELECT token(a, b) AS t FROM t").one().t == token


def test_restart_keeps_everything_and_drivers_come_back(own_server):
    cluster = connect(own_server)
    session = cluster.connect()
    session.execute("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    session.execute("CREATE TABLE k.t (k int PRIMARY KEY, v text)")
    insert = session.prepare("INSERT INTO k.t (k, v) VALUES (?, ?)")
    for k in range(100):
        session.execute(insert, (k, "before"))
    assert own_server.stop() == 0
    own_server.start()
    deadline = time.monotonic() + 60
    while True:
        try:
            session.execute(insert, (100, "after"))
            break
        except NoHostAvailable:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert session.execute("SELECT count(*) FROM k.t").one().count == 101
    cluster.shutdown()
