"""Statistics of tables and queries: always collected, read like any table, preserved across restarts."""
import signal

import pytest
from cassandra.query import BatchStatement, BatchType

from conftest import connect

SHAPE = "SELECT * FROM shop.orders WHERE customer = ? AND day = ?"


@pytest.fixture
def shop(own_server):
    cluster = connect(own_server)
    session = cluster.connect()
    session.execute("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    session.execute("CREATE TABLE shop.orders (customer text, day int, number int, note text, PRIMARY KEY ((customer, day), number))")
    insert = session.prepare("INSERT INTO shop.orders (customer, day, number, note) VALUES (?, ?, ?, ?)")
    for number in range(40):
        session.execute(insert, ("ann" if number < 30 else f"c{number}", 1, number, "a note"))
    batch = BatchStatement(BatchType.UNLOGGED)
    for number in range(2):
        batch.add(insert, ("bob", number, 1, "x"))
    session.execute(batch)
    read = session.prepare("SELECT * FROM shop.orders WHERE customer = ? AND day = ?")
    for _ in range(5):
        assert len(list(session.execute(read, ("ann", 1)))) == 30
    session.execute("SELECT * FROM shop.orders WHERE customer = 'bob' AND day = 0")
    yield session
    cluster.shutdown()


def statistics(session):
    table = session.execute("SELECT * FROM system_views.table_statistics WHERE keyspace_name = 'shop' AND table_name = 'orders'").one()
    hot = list(session.execute("SELECT * FROM system_views.hot_partitions WHERE keyspace_name = 'shop' AND table_name = 'orders'"))
    shapes = {row.query: row for row in session.execute("SELECT * FROM system_views.query_shapes WHERE keyspace_name = 'shop'")}
    return table, hot, shapes


def check(session):
    table, hot, shapes = statistics(session)
    assert (table.partitions, table.rows, table.reads, table.writes) == (13, 42, 6, 42)
    assert (table.partition_rows_p50, table.partition_rows_max) == (1, 30)
    assert table.bytes >= table.partition_bytes_max > table.partition_bytes_p50 > 0
    assert table.tombstones_per_read_max == 0
    reads = [row for row in hot if row.kind == "read"]
    assert [(row.rank, row.partition_key, row.count, row.error) for row in reads] == [(1, "'ann':1", 5, 0), (2, "'bob':0", 1, 0)]
    writes = [row for row in hot if row.kind == "write"]
    assert (writes[0].partition_key, writes[0].count) == ("'ann':1", 30) and abs(writes[0].share - 30 / 42) < 1e-9
    shape = shapes[SHAPE]
    assert (shape.kind, shape.table_name, shape.calls, shape.partitions_read, shape.partitions_max) == ("select", "orders", 6, 6, 1)
    assert (shape.rows_read, shape.rows_returned, shape.tombstones_read) == (151, 151, 0)
    assert 0 < shape.latency_p50_us <= shape.latency_p99_us <= shape.latency_max_us
    assert table.since <= shape.first_seen <= shape.last_seen
    batch = [row for row in shapes.values() if row.kind == "batch"]
    assert len(batch) == 1 and batch[0].calls == 1 and batch[0].partitions_max == 2
    assert {row.kind for row in shapes.values()} == {"select", "insert", "batch"}


def test_statistics_are_right_and_survive_a_restart(own_server, shop):
    check(shop)
    own_server.stop(signal.SIGTERM)
    own_server.start()
    cluster = connect(own_server)
    session = cluster.connect()
    check(session)
    session.execute("DROP TABLE shop.orders")
    table, hot, shapes = statistics(session)
    assert table is None and not hot and not shapes
    cluster.shutdown()


def test_they_are_listed_like_the_other_virtual_tables(shop):
    listed = {row.table_name for row in
              shop.execute("SELECT table_name FROM system_virtual_schema.tables WHERE keyspace_name = 'system_views'")}
    assert {"table_statistics", "hot_partitions", "query_shapes"} <= listed
    metadata = shop.cluster.metadata.keyspaces["system_views"].tables
    assert [column.name for column in metadata["hot_partitions"].primary_key] == ["keyspace_name", "table_name", "kind", "rank"]
