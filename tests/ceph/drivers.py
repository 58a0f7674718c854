#!/usr/bin/python3
"""Unmodified drivers over three servers of a cluster on real Ceph: Java 4 and gocql.

    tests/ceph/with_ceph tests/ceph/drivers.py SIBYL [DRIVER...]

A program of each driver finds all servers with their tokens, and routes by token: at most one of 20 requests is forwarded. Then it
writes with four clients while a server is killed and started again. That costs at most the requests in flight, and the program
notices that the server is gone and that it is back. Drivers whose packages cannot be fetched are skipped by name.

A program gets SIBYL_HOST, SIBYL_PORT and SIBYL_COUNT, and prints `hosts N`: the servers that are up and have tokens. It writes and
reads SIBYL_COUNT partitions of ks.t and prints `executed STATEMENTS`. Then it follows the lines `load` (begin to write), `hosts`, `done`
(`done WRITES`) and `stop` (`stopped WRITES FAILED`).
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from servers import CONF, Server, free_port, is_settled, run_test, start_all, stop_all, wait_for

SIBYL = Server.program = sys.argv[1]
PLACE = "rados:sibyl/drivers"
POOL = ("--pool", "sibyl", "--namespace", "drivers")
SHARDS, KEYS, CLIENTS, LEASE = 8, 300, 4, 3.0
ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES, BUILD = ROOT / "tests/drivers", ROOT / "build/clients"


class Missing(Exception):
    """A driver cannot be built here."""


def run(command, folder, **options):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800, check=False, **options)
    if done.returncode != 0:
        raise Missing((done.stdout + done.stderr).strip()[-300:])


def gocql():
    folder = BUILD / "gocql"
    shutil.copytree(SOURCES / "gocql", folder, dirs_exist_ok=True)
    run(["go", "mod", "download"], folder)
    run(["go", "build", "-o", "on-cluster", "./cluster"], folder)
    return [str(folder / "on-cluster")]


def java():
    folder = BUILD / "java-driver-4"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(SOURCES / "java/pom.xml", folder)
    run(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"], folder)
    run(["javac", "-cp", "jars/*", "-d", "classes", str(SOURCES / "java/ClusterLoad.java")], folder)
    return ["java", "-Xmx512m", "-cp", f"{folder}/classes:{folder}/jars/*", "ClusterLoad"]


DRIVERS = {"gocql": gocql, "java": java}


class Program:
    def __init__(self, command, server):
        environment = dict(os.environ, SIBYL_HOST=server.host, SIBYL_PORT=str(server.port), SIBYL_COUNT=str(KEYS))
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        Server.processes.append(self.process)  # so that it is ended with them

    def said(self, word):
        """The numbers of the next line, which begins with this word."""
        line = self.process.stdout.readline()
        assert line.startswith(word + " "), line
        return [int(number) for number in line.split()[1:]]

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, word):
        self.tell(word)
        return self.said(word)[0]


def forwarded():
    shown = subprocess.run([SIBYL, "status", "--cluster", PLACE, "--ceph", CONF, "--json"], capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)["forwarded"]


def kill_one(program, victim, servers):
    before = program.ask("done")
    wait_for("writes", 30, lambda: program.ask("done") > before + 100)
    victim.signal(signal.SIGKILL)
    victim.process.wait()
    began = time.monotonic()
    wait_for("the driver to notice that a server is gone", 60, lambda: program.ask("hosts") == len(servers) - 1)
    gone = time.monotonic() - began
    before = program.ask("done")
    wait_for("writes to all partitions", 60, lambda: program.ask("done") > before + 2 * KEYS)
    victim.start()
    assert victim.is_ready.wait(60), victim.errors()
    began = time.monotonic()
    wait_for("the driver to notice that it is back", 90, lambda: program.ask("hosts") == len(servers))
    back = time.monotonic() - began
    wait_for("an even share of shards", 60, lambda: is_settled(servers, SHARDS, POOL))
    return gone, back


def check_driver(name, command, servers, victim):
    # Shards must not move meanwhile: drivers read tokens again at events of servers only.
    wait_for("an even share of shards", 60, lambda: is_settled(servers, SHARDS, POOL))
    before = forwarded()
    program = Program(command, servers[0])
    hosts = program.said("hosts")[0]
    statements = program.said("executed")[0]
    elsewhere = forwarded() - before
    program.tell("load")
    gone, back = kill_one(program, victim, servers)
    program.tell("stop")
    written, failed = program.said("stopped")
    assert program.process.wait(30) == 0
    print(f"{name}: {elsewhere:.0f} of {statements} requests were forwarded; kill -9 cost {failed} of {written} writes by {CLIENTS} clients, "
          f"noticed after {gone:.1f} s; back after {back:.1f} s", flush=True)
    assert hosts == len(servers), hosts
    assert elsewhere <= statements * 0.05
    assert failed <= CLIENTS


def main():
    commands = {}
    for name in sys.argv[2:] or DRIVERS:
        try:
            commands[name] = DRIVERS[name]()
        except (Missing, OSError, subprocess.TimeoutExpired) as why:
            print(f"{name}: skipped, it cannot be built: {why}", flush=True)
    subprocess.run([SIBYL, "cluster", "create", *POOL, "--ceph", CONF, "--lease-ms", str(int(LEASE * 1000)), "--shards", str(SHARDS)], check=True)
    port = free_port()
    servers = [Server(name, PLACE, f"127.0.0.{number}", port) for number, name in enumerate(("one", "two", "three"), 1)]
    start_all(servers)
    connection = servers[0].connect()
    connection.query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    connection.query("CREATE TABLE ks.t (k int PRIMARY KEY, v text)")
    connection.close()
    for number, (name, command) in enumerate(commands.items()):
        check_driver(name, command, servers, servers[1 + number % 2])
    stop_all(servers)


run_test(main)
