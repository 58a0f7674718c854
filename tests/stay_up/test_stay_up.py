"""Availability under stress: many idle connections, more requests than can be served, clients that do not read.

SECONDS=60 runs the overload for a minute instead of a few seconds; OVERLOAD names the load generator."""
import os
import pathlib
import resource
import select
import socket
import struct
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "drivers"))
from conftest import Server  # noqa: E402

OVERLOAD = os.environ.get("OVERLOAD", "")
SECONDS = os.environ.get("SECONDS", "4")
IDLE = 10_000


def frame(opcode, body=b"", stream=0):
    return struct.pack(">BBhBi", 4, 0, stream, opcode, len(body)) + body


STARTUP = frame(1, struct.pack(">HH", 1, 11) + b"CQL_VERSION" + struct.pack(">H", 5) + b"3.0.0")


def query(text, stream=0, paged=True):
    """A QUERY message; if paged, in pages of 5000 rows, like drivers."""
    encoded = text.encode()
    options = struct.pack(">HBi", 1, 4, 5000) if paged else struct.pack(">HB", 1, 0)
    return frame(7, struct.pack(">i", len(encoded)) + encoded + options, stream)


def receive(connection):
    """Reads one frame, and returns its opcode and body."""
    def exactly(size):
        parts = b""
        while len(parts) < size:
            part = connection.recv(size - len(parts))
            assert part, "closed"
            parts += part
        return parts

    header = exactly(9)
    return header[4], exactly(struct.unpack(">i", header[5:])[0])


def started(server, receive_buffer=0, user=None):
    connection = socket.socket()
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(30)
    connection.connect((server.host, server.port))
    connection.sendall(STARTUP)
    if user:
        assert receive(connection)[0] == 3
        token = b"\0" + user + b"\0" + user
        connection.sendall(frame(15, struct.pack(">i", len(token)) + token))
        assert receive(connection)[0] == 16
    else:
        assert receive(connection)[0] == 2
    return connection


def ask(connection, text):
    """Sends a query, and returns the opcode and body of the response."""
    connection.sendall(query(text))
    return receive(connection)


def run(connection, text):
    opcode, body = ask(connection, text)
    assert opcode == 8, body


KEYSPACE = "CREATE KEYSPACE s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
# Each call takes a millisecond.
SLOW = ("CREATE FUNCTION s.slow (x int) CALLED ON NULL INPUT RETURNS int LANGUAGE lua AS "
        "$$ local n = 0; for i = 1, 100000 do n = n + i % 7 end; return n $$")


