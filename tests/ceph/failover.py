#!/usr/bin/python3
"""Three servers of a cluster on real Ceph, under load: kill -9, SIGTERM and SIGSTOP of each in turn, and kill -9 of a storage node.

    tests/ceph/with_ceph [--durable] tests/ceph/failover.py SIBYL [--rounds N] [--seconds S] [--lease SECONDS]

The load is in loads.py: writes, conditional writes, counters, logged batches, and a table with a view. Whatever was acknowledged must
be there afterwards, and no read may be older than a write that was acknowledged before it began. Prints how long it took until all
partitions answered again, and how long the load was interrupted. Without --rounds or --seconds there is one round. Storage nodes are killed if
with_ceph has made durable ones.
"""
import argparse
import json
import os
import signal
import struct
import subprocess
import time

from loads import TABLES, check_all, make_loads
from servers import CONF, Connection, Server, is_settled, run_test, start_all, stop_all, wait_for

parser = argparse.ArgumentParser()
parser.add_argument("sibyl")
parser.add_argument("--rounds", type=int, default=0)
parser.add_argument("--seconds", type=float, default=0)
parser.add_argument("--lease", type=float, default=2.0)
ARGUMENTS = parser.parse_args()
LEASE = ARGUMENTS.lease
SHARDS = 16
PROBES = 64  # partitions that are read to see that all shards answer
SIBYL = Server.program = ARGUMENTS.sibyl
CEPH = os.environ["SIBYL_TEST_CEPH"]
IS_DURABLE = os.path.exists(f"{CEPH}/durable")


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


def storage_nodes_up():
    shown = subprocess.run(["ceph", "-c", CONF, "osd", "stat", "-f", "json"], check=True, capture_output=True)
    return json.loads(shown.stdout)["num_up_osds"]


def kill_storage_node(number, others):
    """Every object has three copies, and two suffice. Requests to the node wait until Ceph has found out that it is down."""
    path = f"{CEPH}/run/osd.{number}.pid"
    with open(path, encoding="utf-8") as file:
        os.kill(int(file.read()), signal.SIGKILL)
    began = time.monotonic()
    read_all(others[0])
    writer = Connection(others[0].port, timeout=60)
    for key in range(PROBES):
        writer.query(f"INSERT INTO ks.probes (k, v) VALUES ({key}, {key})")
    writer.close()
    took = time.monotonic() - began
    with open(f"{CEPH}/log/osd.{number}.out", "ab") as log:
        node = subprocess.Popen(["ceph-osd", "-f", "-i", str(number), "-c", CONF], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                start_new_session=True)
    with open(path, "w", encoding="utf-8") as file:
        print(node.pid, file=file)
    wait_for("the storage node", 60, lambda: storage_nodes_up() == 3)
    return took


def start_again(stopped, servers):
    """Starts servers that have ended. Returns how many did not end on their own account but lost their lease."""
    ended = [server for server in servers if server.process.poll() is not None]
    for server in ended:
        assert server in stopped or server.process.returncode == 4, server.errors()
        server.start()
    for server in ended:
        assert server.is_ready.wait(60), server.errors()
    wait_for("an even share of shards", 90, lambda: is_settled(servers, SHARDS))
    return len([server for server in ended if server not in stopped])


class Faults:
    """Runs faults under load, and counts them."""

    def __init__(self, servers):
        self.servers, self.count, self.lost_leases = servers, 0, 0

    def run(self, name, action, victim, max_seconds):
        """`victim` is a server, or the number of a storage node."""
        self.count += 1
        servers = self.servers
        others = [server for server in servers if server is not victim]
        loads = make_loads(self.count, servers)
        connection = Connection(others[0].port, timeout=60)
        for load in loads:
            load.prepare(connection)
        connection.close()
        for load in loads:
            load.start()
        wait_for("the load", 60, lambda: all(load.done > 2 for load in loads))
        took = action(victim, others)
        before = [load.done for load in loads]
        wait_for("the load after it", 60, lambda: all(load.done > n + 2 for load, n in zip(loads, before)))
        self.lost_leases += start_again([victim], servers)
        for load in loads:
            load.stopping.set()
        for load in loads:
            load.join()
        connection = Connection(others[0].port, timeout=60)
        check_all(connection, loads)
        connection.close()
        print(f"{name}: all partitions answer after {took:.2f} s, longest gap {max(load.longest_gap for load in loads):.2f} s, "
              f"{sum(load.done for load in loads)} steps were right, {sum(load.failed for load in loads)} had no answer", flush=True)
        assert took < max_seconds, f"{name} took {took:.2f} s"


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
    start_again([victim], servers)


def is_wanted(rounds, seconds):
    if ARGUMENTS.rounds and rounds >= ARGUMENTS.rounds:
        return False
    if ARGUMENTS.seconds:
        return seconds < ARGUMENTS.seconds
    return rounds < max(ARGUMENTS.rounds, 1)


def main():
    create = [SIBYL, "cluster", "create", "--ceph", CONF, "--pool", "sibyl", "--lease-ms", str(int(LEASE * 1000)), "--shards", str(SHARDS)]
    subprocess.run(create, check=True)
    assert subprocess.run(create, check=False, capture_output=True).returncode == 1
    servers = [Server("one"), Server("two"), Server("three")]
    start_all(servers)
    wait_for("an even share of shards", 60, lambda: is_settled(servers, SHARDS))
    connection = Connection(servers[0].port, timeout=30)
    connection.query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    for table in TABLES:
        connection.query(table)
    connection.query("CREATE TABLE ks.probes (k int PRIMARY KEY, v int)")
    for key in range(PROBES):
        connection.query(f"INSERT INTO ks.probes (k, v) VALUES ({key}, {key})")
    connection.close()
    # The lease, the observer's allowance and its polls, and opening the shards on a busy machine.
    faults, rounds, began = Faults(servers), 0, time.monotonic()
    while is_wanted(rounds, time.monotonic() - began):
        victims = servers[rounds % 3:] + servers[:rounds % 3]
        faults.run("kill -9", kill_nine, victims[0], LEASE + 8)
        if rounds == 0:
            faults.run("SIGTERM", terminate, victims[1], 8)
        faults.run("SIGSTOP", stop_and_resume, victims[2], LEASE + 8)
        if IS_DURABLE:
            faults.run("storage node", kill_storage_node, rounds % 3, 30)
        if rounds == 0:
            driver_round(servers, victims[0])
        rounds += 1
    print(f"{rounds} rounds, {faults.count} faults, nothing lost; {faults.lost_leases} other servers lost their lease and were started again",
          flush=True)
    stop_all(servers)


run_test(main)
