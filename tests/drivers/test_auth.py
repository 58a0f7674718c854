"""Logging in, roles and permissions with the Python driver: v4 and v5, and a script with recorded results of a real Cassandra."""
import os
import pathlib
import socket
import struct
import time

import pytest
from cassandra import AuthenticationFailed, InvalidRequest, Unauthorized
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import NoHostAvailable
from cassandra.query import BatchStatement, SimpleStatement, tuple_factory

from conftest import ForeignServer, Server, connect

SCRIPTS = pathlib.Path(__file__).parent / "auth"
ARGUMENTS = ["--authenticator", "PasswordAuthenticator", "--authorizer", "CassandraAuthorizer",
             "--set", "dynamic_data_masking_enabled=true"]


@pytest.fixture(scope="module")
def auth_server():
    server = Server(arguments=ARGUMENTS)
    yield server
    server.close()


def log_in(server, user, password, **options):
    return connect(server, auth_provider=PlainTextAuthProvider(user, password), **options)


def session_of(server, user, password=None, **options):
    return log_in(server, user, password or user, **options).connect()


@pytest.fixture(scope="module")
def admin(auth_server):
    session = session_of(auth_server, "cassandra")
    yield session
    session.cluster.shutdown()


@pytest.fixture
def bob(auth_server, admin):
    """A role without permissions, and a table of another role."""
    admin.execute("CREATE ROLE bob WITH PASSWORD = 'bob' AND LOGIN = true")
    admin.execute("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    admin.execute("CREATE TABLE ks.t (k int PRIMARY KEY, v int)")
    session = session_of(auth_server, "bob")
    yield session
    session.cluster.shutdown()
    admin.execute("DROP KEYSPACE ks")
    admin.execute("DROP ROLE bob")


# --- Logging in

@pytest.mark.parametrize("version", [4, 5])
def test_the_first_superuser_logs_in(auth_server, version):
    session = session_of(auth_server, "cassandra", protocol_version=version)
    row = session.execute("SELECT * FROM system_auth.roles").one()
    assert (row.role, row.can_login, row.is_superuser) == ("cassandra", True, True)
    assert row.salted_hash.startswith("$2a$10$")
    assert "cassandra" in {client.username for client in session.execute("SELECT username FROM system_views.clients")}
    session.cluster.shutdown()


def refusal(server, user, password, **options):
    cluster = log_in(server, user, password, **options)
    with pytest.raises(NoHostAvailable) as raised:
        cluster.connect()
    cluster.shutdown()
    (error,) = raised.value.errors.values()
    assert isinstance(error, AuthenticationFailed)
    return str(error)


@pytest.mark.parametrize("version", [4, 5])
def test_wrong_passwords_and_unknown_roles_are_refused_alike(auth_server, version):
    expected = "Provided username {} and/or password are incorrect"
    assert expected.format("cassandra") in refusal(auth_server, "cassandra", "wrong", protocol_version=version)
    assert expected.format("nobody") in refusal(auth_server, "nobody", "wrong", protocol_version=version)


def test_without_credentials_nothing_is_answered(auth_server):
    cluster = connect(auth_server)
    with pytest.raises(NoHostAvailable) as raised:
        cluster.connect()
    cluster.shutdown()
    assert "Remote end requires authentication" in str(raised.value)


# --- Permissions

def test_nothing_is_allowed_until_it_is_granted(bob, admin):
    with pytest.raises(Unauthorized, match="User bob has no SELECT permission on <table ks.t> or any of its parents"):
        bob.execute("SELECT * FROM ks.t")
    admin.execute("GRANT SELECT ON KEYSPACE ks TO bob")
    assert bob.execute("SELECT * FROM ks.t").all() == []


def test_a_prepared_statement_is_checked_again_after_revoke(bob, admin):
    admin.execute("GRANT SELECT, MODIFY ON ks.t TO bob")
    insert = bob.prepare("INSERT INTO ks.t (k, v) VALUES (?, ?)")
    select = bob.prepare("SELECT v FROM ks.t WHERE k = ?")
    for k in range(20):
        bob.execute(insert, (k, k))
        assert bob.execute(select, (k,)).one().v == k
    admin.execute("REVOKE MODIFY ON ks.t FROM bob")
    with pytest.raises(Unauthorized, match="no MODIFY permission on <table ks.t>"):
        bob.execute(insert, (1, 2))
    batch = BatchStatement()
    batch.add(insert, (1, 2))
    with pytest.raises(Unauthorized, match="no MODIFY permission"):
        bob.execute(batch)
    assert bob.execute(select, (1,)).one().v == 1
    admin.execute("REVOKE SELECT ON ks.t FROM bob")
    with pytest.raises(Unauthorized, match="no SELECT permission"):
        bob.execute(select, (1,))
    admin.execute("GRANT SELECT ON ks.t TO bob")
    assert bob.execute(select, (1,)).one().v == 1


def test_each_statement_of_a_batch_is_checked(bob, admin):
    admin.execute("CREATE TABLE ks.u (k int PRIMARY KEY, v int)")
    admin.execute("GRANT MODIFY ON ks.t TO bob")
    batch = BatchStatement()
    batch.add("INSERT INTO ks.t (k, v) VALUES (1, 1)")
    batch.add("INSERT INTO ks.u (k, v) VALUES (1, 1)")
    with pytest.raises(Unauthorized, match="no MODIFY permission on <table ks.u>"):
        bob.execute(batch)
    assert admin.execute("SELECT * FROM ks.t").all() == []


def test_a_function_needs_execute(bob, admin):
    admin.execute("CREATE FUNCTION ks.twice (a int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE lua AS 'return a * 2'")
    admin.execute("INSERT INTO ks.t (k, v) VALUES (1, 21)")
    admin.execute("GRANT SELECT ON ks.t TO bob")
    with pytest.raises(Unauthorized, match=r"no EXECUTE permission on <function ks.twice\(int\)>"):
        bob.execute("SELECT ks.twice(v) FROM ks.t")
    assert bob.execute("SELECT count(*), toJson(k) FROM ks.t").one()[0] == 1  # native functions need no permission
    admin.execute("GRANT EXECUTE ON FUNCTION ks.twice(int) TO bob")
    assert bob.execute("SELECT ks.twice(v) FROM ks.t").one()[0] == 42


def test_explain_needs_what_the_statement_needs(bob):
    with pytest.raises(Unauthorized, match="no SELECT permission"):
        bob.execute("EXPLAIN SELECT * FROM ks.t")


def test_a_role_that_is_gone_may_do_nothing(auth_server, admin, bob):
    admin.execute("CREATE ROLE brief WITH PASSWORD = 'brief' AND LOGIN = true AND SUPERUSER = true")
    session = session_of(auth_server, "brief")
    assert session.execute("SELECT * FROM ks.t").all() == []
    admin.execute("DROP ROLE brief")
    with pytest.raises(Unauthorized):
        session.execute("SELECT * FROM ks.t")
    session.cluster.shutdown()


def test_roles_and_permissions_survive_a_restart(tmp_path):
    server = Server(data=str(tmp_path / "data"), arguments=ARGUMENTS)
    session = session_of(server, "cassandra")
    session.execute("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    session.execute("CREATE TABLE ks.t (k int PRIMARY KEY, v int)")
    session.execute("CREATE ROLE bob WITH PASSWORD = 'bob' AND LOGIN = true")
    session.execute("CREATE ROLE readers")
    session.execute("GRANT readers TO bob")
    session.execute("GRANT SELECT ON ks.t TO readers")
    session.execute("ALTER ROLE cassandra WITH PASSWORD = 'changed'")
    session.cluster.shutdown()
    server.process.kill()  # acknowledged writes are durable
    server.process.wait()
    server.start()
    assert "incorrect" in refusal(server, "cassandra", "cassandra")
    admin = session_of(server, "cassandra", "changed")
    assert [row.member for row in admin.execute("SELECT * FROM system_auth.role_members")] == ["bob"]
    bob = session_of(server, "bob")
    assert bob.execute("SELECT * FROM ks.t").all() == []
    with pytest.raises(Unauthorized):
        bob.execute("INSERT INTO ks.t (k, v) VALUES (1, 1)")
    bob.cluster.shutdown()
    admin.cluster.shutdown()
    server.close()


# --- Secrets

def test_passwords_are_in_no_log_trace_or_table(auth_server, admin):
    admin.execute("CREATE ROLE keeper WITH PASSWORD = 'tell-nobody'", trace=True)
    admin.prepare("ALTER ROLE keeper WITH PASSWORD = 'tell-nobody'")
    said = [str(row) for table in ("system.prepared_statements", "system_traces.sessions", "system_traces.events",
                                   "system_auth.roles", "system_views.settings", "system_views.clients")
            for row in admin.execute(f"SELECT * FROM {table}")]
    said += [str(row) for row in admin.execute("DESCRIBE FULL SCHEMA")]
    assert any("keeper" in line for line in said)
    assert not any("tell-nobody" in line for line in said)
    assert "tell-nobody" not in auth_server.read_log()
    admin.execute("DROP ROLE keeper")


# --- Hostile clients

class Raw:
    """A connection that sends messages that no driver sends."""

    def __init__(self, server):
        self.socket = socket.create_connection((server.host, server.port), timeout=30)

    def send(self, opcode, body=b"", stream=1):
        self.socket.sendall(struct.pack(">BBhBI", 4, 0, stream, opcode, len(body)) + body)

    def receive(self):
        header = b""
        while len(header) < 9:
            header += self.socket.recv(9 - len(header)) or pytest.fail("the server closed the connection")
        opcode, size = header[4], struct.unpack(">I", header[5:])[0]
        body = b""
        while len(body) < size:
            body += self.socket.recv(size - len(body))
        return opcode, body

    def ask(self, opcode, body=b""):
        self.send(opcode, body)
        return self.receive()

    def start(self):
        return self.ask(1, b"\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0")

    def log_in(self, user, password):
        token = b"\0" + user.encode() + b"\0" + password.encode()
        return self.ask(0x0F, struct.pack(">i", len(token)) + token)

    def close(self):
        self.socket.close()


def error_of(answer):
    opcode, body = answer
    assert opcode == 0, answer
    code, size = struct.unpack(">iH", body[:6])
    return code, body[6:6 + size].decode()


def query_body(text):
    return struct.pack(">i", len(text)) + text.encode() + b"\x00\x01\x00"


def test_before_login_nothing_but_logging_in_is_answered(auth_server):
    raw = Raw(auth_server)
    query = query_body("SELECT * FROM system.local")
    assert error_of(raw.ask(7, query)) == (0x0A, "Unexpected message QUERY, expecting STARTUP or OPTIONS")
    assert raw.start() == (3, b"\x00\x2forg.apache.cassandra.auth.PasswordAuthenticator")
    for opcode, name, body in [(7, "QUERY", query), (9, "PREPARE", struct.pack(">i", 6) + b"SELECT"), (5, "OPTIONS", b""),
                               (0x0A, "EXECUTE", b"\x00\x00"), (0x0B, "REGISTER", b"\x00\x00"), (0x0D, "BATCH", b"\x00"),
                               (1, "STARTUP", b"\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0")]:
        assert error_of(raw.ask(opcode, body)) == (0x0A, f"Unexpected message {name}, expecting SASL_RESPONSE")
    assert error_of(raw.log_in("cassandra", "wrong"))[0] == 0x100
    assert error_of(raw.ask(7, query))[0] == 0x0A  # still not logged in
    assert raw.log_in("cassandra", "cassandra") == (0x10, b"\xff\xff\xff\xff")
    assert raw.ask(7, query)[0] == 8
    raw.close()


def test_tokens_that_are_none_are_refused(auth_server):
    raw = Raw(auth_server)
    raw.start()
    for token, message in [(b"", "Password must not be null"), (b"\0bob\0", "Password must not be null"),
                           (b"\0\0x", "Authentication ID must not be null"),
                           (b"a\0b\0c\0d", "Credential format error: username or password is empty or contains NUL(\\0) character")]:
        assert error_of(raw.ask(0x0F, struct.pack(">i", len(token)) + token)) == (0x100, message)
    raw.close()


def test_guessing_gets_slow_and_others_do_not_notice():
    server = Server(arguments=ARGUMENTS)
    admin = session_of(server, "cassandra")
    admin.execute("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    admin.execute("CREATE TABLE ks.t (k int PRIMARY KEY)")
    raws = [Raw(server) for _ in range(20)]
    for raw in raws:
        raw.start()
    for _ in range(6):  # one after another, so that the failures are counted
        assert error_of(raws[0].log_in("cassandra", "wrong"))[0] == 0x100
    token = b"\0cassandra\0wrong"
    started = time.monotonic()
    for raw in raws:
        raw.send(0x0F, struct.pack(">i", len(token)) + token)
    slowest = 0
    for k in range(200):  # a client that is logged in
        before = time.monotonic()
        admin.execute("INSERT INTO ks.t (k) VALUES (%s)", (k,))
        slowest = max(slowest, time.monotonic() - before)
    codes = [error_of(raw.receive())[0] for raw in raws]
    took = time.monotonic() - started
    assert set(codes) <= {0x100, 0x1001}
    assert codes.count(0x100) < 20 or took > 5  # rejected, or admitted one by one
    assert slowest < 2
    for raw in raws:
        raw.close()
    admin.cluster.shutdown()
    server.close()


def test_a_large_message_before_login_is_refused(auth_server):
    raw = Raw(auth_server)
    raw.start()
    code, message = error_of(raw.ask(0x0F, struct.pack(">i", 1 << 20) + bytes(1 << 20)))
    assert code in (0x0A, 0x2200), message
    raw.close()


# --- A real Cassandra's answers

class Script:
    """Runs `user> statement` lines, each user on a separate connection, and records the results."""

    def __init__(self, server):
        self.server, self.sessions = server, {}

    def session(self, user):
        if user not in self.sessions:
            self.sessions[user] = session_of(self.server, user, profile={"row_factory": tuple_factory})
        return self.sessions[user]

    def answer(self, user, statement):
        try:
            session = self.session(user)
        except NoHostAvailable as error:
            (cause,) = error.errors.values()
            return [f"LOGIN {str(cause).split('message=')[-1]}"]
        try:
            future = session.execute_async(statement)
            rows = list(future.result())
        except Unauthorized as error:
            return [f"ERROR 2100 {strip(error)}"]
        except Exception as error:  # every error is recorded
            return [f"ERROR {type(error).__name__} {strip(error)}"]
        lines = [f"WARNING {warning}" for warning in future.warnings or []]
        names = future._col_names
        if names:
            lines.append("COLUMNS " + ", ".join(names))
        shown = [" | ".join(show(value) for value in row) for row in rows]
        if "SELECT" in statement.split()[0].upper():
            shown.sort()  # the order of partitions is by token, which is not tested here
        return lines + ["  " + line for line in shown] + ([] if lines or shown else ["OK"])

    def close(self):
        for session in self.sessions.values():
            session.cluster.shutdown()


def strip(error):
    text = str(error)
    text = text.split('message="', 1)[1].rsplit('"', 1)[0] if 'message="' in text else text
    return text.split(" [hint: ")[0]


def show(value):
    if value is None:
        return "null"
    if hasattr(value, "__iter__") and not isinstance(value, (str, bytes, dict)):
        return "{" + ", ".join(sorted(str(item) for item in value)) + "}"
    return str(dict(value)) if hasattr(value, "items") else str(value)


def run_script(server, path):
    script, lines = Script(server), []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        user, statement = line.split("> ", 1)
        lines.append(line)
        lines += script.answer(user, statement)
    script.close()
    return lines


def test_a_masked_value_cannot_be_searched_for(bob, admin):
    admin.execute("CREATE TABLE ks.m (k int PRIMARY KEY, ssn text MASKED WITH DEFAULT, plain int)")
    admin.execute("INSERT INTO ks.m (k, ssn, plain) VALUES (1, '078-05-1120', 0)")
    admin.execute("GRANT SELECT ON ks.m TO bob")
    admin.execute("GRANT MODIFY ON ks.m TO bob")
    update = "UPDATE ks.m SET plain = 0 WHERE k = 1 IF ssn >= ?"
    for ask in (lambda: bob.execute(update.replace("?", "'0'")),
                lambda: bob.execute(bob.prepare(update), ["0"])):
        with pytest.raises(Unauthorized, match="cannot query masked columns \\[ssn\\]"):
            ask()
    admin.execute("GRANT SELECT_MASKED ON ks.m TO bob")
    assert bob.execute(bob.prepare(update), ["0"]).one()[0]


def test_paging_states_are_of_one_role_and_statement(bob, admin):
    """A state may be kept, and sent with the same statement, prepared or not. Other statements and roles reject it."""
    admin.execute("CREATE TABLE ks.p (k text MASKED WITH DEFAULT, c int, PRIMARY KEY (k, c))")
    for c in range(4):
        admin.execute("INSERT INTO ks.p (k, c) VALUES ('alice@example.com', %s)", [c])
    admin.execute("GRANT SELECT ON ks.p TO bob")
    text = "SELECT * FROM ks.p"
    state = bob.execute(SimpleStatement(text, fetch_size=2)).paging_state
    assert b"alice" not in state
    prepared = bob.prepare(text)
    prepared.fetch_size = 2
    assert [row.c for row in bob.execute(prepared, paging_state=state).current_rows] == [2, 3]
    assert [row.c for row in bob.execute(SimpleStatement(text), paging_state=state).current_rows] == [2, 3]
    for session, statement in ((admin, text), (bob, "SELECT c FROM ks.p")):
        with pytest.raises(InvalidRequest, match="Invalid value for the paging state"):
            session.execute(SimpleStatement(statement), paging_state=state)


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.cql")), ids=lambda path: path.stem)
def test_recorded_answers(path):
    expected = path.with_suffix(".expected")
    recorder = os.environ.get("SIBYL_RECORD_AUTH")
    server = ForeignServer(recorder) if recorder else Server(arguments=ARGUMENTS)
    lines = run_script(server, path)
    server.close()
    if recorder:
        expected.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == expected.read_text(encoding="utf-8").splitlines()