def resident_mebibytes(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


@pytest.fixture
def server(tmp_path, request):
    server = Server(data=str(tmp_path / "data"), arguments=getattr(request, "param", ()))
    yield server
    server.close()


def wait_until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_ten_thousand_idle_connections(server, capsys):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < IDLE + 100:
        pytest.skip(f"this machine allows only {hard} descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    before = resident_mebibytes(server)
    # Each connection has been busy: a hundred requests at once make its receive buffer grow.
    burst = b"".join(query("SELECT key FROM system.local", stream) for stream in range(100))
    connections = [started(server) for _ in range(IDLE)]
    for connection in connections[::10]:
        connection.sendall(burst)
        for _ in range(100):
            assert receive(connection)[0] == 8
    after = resident_mebibytes(server)
    wait_until(lambda: resident_mebibytes(server) < 400)
    with capsys.disabled():
        print(f"\n{IDLE} connections: {before:.0f} MiB before, {after:.0f} after, {resident_mebibytes(server):.0f} at rest")
    for connection in connections[::100]:
        run(connection, "SELECT key FROM system.local")
        connection.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("server", [("--set", "max_unsent_data=128MiB")], indirect=True)
def test_clients_that_do_not_read_hold_no_memory(server, capsys):
    writer = started(server)
    run(writer, KEYSPACE)
    run(writer, "CREATE TABLE s.t (k int, c int, v text, PRIMARY KEY (k, c))")
    for c in range(100):
        run(writer, f"INSERT INTO s.t (k, c, v) VALUES (1, {c}, '{'x' * 10_000}')")
    # Each of 100 clients requests 50 MiB and reads nothing, half of them without paging.
    before = resident_mebibytes(server)
    slow = [started(server, receive_buffer=4096) for _ in range(100)]
    peak = before
    for i, connection in enumerate(slow):
        connection.sendall(b"".join(query("SELECT * FROM s.t WHERE k = 1", stream, i % 2) for stream in range(50)))
        peak = max(peak, resident_mebibytes(server))
    for _ in range(20):
        opcode, body = ask(writer, "SELECT key FROM system.local")
        assert opcode == 8 or body[:4] == b"\0\0\x10\x01", body  # OVERLOADED
        peak = max(peak, resident_mebibytes(server))
        time.sleep(0.05)
    with capsys.disabled():
        print(f"\n100 clients that do not read: {before:.0f} MiB before, {peak:.0f} at most")
    # The limit, and for each connection a result of 1 MiB and its response: one request may always run.
    assert peak - before < 128 + 2 * len(slow)
    for connection in slow:
        connection.close()

    def is_served():
        writer.sendall(query("SELECT key FROM system.local"))
        return receive(writer)[0] == 8

    wait_until(is_served)


def test_clients_that_decode_slowly_are_served(server, capsys):
    """They have more pending results than allowed, for longer than the queue timeout."""
    writer = started(server)
    run(writer, KEYSPACE)
    run(writer, "CREATE TABLE s.t (k int, c int, v text, PRIMARY KEY (k, c))")
    for c in range(200):
        run(writer, f"INSERT INTO s.t (k, c, v) VALUES (1, {c}, '{'x' * 10_000}')")
    before = resident_mebibytes(server)
    slow = [started(server, receive_buffer=65536) for _ in range(4)]
    for i, connection in enumerate(slow):
        connection.sendall(b"".join(query("SELECT * FROM s.t WHERE k = 1", stream, i % 2) for stream in range(60)))
    peak, began = before, time.monotonic()
    for _ in range(60):
        for connection in slow:
            opcode, body = receive(connection)
            assert opcode == 8, body
        peak = max(peak, resident_mebibytes(server))
        asked = time.monotonic()
        run(writer, "SELECT key FROM system.local")
        assert time.monotonic() - asked < 1
        time.sleep(0.05)
    with capsys.disabled():
        print(f"\n4 slow clients took 480 MB in {time.monotonic() - began:.1f} s: {before:.0f} MiB before, {peak:.0f} at most")
    assert peak - before < 250


def test_idle_connections_leave_descriptors_to_the_store(tmp_path):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    server = Server(data=str(tmp_path / "data"), descriptors=256,
                    arguments=["--set", "commitlog_segment_size=1MiB", "--authenticator", "PasswordAuthenticator"])
    try:
        client = started(server, user=b"cassandra")
        run(client, KEYSPACE)
        run(client, "CREATE TABLE s.t (k int PRIMARY KEY, v text)")
        # All at once: the server closes the oldest later than it accepts the next.
        unauthenticated = [socket.socket() for _ in range(900)]
        for connection in unauthenticated:
            connection.setblocking(False)
            connection.connect_ex((server.host, server.port))
        for k in range(100):  # several segments of the log
            run(client, f"INSERT INTO s.t (k, v) VALUES ({k}, '{'z' * 50_000}')")
        run(client, "SELECT count(*) FROM s.t")
        run(started(server, user=b"cassandra"), "SELECT key FROM system.local")  # the server closes unauthenticated connections to make room
        assert "Too many open files" not in server.read_log()
        for connection in unauthenticated:
            connection.close()
    finally:
        server.close()


def test_a_request_that_needs_too_much_memory_is_refused(server):
    client = started(server)
    for text in ["SELECT mask_default((vector<float,2147483647>)null) FROM system.local",
                 "SELECT mask_default((frozen<tuple<vector<float,2147483647>>>)null) FROM system.local"]:
        opcode, body = ask(client, text)
        assert opcode == 0, body[:100]
    run(client, "SELECT key FROM system.local")
    assert server.process.poll() is None


def test_incomplete_messages_hold_no_memory(server, capsys):
    before = resident_mebibytes(server)
    # Each of 60 clients sends 16 MiB without the end, as far as the server reads it.
    message = query("SELECT " + "x" * (16 * 1024 * 1024 - 1000))[:-1000]
    halves = [started(server) for _ in range(60)]
    unsent = [memoryview(message)] * len(halves)
    peak = before
    progress = True
    while progress:
        progress = False
        writable = select.select([], halves, [], 1)[1]
        for i, connection in enumerate(halves):
            if connection in writable and unsent[i]:
                unsent[i] = unsent[i][connection.send(unsent[i][:65536], socket.MSG_DONTWAIT):]
                progress = True
        peak = max(peak, resident_mebibytes(server))
    with capsys.disabled():
        print(f"\n60 messages that never end: {before:.0f} MiB before, {peak:.0f} at most")
    assert peak - before < 400
    other = started(server)
    run(other, "SELECT key FROM system.local")
    for connection in halves:
        connection.close()


def test_a_small_statement_cannot_take_all_memory(server):
    writer, other = started(server), started(server)
    run(writer, KEYSPACE)
    run(writer, "CREATE TABLE s.t (a int, c int, v int, PRIMARY KEY (a, c))")
    before = resident_mebibytes(server)
    many = ",".join(map(str, range(12_000)))
    writer.sendall(query(f"UPDATE s.t SET v = 1 WHERE a IN ({many}) AND c IN ({many})"))
    began = time.monotonic()
    run(other, "SELECT key FROM system.local")
    assert time.monotonic() - began < 2
    opcode, body = receive(writer)
    assert opcode == 0 and b"combinations" in body
    assert resident_mebibytes(server) - before < 100


def test_statements_of_disconnected_clients_do_not_delay_others(tmp_path):
    """More statements than there are threads for long statements."""
    server = Server(data=str(tmp_path / "data"), arguments=["--set", "user_defined_functions_enabled=true"])
    try:
        other = started(server)
        run(other, KEYSPACE)
        run(other, "CREATE TABLE s.t (k int, c int, PRIMARY KEY (k, c))")
        for k in range(20):
            rows = "".join(f"INSERT INTO s.t (k, c) VALUES ({k}, {c});" for c in range(1000))
            run(other, f"BEGIN UNLOGGED BATCH {rows} APPLY BATCH")
        run(other, SLOW)
        long_one = query("SELECT max(s.slow(c)) FROM s.t", paged=False)  # 20 seconds
        leavers = [started(server) for _ in range(16)]
        for leaver in leavers:
            leaver.sendall(long_one)
        # While they run, requests that wait behind them are refused in time.
        before = time.monotonic()
        opcode, body = ask(other, "INSERT INTO s.t (k, c) VALUES (1, 1) IF NOT EXISTS")
        assert opcode == 8 or body[:4] == b"\0\0\x10\x01", body  # OVERLOADED
        assert time.monotonic() - before < 10
        for leaver in leavers:
            leaver.close()
        wait_until(lambda: ask(other, "SELECT count(*) FROM s.t WHERE k IN (1, 2)")[0] == 8)
        # A shutdown does not wait for the rest of a minute's work.
        stayers = [started(server) for _ in range(9)]
        for stayer in stayers:
            stayer.sendall(long_one)
        before = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - before < 15
    finally:
        server.close()


def test_a_read_that_takes_too_long_is_a_timeout(tmp_path):
    server = Server(data=str(tmp_path / "data"), arguments=["--set", "range_request_timeout=10ms", "--set",
                                                            "user_defined_functions_enabled=true"])
    try:
        client = started(server)
        for text in [KEYSPACE, "CREATE TABLE s.t (k int PRIMARY KEY)", SLOW,
                     *[f"INSERT INTO s.t (k) VALUES ({k})" for k in range(200)]]:
            run(client, text)
        opcode, body = ask(client, "SELECT s.slow(k) FROM s.t")
        assert opcode == 0 and body[:4] == b"\0\0\x12\0" and b"Operation timed out" in body, body
        run(client, "SELECT max(s.slow(k)) FROM s.t")  # an aggregate has no timeout as a whole
    finally:
        server.close()


@pytest.mark.parametrize("kind", ["read", "scan", "write"])
def test_ten_times_the_capacity(server, kind, capsys):
    if not OVERLOAD:
        pytest.skip("OVERLOAD does not name the load generator")
    done = subprocess.run([OVERLOAD, f"{server.host}:{server.port}", "--pid", str(server.process.pid), "--seconds", SECONDS,
                           "--kind", kind], capture_output=True, text=True, timeout=300)
    with capsys.disabled():
        print("\n" + done.stdout + done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
