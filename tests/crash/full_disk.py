#!/usr/bin/env python3
"""A full disk: fill, enlarge, write, TRUNCATE, DROP, DELETE, kill -9 and restart. No acknowledged row is lost.

Usage: full_disk.py BINARY [ROUNDS] [KIND...]. KIND is tmpfs (120 MB, enlarged by 40 MB with a remount) or ext4 (a file that is
mounted as a loop device, enlarged by another program that removes its file). Both need root. A kind that cannot be mounted is
skipped with the reason. If none can be mounted, the exit status is 77. The seed is printed; SEED=n repeats the choices.

Each round checks that
 1. writes are refused with an error that names the needed and the free bytes, and reads continue;
 2. a killed server restarts on a file system without a single free byte;
 3. writes succeed again when the file system is enlarged;
 4. DELETE, TRUNCATE and DROP work when it is full again, and the space is free within 10 seconds, even if the server is
    killed right after the statement;
 5. every acknowledged row is present, and no row that was refused or dropped."""
import contextlib
import hashlib
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "drivers"))
os.environ.setdefault("SIBYL_BINARY", sys.argv[1])
import conftest  # noqa: E402
from cassandra.cluster import NoHostAvailable  # noqa: E402

MEGABYTE = 1 << 20
SIZE, GROWTH = 120 * MEGABYTE, 40 * MEGABYTE
WRITERS = 6
ROW_BYTES = 20_000
REFUSALS = 5  # consecutive refusals after which a writer considers the disk full
KEPT_SHARE = 25  # one of 25 rows is kept
SKIPPED = 77
ERROR = re.compile(r"(\d+) bytes are needed and (\d+) bytes are free")


class CannotMount(Exception):
    pass


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotMount(f"{' '.join(command)}: {done.stderr.strip()}")


