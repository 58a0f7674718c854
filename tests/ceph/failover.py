#!/usr/bin/python3
"""Three servers of a cluster on real Ceph, under load: kill -9, SIGTERM and SIGSTOP of each in turn.

    tests/ceph/with_ceph tests/ceph/failover.py SIBYL [ROUNDS]

Every acknowledged write must be there afterwards, no read may be older than a write that was acknowledged before it began, and
conditional writes must apply once. Prints how long it took until all partitions answered again, and how long the load was interrupted.
"""
import random
import signal
import struct
import subprocess
import sys
import threading
import time

from servers import CONF, Connection, Server, end_all, is_settled, print_logs, wait_for

LEASE = 2.0
SHARDS = 16
PROBES = 64  # partitions that are read to see that all shards answer
SIBYL = Server.program = sys.argv[1]
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 1


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
                    self.connection = Connection(random.choice(self.servers).port, timeout=15)
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


def read_all(server):
    """Reads partitions of all shards. A statement waits until its partition has an owner."""
    connection = Connection(server.port, timeout=30)
    for key in range(PROBES):
        assert connection.query(f"SELECT v FROM ks.probes WHERE k = {key}") == struct.pack(">i", key)
    connection.close()


def kill_nine(victim, others):
    victim.signal(signal.SIGKILL)
    victim.process.wait()
    began = time.monotonic()
    read_all(others[0])
    return time.monotonic() - began


def terminate(victim, others):
    began = time.monotonic()
    victim.signal(signal.SIGTERM)
    assert victim.process.wait(30) == 0, victim.errors()
    took = time.monotonic() - began
    read_all(others[0])
    return took


def stop_and_resume(victim, others):
    """Requests that reach a stopped server must not be answered with old rows when it continues."""
    waiting = [Connection(victim.port, timeout=30) for _ in range(PROBES)]
    victim.signal(signal.SIGSTOP)
    began = time.monotonic()
    read_all(others[0])
    took = time.monotonic() - began
    fresh = Connection(others[0].port, timeout=30)
    for key in range(PROBES):
        fresh.query(f"INSERT INTO ks.probes (k, v) VALUES ({key}, -1)")
    for key, connection in enumerate(waiting):
        connection.send(7, Connection.query_body(f"SELECT v FROM ks.probes WHERE k = {key}"))
    time.sleep(max(0, began + 2 * LEASE - time.monotonic()))
    victim.signal(signal.SIGCONT)
    for key, connection in enumerate(waiting):
        try:
            value = Connection.result(*connection.receive())
            assert value == struct.pack(">i", -1), f"the resumed server answered {value!r}"
        except (OSError, RuntimeError):
            pass
        connection.close()
    assert victim.process.wait(30) == 4, victim.errors()
    for key in range(PROBES):
        fresh.query(f"INSERT INTO ks.probes (k, v) VALUES ({key}, {key})")
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


def start_again(victim, servers):
    victim.start()
    assert victim.is_ready.wait(30), victim.errors()
    wait_for("an even share of shards", 60, lambda: is_settled(servers, SHARDS))


def run_round(name, action, victim, servers, most_seconds):
    others = [server for server in servers if server is not victim]
    connection = Connection(others[0].port, timeout=30)
    loads = [Load(number, servers) for number in range(4)]
    for load in loads:
        connection.query(f"DELETE FROM ks.rows WHERE k = {load.number}")
        connection.query(f"INSERT INTO ks.registers (k, v) VALUES ({load.number}, 0)")
    connection.close()
    for load in loads:
        load.start()
    wait_for("the load", 30, lambda: all(load.done > 20 for load in loads))
    took = action(victim, others)
    before = [load.done for load in loads]
    wait_for("the load after it", 30, lambda: all(load.done > n + 20 for load, n in zip(loads, before)))
    for load in loads:
        load.stopping.set()
    for load in loads:
        load.join()
        assert not load.problems, load.problems
    check_rows(others[0], loads)
    gap = max(load.longest_gap for load in loads)
    print(f"{name}: all partitions answer after {took:.2f} s, longest gap {gap:.2f} s, "
          f"{sum(len(load.acknowledged) for load in loads)} acknowledged rows are there", flush=True)
    assert took < most_seconds, f"{name} took {took:.2f} s"
    start_again(victim, servers)


