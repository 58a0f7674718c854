"""Limits of single statements: memory, time, sizes of types. hostile.py searches for further cases."""
import pathlib
import signal
import struct
import subprocess
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "drivers"))
import hostile  # noqa: E402
from conftest import BINARY, Server  # noqa: E402
from hostile import MEBIBYTE, Connection  # noqa: E402

INVALID, OVERLOADED, WRITE_TIMEOUT, READ_TIMEOUT = 0x2200, 0x1001, 0x1100, 0x1200
KEYSPACE = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"


@pytest.fixture
def server(tmp_path):
    server = Server(data=str(tmp_path / "data"), arguments=["--memory", "512MiB"])
    yield server
    server.close()


def error_of(answer):
    """Returns the code and the text of an error, or (0, "")."""
    opcode, body = answer
    if opcode != 0:
        return 0, ""
    return struct.unpack(">i", body[:4])[0], body[6:].decode(errors="replace")


def prepared(connection, text):
    connection.send(9, struct.pack(">i", len(text)) + text.encode())
    opcode, body = connection.receive()
    assert opcode == 8, body
    return body[6:6 + struct.unpack(">H", body[4:6])[0]]


class MemoryWatch:
    """Measures the peak memory of a server in MiB while this runs."""

    def __init__(self, server):
        self.pid, self.peak, self.done = server.process.pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.done.wait(0.01):
            self.peak = max(self.peak, hostile.resident_mebibytes(self.pid))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def test_statements_stay_within_the_memory(server):
    connection = Connection(server.port)
    for statement in (KEYSPACE, "CREATE TABLE k.t (k int PRIMARY KEY, tx text, l list<text>, f frozen<list<text>>)",
                      "CREATE TABLE k.c (k int, c text, v text, PRIMARY KEY (k, c))"):
        assert connection.query(statement)[0] == 8
    for key in range(30):
        assert connection.query(f"INSERT INTO k.t (k, tx) VALUES ({key}, :t)", {"t": b"x" * 8 * MEBIBYTE})[0] == 8
    value = {"a": b"y" * MEBIBYTE}
    hungry = [
        ("SELECT " + ", ".join(["tx"] * 1000) + " FROM k.t WHERE k = 1", None),
        ("SELECT JSON " + ", ".join(f"tx AS t{i}" for i in range(500)) + " FROM k.t WHERE k = 1", None),
        ("SELECT (list<text>)[" + ", ".join(["tx"] * 1000) + "] FROM k.t WHERE k = 1", None),
        ("SELECT " + " + ".join(["tx"] * 200) + " FROM k.t WHERE k = 1", None),
        ("SELECT " + "to_json(" * 40 + "'" + "\\" * 10 + "'" + ")" * 40 + " FROM system.local", None),
        ("SELECT " + ", ".join(["mask_inner(tx, 0, 0)"] * 500) + " FROM k.t WHERE k = 1", None),
        ("SELECT " + ", ".join(["max(tx)"] * 3000) + " FROM k.t", None),
        ("SELECT " + ", ".join(["(text):a"] * 3000) + " FROM k.t WHERE k = 1", value),
        ("INSERT INTO k.t (k, l) VALUES (9, [" + ", ".join([":a"] * 1000) + "])", value),
        ("INSERT INTO k.t (k, f) VALUES (9, [" + ", ".join([":a"] * 5000) + "])", value),
        ("BEGIN UNLOGGED BATCH " + " ".join(f"INSERT INTO k.c (k, c, v) VALUES ({i}, 'a', :a);" for i in range(2000)) + " APPLY BATCH", value),
    ]
    with MemoryWatch(server) as watch:
        for text, values in hungry:
            code, message = error_of(connection.query(text, values))
            assert code in (INVALID, OVERLOADED), (text[:80], code, message)
        # One after another, and eight at once, without pages.
        others = [Connection(server.port) for _ in range(8)]
        for other in others:
            other.send(7, hostile.query_body("SELECT * FROM k.t"))
        for other in others:
            assert error_of(other.receive())[0] in (INVALID, OVERLOADED)
        assert connection.query("SELECT k FROM k.c WHERE k = 1")[0] == 8
    assert watch.peak < 512 * 1.2


def test_pages_of_large_rows_are_served_in_little_memory(server):
    connection = Connection(server.port)
    for statement in (KEYSPACE, "CREATE TABLE k.t (k int, c int, tx text, PRIMARY KEY (k, c))"):
        assert connection.query(statement)[0] == 8
    for key in range(30):
        assert connection.query(f"INSERT INTO k.t (k, c, tx) VALUES (1, {key}, :t)", {"t": b"x" * 8 * MEBIBYTE})[0] == 8
    with MemoryWatch(server) as watch:
        assert connection.query("SELECT * FROM k.t WHERE k = 1", page_size=5000)[0] == 8
    assert watch.peak < 512


