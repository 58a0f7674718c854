"""Clients that write to a cluster while its parts fail, and check what they read.

Each load has keys of its own. A step whose outcome is unknown is not repeated: what it wrote may be there or not.
"""
import random
import struct
import threading
import time

from servers import Connection, wait_for

TABLES = [
    "CREATE TABLE ks.rows (k int, c int, v int, PRIMARY KEY (k, c))",
    "CREATE TABLE ks.registers (k int PRIMARY KEY, v int)",
    "CREATE TABLE ks.counters (k int PRIMARY KEY, n counter)",
    "CREATE TABLE ks.batches (k int, c int, v int, PRIMARY KEY (k, c))",
    "CREATE TABLE ks.accounts (k int PRIMARY KEY, owner int)",
    "CREATE MATERIALIZED VIEW ks.by_owner AS SELECT k, owner FROM ks.accounts WHERE owner IS NOT NULL AND k IS NOT NULL "
    "PRIMARY KEY (owner, k)",
]
# A batch or a view that was being written when a server failed is completed after this time at most.
COMPLETION = 40


def integer(value):
    return None if value is None else int.from_bytes(value, "big", signed=True)


class Load(threading.Thread):
    """One client. Asks whichever server answers."""

    def __init__(self, number, servers):
        super().__init__(daemon=True)
        self.number, self.servers = number, servers
        self.problems, self.done, self.failed = [], 0, 0
        self.stopping = threading.Event()
        self.last_success = time.monotonic()
        self.longest_gap = 0.0
        self.connection = None

    def prepare(self, connection):
        """Called before the load is started."""

    def step(self, connection, number):
        """Writes and reads. Steps have increasing numbers. Raises OSError or RuntimeError if a statement fails."""
        raise NotImplementedError

    def check(self, connection):
        """Called when the load has ended, and no fault is left."""
        raise NotImplementedError

    def run(self):
        number = 0
        while not self.stopping.is_set():
            try:
                if self.connection is None:
                    self.connection = Connection(random.choice(self.servers).port, timeout=15)
                self.step(self.connection, number)
                now = time.monotonic()
                self.longest_gap = max(self.longest_gap, now - self.last_success)
                self.last_success = now
                self.done += 1
            except (OSError, RuntimeError):
                self.failed += 1
                if self.connection is not None:
                    self.connection.close()
                self.connection = None
                self.stopping.wait(0.01)
            number += 1
        if self.connection is not None:
            self.connection.close()

    def expect(self, condition, text):
        if not condition:
            self.problems.append(f"{type(self).__name__} {self.number}: {text}")


class Rows(Load):
    """Appends rows 0, 1, 2, …, and counts up a register that nobody else writes, with IF."""

    def __init__(self, number, servers):
        super().__init__(number, servers)
        self.acknowledged, self.register = [], 0

    def prepare(self, connection):
        connection.query(f"INSERT INTO ks.registers (k, v) VALUES ({self.number}, 0)")

    def step(self, connection, number):
        connection.query(f"INSERT INTO ks.rows (k, c, v) VALUES ({self.number}, {number}, {number})")
        self.acknowledged.append(number)
        self.count_up(connection)
        latest = integer(connection.query(f"SELECT c FROM ks.rows WHERE k = {self.number} ORDER BY c DESC LIMIT 1"))
        self.expect(latest is not None and latest >= number, f"row {number} was acknowledged, the latest read is {latest}")

    def count_up(self, connection):
        value = integer(connection.query(f"SELECT v FROM ks.registers WHERE k = {self.number}"))
        self.expect(value is not None and value >= self.register, f"the register was {self.register}, then read as {value}")
        self.register = value
        applied = connection.query(f"UPDATE ks.registers SET v = {value + 1} WHERE k = {self.number} IF v = {value}")
        self.expect(applied == b"\1", f"nobody else writes the register, but {value} had changed")
        self.register = value + 1

    def check(self, connection):
        found = {integer(c) for c, in connection.rows(f"SELECT c FROM ks.rows WHERE k = {self.number}")}
        lost = set(self.acknowledged) - found
        assert not lost, f"rows {sorted(lost)[:5]} of client {self.number} were acknowledged and are lost"
        value = integer(connection.query(f"SELECT v FROM ks.registers WHERE k = {self.number}"))
        assert self.register <= value <= self.register + 1, (self.register, value)


class Race(Load):
    """Several of them change one register with IF, each time to a value that was never used. So the values form a chain."""

    register = -1  # the key

    def __init__(self, number, servers):
        super().__init__(number, servers)
        self.applied, self.unknown = {}, {}  # by new value: the value before

    def prepare(self, connection):
        connection.query(f"INSERT INTO ks.registers (k, v) VALUES ({Race.register}, 0)")

    def step(self, connection, number):
        before = integer(connection.query(f"SELECT v FROM ks.registers WHERE k = {Race.register}"))
        after = self.number * 100_000 + number + 1
        self.unknown[after] = before
        applied = connection.query(f"UPDATE ks.registers SET v = {after} WHERE k = {Race.register} IF v = {before}")
        del self.unknown[after]
        if applied == b"\1":
            self.applied[after] = before

    def check(self, connection):
        pass  # check_race() checks all of them

    @staticmethod
    def check_race(connection, loads):
        """Follows the chain from the last value back to the first. Every change that was reported as applied is in it."""
        applied, known = {}, {}
        for load in loads:
            applied.update(load.applied)
            known.update(load.applied | load.unknown)
        value = integer(connection.query(f"SELECT v FROM ks.registers WHERE k = {Race.register}"))
        chain = set()
        while value != 0:
            assert value in known and value not in chain, f"{value} cannot follow in the chain"
            chain.add(value)
            value = known[value]
        lost = set(applied) - chain
        assert not lost, f"the changes to {sorted(lost)[:5]} were applied, but another one has the same predecessor"


