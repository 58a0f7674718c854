#!/usr/bin/python3
"""Two servers of a cluster on real Ceph, under load: kill -9, SIGTERM and SIGSTOP of the one that serves.

    tests/ceph/with_ceph tests/ceph/failover.py SIBYL [ROUNDS]

Every acknowledged write must be there afterwards, no read may be older than a write that was acknowledged before it began, and
conditional writes must apply once. Prints how long each takeover interrupted the load.
"""
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

LEASE = 2.0
CONF = os.path.join(os.environ["SIBYL_TEST_CEPH"], "ceph.conf")
SIBYL = sys.argv[1]
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 1
LOGS = tempfile.mkdtemp(prefix="sibyl-failover-")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Connection:
    """Just enough of protocol version 4, so that nothing is retried behind the test's back."""

    def __init__(self, port, timeout=3.0):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.call(1, struct.pack(">HH11sH5s", 1, 11, b"CQL_VERSION", 5, b"3.0.0"))

    def send(self, opcode, body):
        self.socket.sendall(struct.pack(">BBhBI", 4, 0, 1, opcode, len(body)) + body)

    def exactly(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise ConnectionError("closed")
            data += part
        return data

    def receive(self):
        header = self.exactly(9)
        return header[4], self.exactly(struct.unpack(">I", header[5:])[0])

    def call(self, opcode, body):
        self.send(opcode, body)
        return self.receive()

    @staticmethod
    def query_body(text):
        return struct.pack(">I", len(text)) + text.encode() + struct.pack(">HB", 1, 0)

    def query(self, text):
        """Returns the first column of the first row as bytes, None without rows. Raises RuntimeError for errors."""
        opcode, body = self.call(7, self.query_body(text))
        return self.result(opcode, body)

    @staticmethod
    def result(opcode, body):
        if opcode == 0:
            code, size = struct.unpack(">IH", body[:6])
            raise RuntimeError(f"{code:#06x} {body[6:6 + size].decode()}")
        if struct.unpack(">I", body[:4])[0] != 2:
            return None
        # Rows: skip the metadata, which has one keyspace and table for all columns.
        flags, columns = struct.unpack(">II", body[4:12])
        at = 12
        if flags & 1:
            for _ in range(2):
                at += 2 + struct.unpack(">H", body[at:at + 2])[0]
        for _ in range(columns):
            at += 2 + struct.unpack(">H", body[at:at + 2])[0]
            assert struct.unpack(">H", body[at:at + 2])[0] < 0x20, "only simple types"
            at += 2
        count = struct.unpack(">I", body[at:at + 4])[0]
        if count == 0:
            return None
        size = struct.unpack(">i", body[at + 4:at + 8])[0]
        return body[at + 8:at + 8 + size]

    def close(self):
        self.socket.close()


class Server:
    processes = []  # all that were started

    def __init__(self, name):
        self.name, self.port, self.process = name, free_port(), None
        self.is_ready = threading.Event()

    def start(self):
        self.is_ready = threading.Event()
        log = open(f"{LOGS}/{self.name}.log", "a", encoding="utf-8")
        self.process = subprocess.Popen(
            [SIBYL, "serve", "--cluster", "rados:sibyl", "--ceph", CONF, "--listen", f"127.0.0.1:{self.port}", "--metrics", "off"],
            stdout=subprocess.PIPE, stderr=log, text=True)
        log.close()
        Server.processes.append(self.process)
        assert self.process.stdout.readline() == f"standing by for 127.0.0.1:{self.port}\n", self.errors()
        threading.Thread(target=self.follow, args=(self.process, self.is_ready), daemon=True).start()

    @staticmethod
    def follow(process, is_ready):
        for line in process.stdout:
            if line.startswith("ready on "):
                is_ready.set()

    def errors(self):
        with open(f"{LOGS}/{self.name}.log", encoding="utf-8") as log:
            return log.read()

    def signal(self, number):
        self.process.send_signal(number)


class Load(threading.Thread):
    """One client: appends rows 0, 1, 2, …, counts up a register with IF, and reads both back. Asks whichever server answers."""

    def __init__(self, number, servers):
        super().__init__(daemon=True)
        self.number, self.servers = number, servers
        self.acknowledged, self.register, self.problems = [], 0, []
        self.stopping = threading.Event()
        self.last_success = time.monotonic()
        self.longest_gap = 0.0
        self.connection = None
        self.done = 0

    def run(self):
        row = 0
        while not self.stopping.is_set():
            try:
                if self.connection is None:
                    self.connection = Connection(random.choice(self.servers).port)
                self.step(row)
                now = time.monotonic()
                self.longest_gap = max(self.longest_gap, now - self.last_success)
                self.last_success = now
                self.done += 1
            except (OSError, RuntimeError):
                if self.connection is not None:
                    self.connection.close()
                self.connection = None
                self.stopping.wait(0.01)
            row += 1  # a row whose outcome is unknown is not written again

    def step(self, row):
        connection = self.connection
        connection.query(f"INSERT INTO ks.rows (k, c, v) VALUES ({self.number}, {row}, {row})")
        self.acknowledged.append(row)
        self.count_up(connection)
        latest = connection.query(f"SELECT c FROM ks.rows WHERE k = {self.number} ORDER BY c DESC LIMIT 1")
        if struct.unpack(">i", latest)[0] < row:
            self.problems.append(f"client {self.number}: row {row} was acknowledged, the latest read is {latest!r}")

    def count_up(self, connection):
        found = connection.query(f"SELECT v FROM ks.registers WHERE k = {self.number}")
        value = struct.unpack(">i", found)[0]
        if value < self.register:
            self.problems.append(f"client {self.number}: the register was {self.register}, then read as {value}")
        self.register = value
        applied = connection.query(f"UPDATE ks.registers SET v = {value + 1} WHERE k = {self.number} IF v = {value}")
        if applied != b"\1":
            self.problems.append(f"client {self.number}: nobody else writes the register, but {value} had changed")
        self.register = value + 1


def wait_for(what, seconds, condition):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.005)


