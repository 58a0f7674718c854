#!/usr/bin/env python3
"""kill -9 under a write load: every acknowledged write is present after a restart, and the store recovers by itself.

Usage: kill_nine.py BINARY [ROUNDS]. Each round starts the server, writes from several clients until the server is killed
at a random time, restarts it and reads back. It checks plain writes, logged batches (both rows or neither) and counters
(no acknowledged increment lost or applied twice). It also checks that indexes find exactly the rows that have the value:
indexes that are written all the time, and one that is being built when the server is killed. The seed is printed;
SEED=n repeats the times."""
import os
import pathlib
import random
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "drivers"))
os.environ.setdefault("SIBYL_BINARY", sys.argv[1])
import conftest  # noqa: E402
from cassandra.cluster import NoHostAvailable  # noqa: E402

WRITERS = 6
VALUES = 5  # distinct values of the indexed column


class Load:
    """Writes until the server is killed. Records which writes were acknowledged and which were only attempted."""

    def __init__(self, session, number):
        self.insert = session.prepare("INSERT INTO crash.t (w, n, v) VALUES (?, ?, ?)")
        self.pair = session.prepare("BEGIN BATCH INSERT INTO crash.a (w, n) VALUES (:w, :n); "
                                    "INSERT INTO crash.b (w, n) VALUES (:w2, :n2); APPLY BATCH")
        self.count = session.prepare("UPDATE crash.hits SET n = n + 1 WHERE w = ?")
        self.change = session.prepare("UPDATE crash.indexed SET v = ?, tags = ? WHERE w = ? AND n = ?")
        self.remove = session.prepare("DELETE FROM crash.indexed WHERE w = ? AND n = ?")
        self.session, self.number = session, number
        self.acknowledged, self.pairs, self.counted, self.count_attempts = [], [], 0, 0

    def run(self, start):
        n = start
        try:
            while True:
                self.session.execute(self.insert, (self.number, n, "x" * (n % 300)))
                self.acknowledged.append(n)
                if n % 5 == 0:
                    self.session.execute(self.pair, (self.number, n, self.number, n))
                    self.pairs.append(n)
                if n % 7 == 0:
                    self.count_attempts += 1
                    self.session.execute(self.count, (self.number,))
                    self.counted += 1
                if n % 11 == 0:
                    self.session.execute(self.remove, (self.number, n % 50))
                else:
                    self.session.execute(self.change, (n % VALUES, {f"t{n % 3}"}, self.number, n % 50))
                n += 1
        except Exception:  # the server was killed; requests in flight were not acknowledged
            self.next = n + 1


def read_back(session, loads, totals):
    problems = []
    for load in loads:
        w = load.number
        rows = {row.n: row.v for row in session.execute("SELECT n, v FROM crash.t WHERE w = %s", (w,))}
        lost = [n for n in totals[w]["acknowledged"] if rows.get(n) != "x" * (n % 300)]
        if lost:
            problems.append(f"writer {w}: {len(lost)} acknowledged writes lost or wrong, first {lost[0]}")
        left = {row.n for row in session.execute("SELECT n FROM crash.a WHERE w = %s", (w,))}
        right = {row.n for row in session.execute("SELECT n FROM crash.b WHERE w = %s", (w,))}
        if left != right:
            problems.append(f"writer {w}: half a batch: {sorted(left ^ right)[:5]}")
        if not set(totals[w]["pairs"]) <= left:
            problems.append(f"writer {w}: an acknowledged batch is lost")
        row = session.execute("SELECT n FROM crash.hits WHERE w = %s", (w,)).one()
        hits = row.n if row else 0
        if not totals[w]["counted"] <= hits <= totals[w]["attempts"]:
            problems.append(f"writer {w}: counter {hits}, acknowledged {totals[w]['counted']}, tried {totals[w]['attempts']}")
    return problems


def wait_until_built(session, names):
    for _ in range(600):
        built = {row.index_name for row in session.execute("SELECT index_name FROM system.\"IndexInfo\" WHERE table_name = 'crash'")}
        if names <= built:
            return []
        time.sleep(0.1)
    return [f"never built: {sorted(names - built)}"]


