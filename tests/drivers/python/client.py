"""The Python driver, unmodified. See harness.py for its input and output."""
import collections
import datetime
import decimal
import math
import os
import ssl
import threading
import uuid

import cassandra
import cassandra.cqltypes
from cassandra import AlreadyExists, AuthenticationFailed, ConsistencyLevel, InvalidRequest, Unauthorized
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.policies import ConstantReconnectionPolicy, RoundRobinPolicy, TokenAwarePolicy
from cassandra.protocol import ConfigurationException, SyntaxException
from cassandra.query import UNSET_VALUE, BatchStatement, BatchType, SimpleStatement
from cassandra.util import Date, Duration, Time

import schema_changes
from checks import check, eventually, not_offered, raises, restart, same, say

HOST, PORT = os.environ["SIBYL_HOST"], int(os.environ["SIBYL_PORT"])
ADDRESS = collections.namedtuple("address", "street zip phones")
LARGE = 10**40
SCALARS = [
    ("ascii", "'plain ~'", "plain ~"), ("ascii", "''", ""),
    ("bigint", "-9223372036854775808", -2**63), ("bigint", "9223372036854775807", 2**63 - 1),
    ("blob", "0x00ff", b"\x00\xff"), ("blob", "0x", b""), ("boolean", "true", True), ("boolean", "false", False),
    ("date", "'1969-07-20'", Date("1969-07-20")), ("date", "'0001-01-01'", Date(datetime.date(1, 1, 1))),
    ("date", "'9999-12-31'", Date("9999-12-31")),
    ("decimal", "-123.4500", decimal.Decimal("-123.4500")),
    ("decimal", "0.00000000000000000001", decimal.Decimal("0.00000000000000000001")),
    ("decimal", f"{LARGE}.5", decimal.Decimal(f"{LARGE}.5")),
    ("double", "1.7976931348623157E308", 1.7976931348623157E308), ("double", "4.9E-324", 5e-324),
    ("double", "NaN", math.nan), ("double", "-Infinity", -math.inf),
    ("duration", "1y2mo3d4h5m6s7ns", Duration(14, 3, 14_706_000_000_007)), ("duration", "-2mo1d1ns", Duration(-2, -1, -1)),
    ("float", "3.4028235E38", 3.4028234663852886e38), ("float", "1.4E-45", 1.401298464324817e-45),
    ("float", "Infinity", math.inf), ("inet", "'127.0.0.1'", "127.0.0.1"), ("inet", "'2001:db8::1'", "2001:db8::1"),
    ("int", "-2147483648", -2**31), ("int", "2147483647", 2**31 - 1), ("smallint", "-32768", -2**15),
    ("smallint", "32767", 2**15 - 1), ("text", "'žluťoučký 🐎'", "žluťoučký 🐎"), ("text", "''", ""),
    ("time", "'00:00:00'", Time(0)), ("time", "'23:59:59.999999999'", Time(86_399_999_999_999)),
    ("timestamp", "0", datetime.datetime(1970, 1, 1)), ("timestamp", "-1", datetime.datetime(1969, 12, 31, 23, 59, 59, 999000)),
    # Whole seconds, because this driver rounds milliseconds as floats for such distant times.
    ("timestamp", "'9999-12-31 23:59:59Z'", datetime.datetime(9999, 12, 31, 23, 59, 59)),
    ("timeuuid", "50554d6e-29bb-11e5-b345-feff819cdc9f", uuid.UUID("50554d6e-29bb-11e5-b345-feff819cdc9f")),
    ("tinyint", "-128", -128), ("tinyint", "127", 127),
    ("uuid", "00000000-0000-0000-0000-000000000000", uuid.UUID(int=0)),
    ("uuid", "ffffffff-ffff-ffff-ffff-ffffffffffff", uuid.UUID(int=2**128 - 1)),
    ("varint", str(-LARGE), -LARGE), ("varint", "0", 0), ("varint", "128", 128), ("varint", "-129", -129),
]


