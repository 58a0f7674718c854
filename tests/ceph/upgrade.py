#!/usr/bin/python3
"""Upgrades three servers of a cluster on real Ceph one after another, under load, from one program to another and back.

    tests/ceph/with_ceph tests/ceph/upgrade.py FORMER SIBYL

Both are `sibyl`, each with its plugin beside it. Whatever was acknowledged must be there afterwards, whichever of them served. A definition must reach servers
of both versions. If the versions do not work together, the newer one must refuse to start and name both formats.
"""
import signal
import subprocess
import sys
import time

from loads import TABLES, check_all, make_loads
from servers import CONF, Server, is_settled, run_test, start_all, stop_all, wait_for

FORMER, SIBYL = sys.argv[1:3]
Server.program = FORMER
SHARDS = 12


def version(program):
    return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip()


def replace(server, program, servers):
    """Stops a server and starts it with another program. Returns False if that refuses to work with the others."""
    server.signal(signal.SIGTERM)
    assert server.process.wait(60) == 0, server.errors()
    server.program = program
    try:
        server.start()
    except AssertionError:
        server.process.wait(30)
        assert "format" in server.errors(), server.errors()
        print(f"{version(program)} refuses to work with the others: {server.errors().strip().splitlines()[-1]}", flush=True)
        return False
    assert server.is_ready.wait(60), server.errors()
    wait_for("an even share of shards", 60, lambda: is_settled(servers, SHARDS))
    return True


def run_under_load(number, name, action, servers):
    loads = make_loads(number, servers)
    connection = servers[0].connect(60)
    for load in loads:
        load.prepare(connection)
    connection.close()
    for load in loads:
        load.start()
    wait_for("the load", 60, lambda: all(load.done > 2 for load in loads))
    began = time.monotonic()
    goes_on = action()
    took = time.monotonic() - began
    before = [load.done for load in loads]
    wait_for("the load after it", 60, lambda: all(load.done > n + 2 for load, n in zip(loads, before)))
    for load in loads:
        load.stopping.set()
    for load in loads:
        load.join()
    connection = servers[-1].connect(60)
    check_all(connection, loads)
    # A table that one server makes can be used at all of them.
    connection.query(f"CREATE TABLE ks.made_{number} (k int PRIMARY KEY, v int)")
    connection.close()
    for key, server in enumerate(server for server in servers if server.process.poll() is None):
        connection = server.connect(60)
        connection.query(f"INSERT INTO ks.made_{number} (k, v) VALUES ({key}, 1)")
        connection.close()
    print(f"{name}: {took:.1f} s, {sum(load.done for load in loads)} steps were right, {sum(load.failed for load in loads)} had no answer, "
          f"longest gap {max(load.longest_gap for load in loads):.2f} s", flush=True)
    return goes_on


def main():
    print(f"{version(FORMER)} and then {version(SIBYL)}", flush=True)
    subprocess.run([FORMER, "cluster", "create", "--ceph", CONF, "--pool", "sibyl", "--lease-ms", "3000", "--shards", str(SHARDS)], check=True)
    servers = [Server(name) for name in ("one", "two", "three")]
    start_all(servers)
    wait_for("an even share of shards", 60, lambda: is_settled(servers, SHARDS))
    connection = servers[0].connect()
    connection.query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    for table in TABLES:
        connection.query(table)
    connection.close()
    number = 0
    for program, what in ((SIBYL, "upgrade"), (FORMER, "downgrade")):
        for server in servers:
            number += 1
            if not run_under_load(number, f"{what} of {server.name}", lambda s=server, p=program: replace(s, p, servers), servers):
                return
    stop_all(servers)


run_test(main)