def test_rows_with_millions_of_elements(tmp_path):
    """Merging such a row takes memory for its bytes, and statements that need more than they may are refused."""
    memory = 256
    server = Server(data=str(tmp_path / "data"), arguments=["--memory", f"{memory}MiB"])
    try:
        connection = Connection(server.port)
        for statement in (KEYSPACE, "CREATE TABLE k.t (k int PRIMARY KEY, v int, l list<text>)",
                          "INSERT INTO k.t (k, v) VALUES (1, 1)", "INSERT INTO k.t (k, v) VALUES (2, 2)",
                          "INSERT INTO k.t (k, v) VALUES (3, 3)"):
            assert connection.query(statement)[0] == 8
        part = 60_000
        elements = struct.pack(">i", part) + (struct.pack(">i", 1) + b"a") * part
        with MemoryWatch(server) as watch:
            for key, count in ((1, 2_400_000), (2, 840_000)):
                for _ in range(count // part):
                    answer = connection.query(f"UPDATE k.t SET l = l + :l WHERE k = {key}", {"l": elements})
                    assert answer[0] == 8, error_of(answer)
            read_rows_with_millions_of_elements(server, connection)
            for _ in range(2):
                compact_beside_readers(server, tmp_path / "data")
                read_rows_with_millions_of_elements(server, connection)
        assert watch.peak < memory * 1.2
    finally:
        server.close()


def compact_beside_readers(server, data):
    """Six clients read a large row again and again. Their reads may be refused, but the compaction is not."""
    done, answers = threading.Event(), []

    def read():
        reader = Connection(server.port)
        while not done.is_set():
            answers.append(error_of(reader.query("SELECT v FROM k.t WHERE k = 1"))[0])

    readers = [threading.Thread(target=read) for _ in range(6)]
    for reader in readers:
        reader.start()
    try:
        subprocess.run([BINARY, "compact", "--data", str(data)], check=True, timeout=300)
    finally:
        done.set()
        for reader in readers:
            reader.join()
    assert answers and set(answers) <= {0, INVALID, OVERLOADED, READ_TIMEOUT}, set(answers)


def read_rows_with_millions_of_elements(server, connection):
    refused = (INVALID, OVERLOADED, READ_TIMEOUT, WRITE_TIMEOUT)
    readers = [Connection(server.port) for _ in range(6)]
    for reader in readers:
        reader.send(7, hostile.query_body("SELECT * FROM k.t WHERE k = 1"))
    for reader in readers:
        assert error_of(reader.receive())[0] in refused
    assert error_of(connection.query("UPDATE k.t SET l[5] = 'b' WHERE k = 1"))[0] in refused
    # Elements that are not selected are not decoded.
    assert error_of(connection.query("SELECT l FROM k.t WHERE k = 2"))[0] in refused
    for key in (2, 3):
        answer = connection.query(f"SELECT v FROM k.t WHERE k = {key}")
        assert answer[0] == 8, error_of(answer)
        assert answer[1].endswith(struct.pack(">ii", 4, key))


def test_types_have_a_maximum_size(server):
    connection = Connection(server.port)
    for text in ("SELECT mask_default((vector<float, 2147483647>)null) FROM system.local",
                 "SELECT mask_default((frozen<tuple<vector<float, 2147483647>>>)null) FROM system.local",
                 "SELECT (vector<vector<float, 65536>, 65536>)null FROM system.local"):
        code, message = error_of(connection.query(text))
        assert code == INVALID and "Types may hold at most 65536 values" in message, message
    assert connection.query("SELECT mask_default((vector<float, 1024>)null) FROM system.local")[0] == 8


LONG_NUMBER = {"a": struct.pack(">i", 0) + b"\x7f" + b"\xff" * 65000}


def test_arithmetic_does_not_delay_others(server):
    """Eight clients compute logarithms of long numbers for seconds each. Other clients are served, and SIGTERM stops the server."""
    connection = Connection(server.port)
    for statement in (KEYSPACE, "CREATE TABLE k.t (k int PRIMARY KEY, v int)", "INSERT INTO k.t (k, v) VALUES (1, 1)"):
        assert connection.query(statement)[0] == 8
    text = "SELECT " + ", ".join(["CAST((decimal):a AS text)"] * 2000) + " FROM {}"
    identity = prepared(connection, text.format("k.t WHERE k = 1"))
    attackers = [Connection(server.port) for _ in range(8)]
    for index, attacker in enumerate(attackers):
        if index % 2:
            attacker.send(7, hostile.query_body(text.format("system.local"), LONG_NUMBER))
        else:
            attacker.send(0x0A, struct.pack(">H", len(identity)) + identity + struct.pack(">HBH", 1, 0x41, 1) + hostile.string("a")
                          + struct.pack(">i", len(LONG_NUMBER["a"])) + LONG_NUMBER["a"])
    begun = time.monotonic()
    for _ in range(20):
        assert Connection(server.port, timeout=5).query("SELECT v FROM k.t WHERE k = 1")[0] == 8
        assert connection.query("SELECT * FROM k.t")[0] == 8
    assert connection.query("CREATE TABLE k.x (k int PRIMARY KEY)")[0] == 8
    assert connection.query("UPDATE k.t SET v = 2 WHERE k = 1 IF EXISTS")[0] == 8
    assert time.monotonic() - begun < 10  # takes a second or less if nothing else runs
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(timeout=15) == 0


def test_many_list_indexes_end_in_time(server):
    """Each index costs as much as the list is long: all of these would take minutes."""
    connection = Connection(server.port)
    for statement in (KEYSPACE, "CREATE TABLE k.t (k int PRIMARY KEY, l list<int>)",
                      f"INSERT INTO k.t (k, l) VALUES (1, {list(range(30_000))})"):
        assert connection.query(statement)[0] == 8
    indexes = ", ".join(f"l[{i}] = 1" for i in range(30_000))
    code, message = error_of(connection.query(f"UPDATE k.t SET {indexes} WHERE k = 1"))
    assert code == WRITE_TIMEOUT, message
    assert connection.query("UPDATE k.t SET l[7] = 1 WHERE k = 1")[0] == 8


def test_hostile_statements():
    """Runs hostile.py for a few seconds. Longer runs are started by hand, as its --help says."""
    command = [sys.executable, str(pathlib.Path(hostile.__file__)), "--binary", BINARY, "--seconds", "20", "--stall-ms", "400"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert ended.returncode == 0, ended.stdout + ended.stderr