def open_cluster(**options):
    profile = ExecutionProfile(load_balancing_policy=TokenAwarePolicy(RoundRobinPolicy()), request_timeout=30)
    return Cluster([HOST], port=PORT, execution_profiles={EXEC_PROFILE_DEFAULT: profile}, connect_timeout=20,
                   reconnection_policy=ConstantReconnectionPolicy(0.2, None), **options)


class Client:
    def __init__(self):
        with open(os.environ["SIBYL_SCHEMA"], encoding="utf-8") as file:
            statements = file.read().strip().split(";\n")
        with open_cluster() as cluster:
            session = cluster.connect()
            for statement in statements:
                session.execute(statement)
        self.cluster = open_cluster()
        self.session = self.cluster.connect("clients")

    def run(self):
        for kind, literal, value in SCALARS:
            check("scalars", f"{kind} {literal}", self.both_ways, f"c_{kind}", literal, value)
        check("metadata", "keyspace, table, index, view, type, function, aggregate", self.metadata)
        check("token map", "ring and replicas", self.token_map)
        check("routing", "composite and single keys", self.routing)
        check("prepared", "markers by position and name", self.prepared)
        check("paging", "pages of 7, and a paging state", self.paging)
        check("collections", "nested, frozen, empty", self.collections)
        check("user types", "fields, nested, tuples", self.user_types)
        if hasattr(cassandra.cqltypes, "VectorType"):
            check("vector", "three floats", self.vector)
        else:
            not_offered("vector", "this driver predates vectors")
        check("absent values", "null, unset, empty", self.absent)
        check("batches", "logged and unlogged", self.batches)
        check("counters", "a batch of three", self.counters)
        check("conditions", "insert, update, batch", self.conditions)
        check("errors", "classes and fields", self.errors)
        check("events", "table created and dropped", self.events)
        check("tracing", "session and events", self.tracing)
        for compression, version in (("lz4", 4), ("lz4", 5), ("snappy", 4)):
            check(compression, f"v{version}", self.compressed, compression, version)
        check("v5", "keyspace of one request", self.version_five)
        check("v5", "pipelined, with lz4", self.pipelined)
        schema_changes.run(open_cluster)
        check("restart", "within 30 s", self.restart)
        self.cluster.shutdown()

    def both_ways(self, column, literal, value):
        self.session.execute(f"INSERT INTO scalars (k, {column}) VALUES ('literal', {literal})")
        self.session.execute(self.session.prepare(f"INSERT INTO scalars (k, {column}) VALUES (?, ?)"), ("bound", value))
        read = self.session.prepare(f"SELECT {column} FROM scalars WHERE k = ?")
        for key in ("literal", "bound"):
            found = self.session.execute(read, (key,)).one()[0]
            if isinstance(value, float) and math.isnan(value):
                same(True, math.isnan(found))
            else:
                same((value, str(value)), (found, str(found)))
        if column != "c_duration":  # durations cannot be compared
            equal = f"SELECT k FROM scalars WHERE k = 'bound' AND {column} = {literal} ALLOW FILTERING"
            same("bound", self.session.execute(equal).one().k)

    def metadata(self):
        keyspace = self.cluster.metadata.keyspaces["clients"]
        same(1, keyspace.replication_strategy.replication_factor)
        table = keyspace.tables["measurements"]
        same(["site", "day"], [column.name for column in table.partition_key])
        same([("at", True), ("sensor", False)], [(column.name, column.is_reversed) for column in table.clustering_key])
        same((True, "set<text>"), (table.columns["note"].is_static, table.columns["tags"].cql_type))
        same("what was measured", table.options["comment"])
        index = table.indexes["measurements_by_value"]
        same(("CUSTOM", "value"), (index.kind, index.index_options["target"]))
        view = keyspace.views["by_sensor"]
        same(("measurements", ["sensor"]), (view.base_table_name, [column.name for column in view.partition_key]))
        same(["street", "zip", "phones"], keyspace.user_types["address"].field_names)
        same("int", keyspace.functions["plus(int,int)"].return_type)
        same(("plus", "0"), (keyspace.aggregates["total(int)"].state_func, keyspace.aggregates["total(int)"].initial_condition))
        self.session.execute(table.as_cql_query().replace("measurements", "again"))
        same(set(table.columns), set(self.cluster.metadata.keyspaces["clients"].tables["again"].columns))
        self.session.execute("DROP TABLE again")
        same(True, self.cluster.metadata.keyspaces["system_views"].virtual)

    def token_map(self):
        metadata = self.cluster.metadata
        same(True, metadata.partitioner.endswith("Murmur3Partitioner") and len(metadata.token_map.ring) > 0)
        same([host.address for host in metadata.all_hosts()], [host.address for host in metadata.get_replicas("clients", b"abc")])

    def routing(self):
        def token(statement):
            return self.cluster.metadata.token_map.token_class.from_key(statement.routing_key).value
        insert = self.session.prepare("INSERT INTO routes (v, b, a) VALUES (?, ?, ?)")
        read = self.session.prepare("SELECT token(a, b) AS t FROM routes WHERE a = ? AND b = ?")
        for number in (7, -1, 2**31 - 1):
            bound = insert.bind((1, "x", number))
            self.session.execute(bound)
            same(token(bound), self.session.execute(read, (number, "x")).one().t)
        insert = self.session.prepare("INSERT INTO routes_one (k, v) VALUES (:key, :value)")
        for key in ("a", "žluťoučký", "a key of more than sixteen bytes"):
            bound = insert.bind({"key": key, "value": 1})
            self.session.execute(bound)
            same(token(bound), self.session.execute("SELECT token(k) AS t FROM routes_one WHERE k = %s", (key,)).one().t)

    def prepared(self):
        insert = self.session.prepare("INSERT INTO plain (k, a, b) VALUES (:k, :a, :b)")
        same([0], list(insert.routing_key_indexes))
        same(["k", "a", "b"], [column.name for column in insert.column_metadata])
        self.session.execute(insert, {"k": 1, "a": 2, "b": "three"})
        read = self.session.prepare("SELECT * FROM plain WHERE k = ?")
        same((1, 2, "three"), tuple(self.session.execute(read, (1,)).one()))
        self.session.execute("ALTER TABLE plain ADD extra int")
        self.session.execute("UPDATE plain SET extra = 9 WHERE k = 1")
        same(9, self.session.execute(read, (1,)).one().extra)
        self.session.execute("ALTER TABLE plain DROP extra")

    def paging(self):
        insert = self.session.prepare("INSERT INTO pages (p, c, v) VALUES (1, ?, 'v')")
        for number in range(50):
            self.session.execute(insert, (number,))
        paged = SimpleStatement("SELECT c FROM pages WHERE p = 1", fetch_size=7)
        same(list(range(50)), [row.c for row in self.session.execute(paged)])
        first = self.session.execute(paged)
        same(7, len(first.current_rows))
        rest = self.session.execute(SimpleStatement("SELECT c FROM pages WHERE p = 1"), paging_state=first.paging_state)
        same(list(range(7, 50)), [row.c for row in rest])

    def collections(self):
        insert = self.session.prepare("INSERT INTO collections (k, l, s, m, fl, deep) VALUES (?, ?, ?, ?, ?, ?)")
        read = self.session.prepare("SELECT l, s, m, fl, deep FROM collections WHERE k = ?")
        self.session.execute(insert, (1, [3, 1, 3], {"", "a", "b"}, {"x": 1, "y": -2**31}, [{1: "a"}, {}, {2: "b"}],
                                      {"k": [{1, 2}, set()]}))
        row = self.session.execute(read, (1,)).one()
        same(([3, 1, 3], {"", "a", "b"}, {"x": 1, "y": -2**31}), (row.l, set(row.s), dict(row.m)))
        same([{1: "a"}, {}, {2: "b"}], [dict(item) for item in row.fl])
        same([{1, 2}, set()], [set(item) for item in row.deep["k"]])
        self.session.execute(insert, (2, [], set(), {}, [], {}))
        row = self.session.execute(read, (2,)).one()
        same((None, None, None, []), (row.l, row.s, row.m, row.fl))
        self.session.execute("UPDATE collections SET l = l + [9], m['z'] = 5, s = s - {'a'} WHERE k = 1")
        row = self.session.execute(read, (1,)).one()
        same(([3, 1, 3, 9], {"", "b"}, 5), (row.l, set(row.s), row.m["z"]))

    def user_types(self):
        self.cluster.register_user_type("clients", "address", ADDRESS)
        insert = self.session.prepare("INSERT INTO people (name, home, others, pair) VALUES (?, ?, ?, ?)")
        home = ADDRESS("Elm 1", 12345, {"+1", "+2"})
        self.session.execute(insert, ("Ann", home, [ADDRESS("x", None, None), home], (1, "x", None)))
        row = self.session.execute("SELECT home, others, pair, home.zip AS zip FROM people WHERE name = 'Ann'").one()
        same(("Elm 1", 12345, {"+1", "+2"}), (row.home.street, row.home.zip, set(row.home.phones)))
        same(("x", None, 12345), (row.others[0].street, row.others[0].zip, row.others[1].zip))
        same(((1, "x", None), 12345), (row.pair, row.zip))

    def vector(self):
        self.session.execute(self.session.prepare("INSERT INTO vectors (k, v) VALUES (?, ?)"), (1, [1.0, 2.5, -3.0]))
        same([1.0, 2.5, -3.0], list(self.session.execute("SELECT v FROM vectors WHERE k = 1").one().v))
        equal = "SELECT k FROM vectors WHERE k = 1 AND v = [1, 2.5, -3] ALLOW FILTERING"
        same(1, self.session.execute(equal).one().k)

    def absent(self):
        insert = self.session.prepare("INSERT INTO plain (k, a, b) VALUES (?, ?, ?)")
        self.session.execute(insert, (10, 1, ""))
        self.session.execute(insert, (10, UNSET_VALUE, UNSET_VALUE))
        same((1, ""), tuple(self.session.execute("SELECT a, b FROM plain WHERE k = 10").one()))
        self.session.execute(insert, (10, None, None))
        same((None, None), tuple(self.session.execute("SELECT a, b FROM plain WHERE k = 10").one()))

    def batches(self):
        insert = self.session.prepare("INSERT INTO plain (k, a) VALUES (?, ?)")
        for kind, base in ((BatchType.LOGGED, 100), (BatchType.UNLOGGED, 200)):
            batch = BatchStatement(batch_type=kind)
            batch.add(insert, (base, 1))
            batch.add(insert, (base + 1, 2))
            batch.add("INSERT INTO plain (k, b) VALUES (%s, %s)", (base + 2, "text"))
            batch.add(SimpleStatement("DELETE FROM plain WHERE k = 1000"))
            self.session.execute(batch)
            found = self.session.execute("SELECT k FROM plain WHERE k IN (%s, %s, %s)", (base, base + 1, base + 2))
            same({base, base + 1, base + 2}, {row.k for row in found})

    def counters(self):
        add = self.session.prepare("UPDATE hits SET n = n + ? WHERE k = ?")
        batch = BatchStatement(batch_type=BatchType.COUNTER)
        for delta in (5, -2, 10):
            batch.add(add, (delta, 1))
        self.session.execute(batch)
        same(13, self.session.execute("SELECT n FROM hits WHERE k = 1").one().n)
        logged = BatchStatement()
        logged.add(add, (1, 1))
        raises(InvalidRequest, self.session.execute, logged)

    def conditions(self):
        insert = self.session.prepare("INSERT INTO accounts (k, c, v) VALUES (?, ?, ?) IF NOT EXISTS")
        update = self.session.prepare("UPDATE accounts SET v = ? WHERE k = ? AND c = ? IF v = ?")
        same(True, self.session.execute(insert, (1, 1, 7)).was_applied)
        same({"applied": False, "k": 1, "c": 1, "v": 7, "w": None}, self.session.execute(insert, (1, 1, 8)).one()._asdict())
        same(True, self.session.execute(update, (9, 1, 1, 7)).was_applied)
        same({"applied": False, "v": 9}, self.session.execute(update, (9, 1, 1, 7)).one()._asdict())
        batch = BatchStatement(serial_consistency_level=ConsistencyLevel.LOCAL_SERIAL)
        batch.add(update, (10, 1, 1, 9))
        batch.add(insert, (1, 2, 2))
        same((True, False), (self.session.execute(batch).was_applied, self.session.execute(batch).was_applied))
        serial = SimpleStatement("SELECT v FROM accounts WHERE k = 1 AND c = 1", consistency_level=ConsistencyLevel.SERIAL)
        same(10, self.session.execute(serial).one().v)

    def errors(self):
        raises(SyntaxException, self.session.execute, "SELEC * FROM plain")
        raises(InvalidRequest, self.session.execute, "SELECT nope FROM plain")
        exists = raises(AlreadyExists, self.session.execute, "CREATE TABLE plain (k int PRIMARY KEY)")
        same(("clients", "plain"), (exists.keyspace, exists.table))
        raises(ConfigurationException, self.session.execute, "CREATE KEYSPACE x WITH replication = {'class': 'NoSuchStrategy'}")
        raises(InvalidRequest, self.session.execute, self.session.prepare("SELECT * FROM plain WHERE k = ?"), (None,))
        future = self.session.execute_async("SELECT count(*) FROM plain")
        future.result()
        same(True, any("Aggregation query used without partition key" in warning for warning in future.warnings))

    def events(self):
        with open_cluster() as other:
            other.connect()
            self.session.execute("CREATE TABLE seen (k int PRIMARY KEY)")
            eventually(20, lambda: "seen" in other.metadata.keyspaces["clients"].tables)
            self.session.execute("DROP TABLE seen")
            eventually(20, lambda: "seen" not in other.metadata.keyspaces["clients"].tables)

    def tracing(self):
        trace = self.session.execute("SELECT * FROM plain WHERE k = 10", trace=True).get_query_trace()
        same(("Execute CQL3 query", "SELECT * FROM plain WHERE k = 10"), (trace.request_type, trace.parameters["query"]))
        same(True, trace.duration.total_seconds() > 0 and len(trace.events) > 0)

    def compressed(self, compression, version):
        with open_cluster(compression=compression, protocol_version=version) as cluster:
            session, large = cluster.connect("clients"), "abcdefgh" * 50_000
            session.execute(session.prepare("INSERT INTO plain (k, b) VALUES (?, ?)"), (20, large))
            same(large, session.execute("SELECT b FROM plain WHERE k = 20").one().b)

    def version_five(self):
        with open_cluster(protocol_version=5) as cluster:
            session = cluster.connect()
            same(10, session.execute(SimpleStatement("SELECT k FROM plain WHERE k = 10", keyspace="clients")).one().k)
            read = session.prepare("SELECT k FROM plain WHERE k = ?", keyspace="clients")
            same(10, session.execute(read, (10,)).one().k)

    def pipelined(self):
        """Writes and reads SIBYL_PIPELINED rows (default: 5,000), a thousand at a time."""
        rows = {k: (k, k * 7, f"row {k} " * (k % 20)) for k in range(1_000_000, 1_000_000 + int(os.environ.get("SIBYL_PIPELINED", "5000")))}
        with open_cluster(protocol_version=5, compression="lz4") as cluster:
            session = cluster.connect("clients")
            insert = session.prepare("INSERT INTO plain (k, a, b) VALUES (?, ?, ?)")
            read = session.prepare("SELECT k, a, b FROM plain WHERE k = ?")
            same([], pipeline(session, insert, rows.values(), lambda argument, answer: not answer))
            same([], pipeline(session, read, [(k,) for k in rows],
                              lambda argument, answer: [tuple(row) for row in answer] == [rows[argument[0]]]))

    def restart(self):
        read = self.session.prepare("SELECT a FROM plain WHERE k = ?")
        self.session.execute("INSERT INTO plain (k, a) VALUES (300, 42)")
        if not restart():
            not_offered("re-prepared", "the server is not ours to restart")
            return
        eventually(30, lambda: self.session.execute("SELECT a FROM plain WHERE k = 300").one().a == 42)
        check("re-prepared", "the same statement", lambda: same(42, self.session.execute(read, (300,)).one().a))


