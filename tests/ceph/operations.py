#!/usr/bin/python3
"""Operating three servers of a cluster on real Ceph.

    tests/ceph/with_ceph tests/ceph/operations.py SIBYL

Drivers route by token: at most one of 20 requests is forwarded. `sibyl status`, `flush`, `compact` and `snapshot` work on the
cluster, and a snapshot becomes another one. While Ceph is full, writes are refused with an error and reads go on. While one of three
storage nodes is down, everything goes on. Prints what it has measured.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from cassandra.cluster import Cluster
from servers import CONF, Server, free_port, is_settled, run_test, start_all, stop_all, wait_for

SIBYL = Server.program = sys.argv[1]
PLACE = "rados:sibyl/operations"
POOL = ("--pool", "sibyl", "--namespace", "operations")
SHARDS, KEYS = 8, 300
CEPH = os.environ["SIBYL_TEST_CEPH"]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def sibyl(*arguments, status=0):
    done = subprocess.run([SIBYL, *arguments, "--ceph", CONF], capture_output=True, text=True, check=False)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def totals():
    return json.loads(sibyl("status", "--cluster", PLACE, "--json"))


def count_of_statements(found):
    return sum(kind["count"] for kind in found["statements"].values())


def must_route_by_token(name, run):
    """Runs statements for single partitions. Those that reach another server than their owner are forwarded."""
    before = totals()
    statements = run()
    after = totals()
    forwarded = after["forwarded"] - before["forwarded"]
    assert count_of_statements(after) - count_of_statements(before) >= statements
    print(f"{name}: {forwarded:.0f} of {statements} requests were forwarded", flush=True)
    assert forwarded <= statements * 0.05


def python_driver(servers):
    cluster = Cluster([servers[0].host], port=servers[0].port)
    session = cluster.connect("ks")
    wait_for("all hosts", 20, lambda: sum(bool(host.is_up) for host in cluster.metadata.all_hosts()) == len(servers))
    insert = session.prepare("INSERT INTO t (k, v) VALUES (?, 'python')")
    select = session.prepare("SELECT v FROM t WHERE k = ?")

    def run():
        for key in range(KEYS):
            session.execute(insert, (key,))
            assert session.execute(select, (key,)).one().v == "python"
        return 2 * KEYS

    must_route_by_token("Python driver", run)
    cluster.shutdown()


def node_driver(servers):
    folder = ROOT / "build/clients/node"
    if not (folder / "node_modules/cassandra-driver").exists():
        shutil.copytree(ROOT / "tests/drivers/node", folder, dirs_exist_ok=True)
        installed = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        if installed.returncode != 0:
            print(f"Node driver: skipped, npm cannot install it: {installed.stderr.strip()[:200]}", flush=True)
            return

    def run():
        done = subprocess.run(["node", str(ROOT / "tests/ceph/token_aware.js"), servers[1].host, str(servers[1].port), str(KEYS)], capture_output=True,
                              text=True, check=False, timeout=120, env=dict(os.environ, NODE_PATH=str(folder / "node_modules")))
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    must_route_by_token("Node driver", run)


def count_of(server):
    connection = server.connect()
    count = int.from_bytes(connection.query("SELECT count(*) FROM ks.t"), "big")
    connection.close()
    return count


def maintain(servers):
    sibyl("flush", "--cluster", PLACE)
    found = totals()
    assert sum(server["log"]["shards"] for server in found["servers"]) <= SHARDS
    assert {shard["shard"] for server in found["servers"] for shard in server["shards"]} == set(range(SHARDS)), found
    for server in servers:
        connection = server.connect()
        partitions = connection.query("SELECT partitions FROM system_views.table_statistics WHERE keyspace_name = 'ks' AND table_name = 't'")
        assert int.from_bytes(partitions, "big") == KEYS
        connection.close()
    sibyl("compact", "ks.t", "--cluster", PLACE)
    assert "Table 'ks.none' does not exist" in sibyl("compact", "ks.none", "--cluster", PLACE, status=1)
    assert "127.0.0.1" in sibyl("cluster", "status", *POOL)
    assert "ks.t" in sibyl("status", "--cluster", PLACE)
    print("flush, compact and status reach all shards", flush=True)


def snapshots(servers):
    began = time.monotonic()
    assert "took snapshot one" in sibyl("snapshot", "take", "one", "--cluster", PLACE)
    took = time.monotonic() - began
    connection = servers[0].connect()
    connection.query("TRUNCATE ks.t")
    connection.close()
    sibyl("compact", "--cluster", PLACE)
    assert "one" in sibyl("snapshot", "list", "--cluster", PLACE)
    assert "is intact" in sibyl("snapshot", "verify", "one", "--cluster", PLACE)
    assert "has a cluster already" in sibyl("snapshot", "restore", "one", "--cluster", PLACE, "--to", PLACE, status=1)
    sibyl("snapshot", "restore", "one", "--cluster", PLACE, "--to", "rados:sibyl/restored")
    restored = Server("restored", "rados:sibyl/restored")
    restored.start()
    assert restored.is_ready.wait(60), restored.errors()
    assert count_of(restored) == KEYS
    restored.signal(signal.SIGTERM)
    assert restored.process.wait(60) == 0, restored.errors()
    assert count_of(servers[0]) == 0
    sibyl("snapshot", "clear", "one", "--cluster", PLACE)
    assert "no snapshots" in sibyl("snapshot", "list", "--cluster", PLACE)
    left = subprocess.run(["rados", "-c", CONF, "-p", "sibyl", "--namespace", "operations", "ls"], capture_output=True, text=True, check=True).stdout
    assert "snapshot-one" not in left, left
    print(f"a snapshot was taken in {took:.2f} s, and restored as another cluster", flush=True)


def ceph(*arguments):
    subprocess.run(["ceph", "-c", CONF, *arguments], check=True, capture_output=True)


def try_write(connection, key):
    try:
        connection.query(f"INSERT INTO ks.t (k, v) VALUES ({key}, 'x')")
        return None
    except RuntimeError as refused:
        return str(refused)


def full_ceph(servers):
    connections = [server.connect(60) for server in servers]
    for key in range(30):
        assert try_write(connections[key % 3], key) is None
    ceph("tell", "osd.*", "injectfull", "full")
    refusals = []

    def all_refused():
        refusals[:] = [try_write(connections[key % 3], 1000 + key) for key in range(30)]
        return all(refusals)

    wait_for("refused writes", 60, all_refused)
    assert all("full" in refusal for refusal in refusals), refusals
    for key in range(30):
        assert connections[key % 3].query(f"SELECT v FROM ks.t WHERE k = {key}") == b"x"
    ceph("tell", "osd.*", "injectfull", "none")
    wait_for("accepted writes", 60, lambda: all(try_write(connections[key % 3], key) is None for key in range(30)))
    print(f"full: writes were refused ({refusals[0]}), reads went on, and writes were accepted again", flush=True)


def degraded_ceph(servers):
    connection = servers[0].connect(120)
    with open(f"{CEPH}/run/osd.0.pid", encoding="utf-8") as file:
        node = int(file.read())
    os.kill(node, signal.SIGSTOP)
    try:
        began = time.monotonic()
        ceph("osd", "down", "0")
        longest = 0.0
        while time.monotonic() - began < 15:
            for key in range(20):
                at = time.monotonic()
                assert try_write(connection, key) is None
                assert connection.query(f"SELECT v FROM ks.t WHERE k = {key}") == b"x"
                longest = max(longest, time.monotonic() - at)
    finally:
        os.kill(node, signal.SIGCONT)
    for key in range(20):
        assert try_write(connection, key) is None
    print(f"degraded: no statement failed, the slowest took {longest:.1f} s", flush=True)


def main():
    sibyl("cluster", "create", *POOL, "--lease-ms", "30000", "--shards", str(SHARDS))
    # Some drivers know servers by their addresses only, without ports.
    port = free_port()
    servers = [Server(name, PLACE, f"127.0.0.{number}", port) for number, name in enumerate(("one", "two", "three"), 1)]
    start_all(servers)
    wait_for("an even share of shards", 60, lambda: is_settled(servers, SHARDS, POOL))
    connection = servers[0].connect()
    connection.query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    connection.query("CREATE TABLE ks.t (k int PRIMARY KEY, v text)")
    connection.close()
    python_driver(servers)
    node_driver(servers)
    maintain(servers)
    snapshots(servers)
    full_ceph(servers)
    degraded_ceph(servers)
    stop_all(servers)


run_test(main)