def check_indexes(session):
    session.execute("CREATE INDEX IF NOT EXISTS being_built ON crash.t (v)")  # the server may have been killed before it was created
    problems = wait_until_built(session, {"by_value", "by_range", "by_tag", "being_built"})
    rows = list(session.execute("SELECT w, n, v, tags FROM crash.indexed"))

    def compare(query, wanted):
        found = sorted((row.w, row.n) for row in session.execute(query))
        expected = sorted((row.w, row.n) for row in rows if wanted(row))
        if found != expected:
            problems.append(f"{query}: {len(found)} rows instead of {len(expected)}")

    for value in range(VALUES):
        compare(f"SELECT w, n FROM crash.indexed WHERE v = {value}", lambda row: row.v == value)
        compare(f"SELECT w, n FROM crash.indexed WHERE v > {value}", lambda row: row.v is not None and row.v > value)
    for tag in ("t0", "t1", "t2"):
        compare(f"SELECT w, n FROM crash.indexed WHERE tags CONTAINS '{tag}'", lambda row: tag in (row.tags or ()))
    rows = list(session.execute("SELECT w, n, v FROM crash.t"))
    for size in (1, 17, 299):
        compare(f"SELECT w, n FROM crash.t WHERE v = '{'x' * size}'", lambda row: row.v == "x" * size)
    return problems


def connect(server):
    for _ in range(100):
        try:
            cluster = conftest.connect(server)
            return cluster, cluster.connect()
        except NoHostAvailable:
            time.sleep(0.05)
    raise SystemExit("the server does not answer")


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    print(f"seed {seed}, {rounds} rounds")
    rng = random.Random(seed)
    server = conftest.Server()
    cluster, session = connect(server)
    session.execute("CREATE KEYSPACE crash WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    session.execute("CREATE TABLE crash.t (w int, n int, v text, PRIMARY KEY (w, n))")
    session.execute("CREATE TABLE crash.a (w int, n int, PRIMARY KEY (w, n))")
    session.execute("CREATE TABLE crash.b (w int, n int, PRIMARY KEY (w, n))")
    session.execute("CREATE TABLE crash.hits (w int PRIMARY KEY, n counter)")
    session.execute("CREATE TABLE crash.indexed (w int, n int, v int, tags set<text>, PRIMARY KEY (w, n))")
    session.execute("CREATE INDEX by_value ON crash.indexed (v)")
    session.execute("CREATE INDEX by_range ON crash.indexed (v) USING 'sai'")
    session.execute("CREATE INDEX by_tag ON crash.indexed (tags)")
    totals = {w: {"acknowledged": [], "pairs": [], "counted": 0, "attempts": 0} for w in range(WRITERS)}
    next_n = {w: 0 for w in range(WRITERS)}
    failures = 0
    for round_number in range(1, rounds + 1):
        loads = [Load(session, w) for w in range(WRITERS)]
        threads = [threading.Thread(target=load.run, args=(next_n[load.number],)) for load in loads]
        for thread in threads:
            thread.start()
        time.sleep(rng.uniform(0.1, 0.7))
        session.execute("DROP INDEX IF EXISTS crash.being_built")
        session.execute_async("CREATE INDEX being_built ON crash.t (v)")
        time.sleep(rng.uniform(0.0, 0.1))
        server.stop(signal.SIGKILL)
        for thread in threads:
            thread.join()
        cluster.shutdown()
        for load in loads:
            total = totals[load.number]
            total["acknowledged"] += load.acknowledged
            total["pairs"] += load.pairs
            total["counted"] += load.counted
            total["attempts"] += load.count_attempts
            next_n[load.number] = load.next
        server.start()
        cluster, session = connect(server)
        problems = read_back(session, loads, totals) + check_indexes(session)
        failures += len(problems)
        written = sum(len(total["acknowledged"]) for total in totals.values())
        print(f"round {round_number}: {written} acknowledged writes so far; {'; '.join(problems) or 'all there'}", flush=True)
        if sum(len(load.acknowledged) for load in loads) == 0:
            failures += 1
            print("no write was acknowledged in this round")
    cluster.shutdown()
    server.close()
    print(f"{rounds} rounds, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