class Tmpfs:
    """A tmpfs. A remount changes its size."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "disk")
        os.mkdir(self.path)
        run("mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", self.path)

    def enlarge(self):
        run("mount", "-o", f"remount,size={SIZE + GROWTH}", self.path)

    def shrink(self):
        subprocess.run(["mount", "-o", f"remount,size={SIZE}", self.path], check=True)

    def close(self):
        subprocess.run(["umount", self.path], check=False)


class Ext4:
    """A loop device. A file of another program takes a part of it."""

    def __init__(self, folder):
        self.path, image = os.path.join(folder, "disk"), os.path.join(folder, "image")
        os.mkdir(self.path)
        with open(image, "wb") as file:
            file.truncate(SIZE + GROWTH)
        run("mkfs.ext4", "-q", "-m", "0", image)
        run("mount", "-o", "loop", image, self.path)
        self.shrink()

    def enlarge(self):
        os.unlink(os.path.join(self.path, "other"))

    def shrink(self):
        with open(os.path.join(self.path, "other"), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, GROWTH)

    def close(self):
        subprocess.run(["umount", self.path], check=False)


def free_bytes(disk):
    status = os.statvfs(disk.path)
    return status.f_bavail * status.f_frsize


@contextlib.contextmanager
def filled_by_another(disk):
    """Leaves no free byte while the context is active."""
    path = os.path.join(disk.path, "filler")
    with open(path, "wb", buffering=0) as file:
        for size in (MEGABYTE, 4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * size)
    yield
    os.unlink(path)


def value_of(number):
    seed = hashlib.sha256(str(number).encode()).digest()
    return random.Random(seed).randbytes(ROW_BYTES - number % 7_000)


class Rows:
    """Records which rows of a table were acknowledged and which were refused."""

    def __init__(self, name):
        self.name, self.stored, self.refused = name, {}, set()

    def forget(self):
        self.stored, self.refused = {}, set()

    def problems(self, session):
        found = {row.id: row.v for row in session.execute(f"SELECT id, v FROM {self.name}")}
        lost = [n for n in self.stored if n not in found]
        wrong = [n for n in self.stored if n in found and found[n] != value_of(n)]
        back = [n for n in self.refused if n in found]
        named = (("lost", lost), ("wrong", wrong), ("refused or dropped and there", back))
        return [f"{self.name}: {len(numbers)} rows {what}, first {numbers[0]}" for what, numbers in named if numbers]

    def bytes(self):
        return sum(self.stored.values())


class Round:
    def __init__(self, server, disk, kept, junk, rng):
        self.server, self.disk, self.kept, self.junk, self.rng = server, disk, kept, junk, rng
        self.problems, self.errors = [], []
        self.connect()

    def connect(self):
        for _ in range(200):
            try:
                self.cluster = conftest.connect(self.server)
                self.session = self.cluster.connect()
                break
            except NoHostAvailable:
                time.sleep(0.05)
        else:
            raise SystemExit("the server does not answer")
        self.session.default_fetch_size = 200
        self.prepare()

    def prepare(self):
        self.inserts = {rows: self.session.prepare(f"INSERT INTO {rows.name} (id, v) VALUES (?, ?)")
                        for rows in (self.kept, self.junk)}

    def restart(self):
        self.cluster.shutdown()
        self.server.stop(signal.SIGKILL)
        self.server.start()
        self.connect()

    def expect(self, condition, problem):
        if not condition:
            self.problems.append(problem)

    def insert(self, rows, number):
        value = value_of(number)
        try:
            self.session.execute(self.inserts[rows], (number, value))
        except Exception as error:  # noqa: BLE001: refused, with the reason
            rows.refused.add(number)
            self.errors.append(str(error))
            return False
        rows.stored[number] = len(value)
        return True

    def fill(self):
        """Writes until the disk is full."""
        def write(numbers):
            refused = 0
            while refused < REFUSALS:
                number = next(numbers)
                rows = self.kept if number % KEPT_SHARE == 0 else self.junk
                refused = 0 if self.insert(rows, number) else refused + 1
                if refused:
                    time.sleep(0.2)  # a flush may be in progress

        first = self.rng.randrange(1 << 40) * 1_000_000
        threads = [threading.Thread(target=write, args=(iter(range(first + i, first + 1_000_000, WRITERS)),))
                   for i in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        named = ERROR.search(self.errors[-1])
        self.expect(named and int(named[1]) > int(named[2]), f"the error does not name bytes: {self.errors[-1]}")

    def check_rows(self):
        self.problems += self.kept.problems(self.session) + self.junk.problems(self.session)

    def write_again(self, when):
        """Checks that a write succeeds within five seconds."""
        began, number = time.monotonic(), self.rng.randrange(1 << 60)
        while not self.insert(self.kept, number):
            if time.monotonic() - began > 5:
                self.problems.append(f"{when}: writes are still refused: {self.errors[-1]}")
                return
            number += 1
            time.sleep(0.1)

    def delete_some(self):
        for number in self.rng.sample(sorted(self.kept.stored), min(20, len(self.kept.stored))):
            self.session.execute(f"DELETE FROM {self.kept.name} WHERE id = {number}")
            del self.kept.stored[number]
            self.kept.refused.add(number)

    def drop(self, statement, killed):
        before, expected = free_bytes(self.disk), self.junk.bytes() * 8 // 10
        self.session.execute(statement.format(self.junk.name))
        dropped = set(self.junk.stored)
        self.junk.forget()
        self.junk.refused |= dropped
        began = time.monotonic()
        if killed:
            time.sleep(self.rng.choice((0, 0.3, 0.6, 1, 2)))
            self.restart_without_junk()
        while free_bytes(self.disk) < before + expected and time.monotonic() - began < 10:
            time.sleep(0.05)
        freed = free_bytes(self.disk) - before
        self.expect(freed >= expected, f"{statement}: {freed} bytes are free after 10 s, not {expected}")
        if statement.startswith("DROP"):
            self.session.execute(f"CREATE TABLE {self.junk.name} (id bigint PRIMARY KEY, v blob)")
        self.prepare()
        return time.monotonic() - began

    def restart_without_junk(self):
        self.cluster.shutdown()
        self.server.stop(signal.SIGKILL)
        self.server.start()
        prepare, self.prepare = self.prepare, lambda: None
        self.connect()
        self.prepare = prepare

    def run(self, number):
        self.fill()
        self.check_rows()
        with filled_by_another(self.disk):
            self.expect(free_bytes(self.disk) == 0, "the disk is not full")
            self.restart()
            self.check_rows()
        self.disk.enlarge()
        self.write_again("enlarged")
        self.fill()
        self.delete_some()
        statement, killed = (("DROP TABLE {}", True), ("TRUNCATE {}", True), ("TRUNCATE {}", False), ("DROP TABLE {}", False))[number % 4]
        seconds = self.drop(statement, killed)
        self.write_again("emptied")
        self.check_rows()
        self.restart()
        self.check_rows()
        self.cluster.shutdown()
        if not self.problems:
            self.disk.shrink()
        return f"{len(self.kept.stored)} kept rows; {statement.split()[0]} freed the space after {seconds:.1f} s"


def run_kind(kind, rounds, rng):
    with tempfile.TemporaryDirectory(prefix="sibyl-full-") as folder:
        disk = kind(folder)
        server = conftest.Server(data=os.path.join(disk.path, "data"))
        failures = 0
        try:
            cluster = conftest.connect(server)
            session = cluster.connect()
            session.execute("CREATE KEYSPACE disk WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
            for table in ("kept", "junk"):
                session.execute(f"CREATE TABLE disk.{table} (id bigint PRIMARY KEY, v blob)")
            cluster.shutdown()
            kept, junk = Rows("disk.kept"), Rows("disk.junk")
            for number in range(rounds):
                began = time.monotonic()
                one = Round(server, disk, kept, junk, rng)
                outcome = one.run(number)
                failures += len(one.problems)
                if one.problems:
                    print(server.read_log()[-6000:])
                print(f"{kind.__name__.lower()} round {number + 1} ({time.monotonic() - began:.0f} s): {outcome}; "
                      f"{'; '.join(one.problems) or 'all is well'}", flush=True)
        except BaseException:
            print(server.read_log()[-6000:])
            raise
        finally:
            server.close()
            disk.close()
        return failures


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    kinds = [{"tmpfs": Tmpfs, "ext4": Ext4}[name] for name in sys.argv[3:] or ("tmpfs", "ext4")]
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    print(f"seed {seed}, {rounds} rounds")
    failures = skipped = 0
    for kind in kinds:
        try:
            failures += run_kind(kind, rounds, random.Random(seed))
        except CannotMount as reason:
            skipped += 1
            print(f"skipped: {reason}")
    print(f"{rounds} rounds, {failures} problems")
    if skipped == len(kinds):
        return SKIPPED
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