def kill_nine(owner, standby):
    owner.signal(signal.SIGKILL)
    owner.process.wait()
    began = time.monotonic()
    assert standby.is_ready.wait(LEASE + 15), standby.errors()
    return time.monotonic() - began


def terminate(owner, standby):
    began = time.monotonic()
    owner.signal(signal.SIGTERM)
    assert standby.is_ready.wait(30), standby.errors()
    took = time.monotonic() - began
    assert owner.process.wait(30) == 0, owner.errors()
    assert time.monotonic() - began < 4, f"the process ended {time.monotonic() - began:.2f} s after SIGTERM"
    return took


def stop_and_resume(owner, standby):
    """Requests that reach a stopped server must not be answered with old rows when it continues."""
    waiting = [Connection(owner.port, timeout=30) for _ in range(8)]
    owner.signal(signal.SIGSTOP)
    began = time.monotonic()
    assert standby.is_ready.wait(LEASE + 15), standby.errors()
    took = time.monotonic() - began
    fresh = Connection(standby.port)
    fresh.query("INSERT INTO ks.rows (k, c, v) VALUES (-1, 1, 2)")
    for connection in waiting:
        connection.send(7, Connection.query_body("SELECT v FROM ks.rows WHERE k = -1 AND c = 1"))
    time.sleep(max(0, began + 2 * LEASE - time.monotonic()))
    owner.signal(signal.SIGCONT)
    for connection in waiting:
        try:
            value = Connection.result(*connection.receive())
            raise AssertionError(f"the resumed server answered {value!r}")
        except (OSError, RuntimeError):
            pass
        connection.close()
    assert owner.process.wait(30) == 4, owner.errors()
    fresh.query("INSERT INTO ks.rows (k, c, v) VALUES (-1, 1, 1)")
    fresh.close()
    return took


def check_rows(server, loads):
    connection = Connection(server.port, timeout=30)
    for load in loads:
        for row in load.acknowledged:
            value = connection.query(f"SELECT v FROM ks.rows WHERE k = {load.number} AND c = {row}")
            assert value is not None, f"client {load.number}: row {row} was acknowledged and is lost"
        value = struct.unpack(">i", connection.query(f"SELECT v FROM ks.registers WHERE k = {load.number}"))[0]
        assert load.register <= value <= load.register + 1, (load.register, value)
    connection.close()