def driver_round(servers, victim):
    """The Python driver with its default reconnection: it sees all servers, uses all, and continues when one is killed."""
    from cassandra.cluster import Cluster, NoHostAvailable
    from cassandra import OperationTimedOut, Unavailable, WriteTimeout
    others = [server for server in servers if server is not victim]
    ports = {server.port for server in servers}
    cluster = Cluster(["127.0.0.1"], port=others[0].port)  # it introduces the others
    session = cluster.connect()
    wait_for("all hosts", 10, lambda: sum(bool(host.is_up) for host in cluster.metadata.all_hosts()) == len(servers))
    assert {host.endpoint.port for host in cluster.metadata.all_hosts()} == ports
    insert = session.prepare("INSERT INTO ks.rows (k, c, v) VALUES (?, ?, ?)")
    used, acknowledged = set(), []
    for number in range(90):
        result = session.execute_async(insert, (-2 - number % 30, number, number))
        result.result()
        used.add(result.coordinator_host.endpoint.port)
        acknowledged.append(number)
    assert used == ports, used
    victim.signal(signal.SIGKILL)
    victim.process.wait()
    began, number = time.monotonic(), 90
    while number < 120:
        try:
            session.execute(insert, (-2 - number % 30, number, number), timeout=15)
            acknowledged.append(number)
        except (NoHostAvailable, OperationTimedOut, Unavailable, WriteTimeout, OSError):
            assert time.monotonic() - began < LEASE + 20, others[0].errors()
            time.sleep(0.05)
        number += 1
    took = time.monotonic() - began
    found = {row.c for row in session.execute("SELECT k, c FROM ks.rows WHERE k IN (" + ", ".join(str(-2 - k) for k in range(30)) + ")")}
    assert set(acknowledged) <= found, set(acknowledged) - found
    print(f"driver: all servers used, wrote to all partitions {took:.2f} s after kill -9", flush=True)
    cluster.shutdown()
    start_again(victim, servers)


def main():
    create = [SIBYL, "cluster", "create", "--ceph", CONF, "--pool", "sibyl", "--lease-ms", str(int(LEASE * 1000)), "--shards", str(SHARDS)]
    subprocess.run(create, check=True)
    assert subprocess.run(create, check=False, capture_output=True).returncode == 1
    servers = [Server("one"), Server("two"), Server("three")]
    for server in servers:
        server.start()
    for server in servers:
        assert server.is_ready.wait(60), server.errors()
    wait_for("an even share of shards", 60, lambda: is_settled(servers, SHARDS))
    connection = Connection(servers[0].port, timeout=30)
    connection.query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    connection.query("CREATE TABLE ks.rows (k int, c int, v int, PRIMARY KEY (k, c))")
    connection.query("CREATE TABLE ks.registers (k int PRIMARY KEY, v int)")
    connection.query("CREATE TABLE ks.probes (k int PRIMARY KEY, v int)")
    for key in range(PROBES):
        connection.query(f"INSERT INTO ks.probes (k, v) VALUES ({key}, {key})")
    connection.close()
    # The lease, the observer's allowance and its polls, and opening the shards on a busy machine.
    for number in range(ROUNDS):
        victims = servers[number % 3:] + servers[:number % 3]
        run_round("kill -9", kill_nine, victims[0], servers, LEASE + 8)
        run_round("SIGTERM", terminate, victims[1], servers, 8)
        run_round("SIGSTOP", stop_and_resume, victims[2], servers, LEASE + 8)
        driver_round(servers, victims[0])
    for server in servers:
        server.signal(signal.SIGTERM)
    for server in servers:
        assert server.process.wait(60) == 0, server.errors()


try:
    main()
except BaseException:
    print_logs(sys.stderr)
    raise
finally:
    end_all()