class Counters(Load):
    """Adds 1 to a counter that nobody else changes."""

    def __init__(self, number, servers):
        super().__init__(number, servers)
        self.added = self.attempted = self.seen = 0

    def step(self, connection, number):
        self.attempted += 1
        connection.query(f"UPDATE ks.counters SET n = n + 1 WHERE k = {self.number}")
        self.added += 1
        found = integer(connection.query(f"SELECT n FROM ks.counters WHERE k = {self.number}"))
        self.expect(found is not None and max(self.added, self.seen) <= found <= self.attempted,
                    f"{self.added} of {self.attempted} additions were acknowledged, {self.seen} and then {found} were read")
        self.seen = found or 0

    def check(self, connection):
        found = integer(connection.query(f"SELECT n FROM ks.counters WHERE k = {self.number}")) or 0
        assert max(self.added, self.seen) <= found <= self.attempted, (self.added, self.seen, found, self.attempted)


class Batches(Load):
    """Logged batches, each over three partitions."""

    def __init__(self, number, servers):
        super().__init__(number, servers)
        self.acknowledged = []
        self.partitions = [number * 10 + i for i in range(3)]

    def step(self, connection, number):
        inserts = "; ".join(f"INSERT INTO ks.batches (k, c, v) VALUES ({key}, {number}, {number})" for key in self.partitions)
        connection.query(f"BEGIN BATCH {inserts}; APPLY BATCH")
        self.acknowledged.append(number)
        for key in self.partitions:
            found = connection.query(f"SELECT v FROM ks.batches WHERE k = {key} AND c = {number}")
            self.expect(integer(found) == number, f"batch {number} was acknowledged, but partition {key} has {found!r}")

    def check(self, connection):
        def partitions():
            return [{integer(c) for c, in connection.rows(f"SELECT c FROM ks.batches WHERE k = {key}")} for key in self.partitions]

        wait_for("whole batches", COMPLETION, lambda: all(found == partitions()[0] for found in partitions()))
        lost = set(self.acknowledged) - partitions()[0]
        assert not lost, f"batches {sorted(lost)[:5]} were acknowledged and are lost"


class Views(Load):
    """Changes and deletes rows of a table with a view."""

    def __init__(self, number, servers):
        super().__init__(number, servers)
        self.owners = {number * 10 + i: set() for i in range(4)}  # by account: all owners that it may have had
        self.known = {}  # by account: its owner, if the last write was acknowledged

    def step(self, connection, number):
        account = self.number * 10 + number % 4
        owner = None if number % 7 == 0 else self.number * 100_000 + number
        before = self.known.pop(account, None)
        if owner is None:
            connection.query(f"DELETE FROM ks.accounts WHERE k = {account}")
        else:
            self.owners[account].add(owner)
            connection.query(f"INSERT INTO ks.accounts (k, owner) VALUES ({account}, {owner})")
            self.known[account] = owner
            self.expect(self.is_in_view(connection, account, owner), f"{account} was given to {owner}, but the view lacks it")
        if before is not None:
            self.expect(not self.is_in_view(connection, account, before), f"{account} was taken from {before}, but the view has it")

    @staticmethod
    def is_in_view(connection, account, owner):
        return connection.query(f"SELECT k FROM ks.by_owner WHERE owner = {owner} AND k = {account}") is not None

    def check(self, connection):
        for account, owners in self.owners.items():
            owner = integer(connection.query(f"SELECT owner FROM ks.accounts WHERE k = {account}"))
            if account in self.known:
                assert owner == self.known[account], (account, owner, self.known[account])

            def shown(account=account, owners=owners):
                return [one for one in owners if self.is_in_view(connection, account, one)]

            wait_for(f"the view of account {account}, whose owner is {owner}", COMPLETION,
                     lambda owner=owner: shown() == ([] if owner is None else [owner]))


def make_loads(number, servers):
    """Loads with keys that no other `number` uses."""
    first = number * 100
    Race.register = -1 - number
    return ([Rows(first + i, servers) for i in range(2)] + [Race(first + i, servers) for i in range(2, 4)] +
            [Counters(first + 4, servers), Batches(first + 5, servers)] + [Views(first + i, servers) for i in range(6, 8)])


def check_all(connection, loads):
    for load in loads:
        assert not load.problems, load.problems
        load.check(connection)
    Race.check_race(connection, [load for load in loads if isinstance(load, Race)])