def run_round(name, action, servers, most_seconds):
    owner = next(server for server in servers if server.is_ready.is_set())
    standby = next(server for server in servers if server is not owner)
    connection = Connection(owner.port)
    loads = [Load(number, servers) for number in range(4)]
    for load in loads:
        connection.query(f"DELETE FROM ks.rows WHERE k = {load.number}")
        connection.query(f"INSERT INTO ks.registers (k, v) VALUES ({load.number}, 0)")
    connection.close()
    for load in loads:
        load.start()
    wait_for("the load", 30, lambda: all(load.done > 20 for load in loads))
    took = action(owner, standby)
    owner.is_ready.clear()
    before = [load.done for load in loads]
    wait_for("the load after it", 30, lambda: all(load.done > n + 20 for load, n in zip(loads, before)))
    for load in loads:
        load.stopping.set()
    for load in loads:
        load.join()
        assert not load.problems, load.problems
    check_rows(standby, loads)
    gap = max(load.longest_gap for load in loads)
    print(f"{name}: served again after {took:.2f} s, longest gap {gap:.2f} s, "
          f"{sum(len(load.acknowledged) for load in loads)} acknowledged rows are there", flush=True)
    assert took < most_seconds, f"{name} took {took:.2f} s"
    owner.start()  # as the next standby


def driver_round(servers):
    """The Python driver with its default reconnection: it sees both servers, uses both, and goes on when one is killed."""
    from cassandra.cluster import Cluster, NoHostAvailable
    from cassandra import OperationTimedOut
    owner = next(server for server in servers if server.is_ready.is_set())
    standby = next(server for server in servers if server is not owner)
    cluster = Cluster(["127.0.0.1"], port=standby.port)  # the standby introduces the other
    session = cluster.connect()
    wait_for("two hosts that are up", 10, lambda: sum(bool(host.is_up) for host in cluster.metadata.all_hosts()) == 2)
    assert {host.endpoint.port for host in cluster.metadata.all_hosts()} == {owner.port, standby.port}
    insert = session.prepare("INSERT INTO ks.rows (k, c, v) VALUES (-2, ?, ?)")
    used, acknowledged = set(), []
    for number in range(20):
        result = session.execute_async(insert, (number, number))
        result.result()
        used.add(result.coordinator_host.endpoint.port)
        acknowledged.append(number)
    assert used == {owner.port, standby.port}, used
    owner.signal(signal.SIGKILL)
    owner.process.wait()
    owner.is_ready.clear()
    began, number = time.monotonic(), 20
    while True:
        try:
            session.execute(insert, (number, number), timeout=1)
            acknowledged.append(number)
            break
        except (NoHostAvailable, OperationTimedOut, OSError):
            assert time.monotonic() - began < LEASE + 20, standby.errors()
            number += 1
            time.sleep(0.05)
    took = time.monotonic() - began
    found = {row.c for row in session.execute("SELECT c FROM ks.rows WHERE k = -2")}
    assert set(acknowledged) <= found, set(acknowledged) - found
    print(f"driver: both servers used, wrote again {took:.2f} s after kill -9", flush=True)
    cluster.shutdown()
    owner.start()


def main():
    create = [SIBYL, "cluster", "create", "--ceph", CONF, "--pool", "sibyl", "--lease-ms", str(int(LEASE * 1000))]
    subprocess.run(create, check=True)
    assert subprocess.run(create, check=False, capture_output=True).returncode == 1
    servers = [Server("one"), Server("two")]
    servers[0].start()
    assert servers[0].is_ready.wait(30), servers[0].errors()
    servers[1].start()
    connection = Connection(servers[0].port, timeout=30)
    connection.query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    connection.query("CREATE TABLE ks.rows (k int, c int, v int, PRIMARY KEY (k, c))")
    connection.query("CREATE TABLE ks.registers (k int PRIMARY KEY, v int)")
    connection.query("INSERT INTO ks.rows (k, c, v) VALUES (-1, 1, 1)")
    connection.close()
    status = subprocess.run([SIBYL, "cluster", "status", "--ceph", CONF, "--pool", "sibyl", "--json"], check=True, capture_output=True)
    assert sorted(server["state"] for server in json.loads(status.stdout)["servers"]) == ["serving", "standby"], status.stdout
    # The lease, the observer's allowance and its polls, and opening the database on a busy machine.
    for _ in range(ROUNDS):
        run_round("kill -9", kill_nine, servers, LEASE + 5)
        run_round("SIGTERM", terminate, servers, 5)
        run_round("SIGSTOP", stop_and_resume, servers, LEASE + 5)
        driver_round(servers)
    for server in servers:
        server.signal(signal.SIGTERM)
    for server in servers:
        assert server.process.wait(30) == 0, server.errors()


try:
    main()
except BaseException:
    for log_name in sorted(os.listdir(LOGS)):
        with open(f"{LOGS}/{log_name}", encoding="utf-8") as log_file:
            print(f"--- {log_name}\n{log_file.read()}", file=sys.stderr)
    raise
finally:
    for left in Server.processes:
        if left.poll() is None:
            left.kill()  # also ends one that is stopped
            left.wait()
