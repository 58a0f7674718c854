"""One row that is written most of the time: large batches, and conditional writes that wait for each other."""
import os
import pathlib
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from test_stay_up import KEYSPACE, SLOW, Server, ask, frame, query, receive, run, server, started  # noqa: E402, F401

MAX_STATEMENTS = 65_535  # of a BATCH


def number(value):
    return struct.pack(">ii", 4, value)


def prepare(connection, text):
    """Prepares a statement, and returns its id in the form that a BATCH contains."""
    encoded = text.encode()
    connection.sendall(frame(9, struct.pack(">i", len(encoded)) + encoded))
    opcode, body = receive(connection)
    assert opcode == 8, body
    (size,) = struct.unpack(">H", body[4:6])
    return body[4:6 + size]


def batch(statement, rows):
    """An unlogged BATCH with the statement once for each list of values."""
    items = b"".join(b"\1" + statement + struct.pack(">H", len(row)) + b"".join(map(number, row)) for row in rows)
    return frame(0x0d, b"\1" + struct.pack(">H", len(rows)) + items + struct.pack(">HB", 1, 0))


def cpu_seconds(server):
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cost_of(server, connection, message):
    before = cpu_seconds(server)
    connection.sendall(message)
    opcode, body = receive(connection)
    assert opcode == 8, body
    return cpu_seconds(server) - before


def test_a_batch_of_one_row_costs_no_more_than_one_of_many_rows(server):  # noqa: F811
    writer, other = started(server), started(server)
    run(writer, KEYSPACE)
    run(writer, "CREATE TABLE s.t (k int, c int, m map<int, int>, PRIMARY KEY (k, c))")
    one_row = prepare(writer, "UPDATE s.t SET m[?] = ? WHERE k = 1 AND c = 1")
    many_rows = prepare(writer, "UPDATE s.t SET m[?] = 1 WHERE k = 2 AND c = ?")
    many = cost_of(server, writer, batch(many_rows, [(i, i) for i in range(MAX_STATEMENTS)]))
    one = cost_of(server, writer, batch(one_row, [(i, i) for i in range(MAX_STATEMENTS)]))
    assert one < 3 * many + 0.5, f"{one} s of CPU; {many} s for as many rows"
    # The same as separate statements, a hundred in flight. Each adds a fragment to the row until they are merged.
    before = cpu_seconds(server)
    for i in range(0, 8_000, 100):
        writer.sendall(b"".join(query(f"UPDATE s.t SET m[{j}] = 2 WHERE k = 1 AND c = 1") for j in range(i, i + 100)))
        for _ in range(100):
            opcode, body = receive(writer)
            assert opcode == 8, body
    assert cpu_seconds(server) - before < 20
    before = cpu_seconds(server)
    for _ in range(5):
        opcode, body = ask(other, "SELECT * FROM s.t WHERE k = 1")
        assert opcode == 8, body
    assert cpu_seconds(server) - before < 5


def test_writes_that_wait_for_a_hot_partition_do_not_delay_others(tmp_path):
    """Many more writes than there are threads in the blocking pool."""
    # On a busy machine the batch may take longer than read_request_timeout.
    server = Server(data=str(tmp_path / "data"), arguments=["--set", "user_defined_functions_enabled=true",
                                                            "--set", "read_request_timeout=60s"])
    try:
        holder, waiter, other = started(server), started(server), started(server)
        run(other, KEYSPACE)
        run(other, "CREATE TABLE s.t (k int PRIMARY KEY, v int)")
        run(other, SLOW)
        # Holds the partition's lock for many seconds. A statement has at most 500,000 tokens, and each update 18.
        slow = "".join("UPDATE s.t SET v = s.slow(1) WHERE k = 1;" for _ in range(27_000))
        holder.sendall(query(f"BEGIN BATCH UPDATE s.t SET v = 0 WHERE k = 1 IF v = null; {slow} APPLY BATCH", paged=False))
        hot = "UPDATE s.t SET v = 1 WHERE k = 1 IF v = 0"
        deadline = time.monotonic() + 60
        while ask(other, hot)[0] == 8:  # until the batch has the lock
            assert time.monotonic() < deadline, "the batch was refused"
        waiting = 300
        waiter.sendall(b"".join(query(hot, stream=i) for i in range(waiting)))
        sent = time.monotonic()
        for text in ["UPDATE s.t SET v = 1 WHERE k = 2 IF v = null", "SELECT count(*) FROM s.t",
                     "CREATE TABLE s.another (k int PRIMARY KEY)", "INSERT INTO s.t (k, v) VALUES (3, 3)"]:
            before = time.monotonic()
            run(other, text)
            assert time.monotonic() - before < 1.5, text
        started(server).close()
        for _ in range(waiting):
            opcode, body = receive(waiter)
            assert opcode == 0 and body[:4] == b"\0\0\x11\0" and b"CAS operation timed out" in body, body
            assert body.endswith(b"\0\3CAS"), body
        assert 1.5 < time.monotonic() - sent < 10
        holder.close()
        deadline = time.monotonic() + 30
        while ask(waiter, hot)[0] != 8:
            assert time.monotonic() < deadline
    finally:
        server.close()