def pipeline(session, statement, arguments, right, in_flight=1000):
    """Runs the statement for each of the arguments, many at a time; returns the errors."""
    slots, wrong = threading.Semaphore(in_flight), []

    def answered(rows, argument):
        if not right(argument, rows):
            wrong.append((argument, rows))
        slots.release()

    def failed(error, argument):
        wrong.append((argument, str(error)))
        slots.release()

    for argument in arguments:
        slots.acquire()
        session.execute_async(statement, argument).add_callbacks(
            answered, failed, callback_args=(argument,), errback_args=(argument,))
    for _ in range(in_flight):
        slots.acquire()
    return wrong[:3]


def connects():
    with open_cluster() as cluster:
        row = cluster.connect().execute("SELECT cluster_name, release_version FROM system.local").one()
        host = cluster.metadata.all_hosts()[0]
        same((row.cluster_name, 1), (cluster.metadata.cluster_name, len(cluster.metadata.all_hosts())))
        same((row.release_version, "datacenter1", 5), (host.release_version, host.datacenter, cluster.protocol_version))


class Secured:
    """Login and TLS."""

    def __init__(self):
        self.user, self.password = os.environ["SIBYL_USER"], os.environ["SIBYL_PASSWORD"]

    def open(self, user, password, trusted=True):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if trusted:
            context.load_verify_locations(os.environ["SIBYL_CA"])
        return open_cluster(ssl_context=context, ssl_options={"server_hostname": HOST},
                            auth_provider=PlainTextAuthProvider(user, password))

    def run(self):
        check("tls", "the certificate is checked", self.tls)
        check("login", "a role of its own, what it may and may not", self.login)
        check("login", "a wrong password", self.wrong_password)

    def tls(self):
        with self.open(self.user, self.password) as cluster:
            same("local", cluster.connect().execute("SELECT key FROM system.local").one().key)
        with self.open(self.user, self.password, trusted=False) as cluster:
            refused = raises(NoHostAvailable, cluster.connect)
            same(True, any("CERTIFICATE_VERIFY_FAILED" in str(error) for error in refused.errors.values()))

    def login(self):
        with self.open(self.user, self.password) as cluster:
            session = cluster.connect()
            session.execute("CREATE KEYSPACE secrets WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
            session.execute("CREATE TABLE secrets.t (k int PRIMARY KEY)")
            session.execute("CREATE ROLE reader WITH PASSWORD = 'paper' AND LOGIN = true")
            session.execute("GRANT SELECT ON secrets.t TO reader")
        with self.open("reader", "paper") as cluster:
            session = cluster.connect()
            same([], list(session.execute("SELECT * FROM secrets.t")))
            raises(Unauthorized, session.execute, "INSERT INTO secrets.t (k) VALUES (1)")

    def wrong_password(self):
        with self.open(self.user, self.password + "x") as cluster:
            refused = raises(NoHostAvailable, cluster.connect)
            same([True], [isinstance(error, AuthenticationFailed) for error in refused.errors.values()])


if __name__ == "__main__":
    say(version=cassandra.__version__)
    if os.environ["SIBYL_MODE"] == "secured":
        Secured().run()
    else:
        check("connect", "without a keyspace", connects)
        Client().run()
