"""A snapshot taken while clients write as fast as they can: it contains all acknowledged writes and no partial batch."""
import collections
import subprocess
import threading
import time

from conftest import BINARY, Server, connect

WRITERS = 4
PIPELINE = 64


def sibyl(*arguments):
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Writer:
    """Writes numbered batches over three partitions, many at once; `acknowledged` counts those acknowledged without gaps."""

    def __init__(self, session, insert, number):
        self.session, self.insert, self.number = session, insert, number
        self.acknowledged = 0
        self.failure = None
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def send(self, sequence):
        from cassandra.query import BatchStatement
        batch = BatchStatement()
        for part in range(3):
            batch.add(self.insert, (self.number, part, sequence))
        return self.session.execute_async(batch)

    def run(self):
        try:
            pending = collections.deque()
            sequence = 0
            while not self.stopping.is_set() or pending:
                while len(pending) < PIPELINE and not self.stopping.is_set():
                    pending.append(self.send(sequence))
                    sequence += 1
                pending.popleft().result()
                self.acknowledged += 1
        except Exception as error:  # reported by the thread of the test
            self.failure = error

    def wait_for(self, count):
        while self.acknowledged < count and self.failure is None:
            time.sleep(0.005)
        assert self.failure is None, self.failure

    def stop(self):
        self.stopping.set()
        self.thread.join()
        assert self.failure is None, self.failure


def prepare(session):
    session.execute("CREATE KEYSPACE s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    session.execute("CREATE TABLE s.t (writer int, part int, sequence int, PRIMARY KEY ((writer, part), sequence))")
    return session.prepare("INSERT INTO s.t (writer, part, sequence) VALUES (?, ?, ?)")


def check(folder, lower_bounds):
    """Every batch is complete, and all batches from before the snapshot are there."""
    restored = Server(data=str(folder))
    try:
        cluster = connect(restored)
        session = cluster.connect("s")
        for writer, acknowledged in enumerate(lower_bounds):
            parts = []
            for part in range(3):
                rows = session.execute("SELECT sequence FROM t WHERE writer = %s AND part = %s", (writer, part))
                parts.append({row.sequence for row in rows})
            assert parts[0] == parts[1] == parts[2], f"half a batch of writer {writer}"
            assert set(range(acknowledged)) <= parts[0], f"an acknowledged write of writer {writer} is missing"
        cluster.shutdown()
    finally:
        restored.close()


def test_snapshots_under_full_write_load(own_server, tmp_path):
    cluster = connect(own_server)
    session = cluster.connect()
    insert = prepare(session)
    writers = [Writer(session, insert, number) for number in range(WRITERS)]
    bounds = {}
    for name in ("first", "second", "third"):
        for writer in writers:
            writer.wait_for(writer.acknowledged + 300)
        bounds[name] = [writer.acknowledged for writer in writers]
        sibyl("snapshot", "take", name, "--data", own_server.data)
    for writer in writers:
        writer.stop()
    cluster.shutdown()
    for name, acknowledged in bounds.items():
        sibyl("snapshot", "verify", name, "--data", own_server.data)
        sibyl("snapshot", "restore", name, "--data", own_server.data, "--to", str(tmp_path / name))
        check(tmp_path / name, acknowledged)
    assert all(later > 0 for later in bounds["first"])
