#!/usr/bin/env python3
"""Sends hostile statements to a server, and checks that it stays up, small, and quick for other clients.

    hostile.py --binary build/release/sibyl --seconds 3600 --seed 7

Several connections send random statements of every kind that can be expensive (nested functions, casts, literals,
arithmetic, collections, masks, vectors, JSON, aggregates, batches, types, Lua), with values of up to 8 MB. Meanwhile
another client reads and writes a row again and again. The test fails if

  1. the server exits, or does not stop within ten seconds of SIGTERM,
  2. its resident memory exceeds --memory by more than a fifth,
  3. that client waits longer than --stall-ms. Pauses of the machine itself are allowed for: they are measured with two
     other processes that exchange bytes,
  4. with --steps: a reactor takes more than --step-ms of CPU, or is blocked for longer, before it looks at other clients.
     Unlike a client's wait, this does not depend on how busy the machine is.

A release build runs with --address-space (1 GiB); if it runs out of addresses, it exits. A build with AddressSanitizer
(--sanitized) needs terabytes of addresses, adds space around each block and keeps freed blocks for a while. For it,
--address-space limits the resident memory: the sanitizer ends a server that exceeds it. Check 2 is dropped, because it
measures the sanitizer, and the other checks allow five times as long.
"""
import argparse
import bisect
import collections
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import multiprocessing

MEBIBYTE = 1 << 20


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("SIBYL_BINARY", "build/release/sibyl"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--memory", type=int, default=256, help="MiB")
    parser.add_argument("--address-space", type=int, default=1024, help="MiB; 0: no limit")
    parser.add_argument("--attackers", type=int, default=6)
    parser.add_argument("--stall-ms", type=float, default=100)
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--log", help="write each statement here before it is sent")
    parser.add_argument("--results", help="an existing directory: keeps the server's log and the steps there")
    parser.add_argument("--steps", help="libreactor_steps.so: measures how long the reactors work between two waits for events")
    parser.add_argument("--step-ms", type=float, default=1000, help="CPU that a reactor may take, or be blocked for, in one step")
    return parser.parse_args()


# --- The protocol


class Connection:
    def __init__(self, port, timeout=60):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.send(1, struct.pack(">H", 1) + string("CQL_VERSION") + string("3.0.0"))
        self.receive()

    def send(self, opcode, body):
        self.socket.sendall(struct.pack(">BBhBi", 4, 0, 0, opcode, len(body)) + body)

    def receive(self):
        """Returns the opcode of the response, and at most the first MiB of its body."""
        header = self.exactly(9)
        length = struct.unpack(">i", header[5:])[0]
        body = self.exactly(min(length, MEBIBYTE))
        left = length - len(body)
        while left > 0:
            part = self.socket.recv(min(left, MEBIBYTE))
            if not part:
                raise EOFError
            left -= len(part)
        return header[4], body

    def exactly(self, size):
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def query(self, text, values=None, page_size=0):
        self.send(7, query_body(text, values, page_size))
        return self.receive()


def string(text):
    encoded = text.encode()
    return struct.pack(">H", len(encoded)) + encoded


def query_body(text, values=None, page_size=0):
    encoded = text.encode()
    flags = (0x41 if values else 0) | (4 if page_size else 0)
    body = struct.pack(">i", len(encoded)) + encoded + struct.pack(">HB", 1, flags)
    if values:
        body += struct.pack(">H", len(values))
        for name, value in values.items():
            body += string(name) + struct.pack(">i", len(value)) + value
    return body + (struct.pack(">i", page_size) if page_size else b"")


def outcome(answer):
    opcode, body = answer
    if opcode != 0:
        return "answered"
    code = struct.unpack(">i", body[:4])[0]
    return {0x1001: "overloaded", 0x1200: "timeout", 0x1100: "timeout", 0x1400: "function failed",
            0x2000: "syntax", 0x2200: "invalid"}.get(code, hex(code))


# --- Stored data

SCHEMA = [
    "CREATE KEYSPACE h WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE h.small (k int PRIMARY KEY, v int)",
    "CREATE TYPE h.pair (a text, b decimal)",
    "CREATE TABLE h.t (k int, c int, tx text, d decimal, n varint, b blob, l list<text>, s set<decimal>, "
    "m map<text, varint>, f frozen<list<frozen<list<text>>>>, u frozen<pair>, v vector<float, 64>, i int, "
    "PRIMARY KEY (k, c))",
    "CREATE TABLE h.w (k int, c text, v text, l list<text>, f frozen<list<text>>, m map<int, text>, "
    "d decimal, PRIMARY KEY (k, c))",
    "CREATE FUNCTION h.twice (x text) CALLED ON NULL INPUT RETURNS text LANGUAGE lua AS $$ return (x or '') .. (x or '') $$",
    "CREATE FUNCTION h.push (s list<text>, x text) CALLED ON NULL INPUT RETURNS list<text> LANGUAGE lua AS "
    "$$ s = s or {} s[#s + 1] = x return s $$",
    "CREATE AGGREGATE h.gather (text) SFUNC push STYPE list<text> INITCOND []",
]

LUA = [
    "local a = string.rep('a', 4000000) local b = a .. 'b' local t = {} for i = 1, 200000 do t[i] = i % 2 == 0 and a or b end table.sort(t) return 1",
    "local a = string.rep('a\\0', 3000000) local n = 0 for i = 1, 1e9 do if a < a .. 'b' then n = n + 1 end end return n",
    "local a, b = string.rep('a', 5000000) .. 'x', string.rep('a', 5000000) .. 'y' local n = 0 while true do if a == b or a < b then n = n + 1 end end",
    "local t = {} for i = 1, 1e9 do t[i] = i end return 1",
    "local s = 'x' while true do s = s .. s end",
    "local t = {} for i = 1, 1e6 do t[i] = i end for i = 1, 1e6 do t[i] = nil end while true do next(t) end",
    "local s = string.rep('a', 8000000) while true do utf8.len(s) end",
    "local s = string.rep('1', 8000000) while true do tonumber(s) end",
    "while true do pcall(error, string.rep('x', 1000000)) end",
    "return string.rep('x', 1e6):find(('a*'):rep(30) .. 'b') and 1 or 2",
    "local t = {} for i = 1, 4e5 do t[i] = 1 end while true do table.insert(t, 1, 2) table.remove(t, 1) end",
    "local function f(n) return n < 2 and n or f(n - 1) + f(n - 2) end return f(60)",
    "local co = {} for i = 1, 1e9 do co[#co + 1] = function() return i end end return 1",
    "while true do string.byte(string.rep('a', 100000), 1, -1) end",
    "while true do table.unpack({}, 1, 900000) end",
]


def decimal_bytes(rng, size):
    scale = rng.choice([0, 1, -1, 9999, -9999, 2147483647, -2147483648, rng.randrange(-100000, 100000)])
    return struct.pack(">i", scale) + b"\x7f" + rng.randbytes(max(size - 5, 0))


def fill(connection, rng):
    for statement in SCHEMA:
        assert connection.query(statement)[0] == 8, statement
    for index, body in enumerate(LUA):
        connection.query(f"CREATE FUNCTION h.lua{index} (x int) CALLED ON NULL INPUT RETURNS bigint LANGUAGE lua AS $$ {body} $$")
    connection.query("INSERT INTO h.small (k, v) VALUES (1, 1)")
    for key in range(3):
        connection.query(f"INSERT INTO h.t (k, c, tx, d, n, i) VALUES ({key}, 0, :t, :d, :n, 1)",
                         {"t": b"x\\" * (4 * MEBIBYTE >> (3 * key)), "d": decimal_bytes(rng, 60000 >> key),
                          "n": b"\x7f" + rng.randbytes(65000)})
        for row in range(1, 200):
            connection.query(f"INSERT INTO h.t (k, c, tx, i, l, s, v) VALUES ({key}, {row}, '{'y' * row * 20}', {row}, "
                             f"['a', 'b'], {{1.5, 2.5}}, {[float(row)] * 64})")


# --- Statements

MAX_TEXT = 8 * MEBIBYTE


class Generator:
    """Generates expressions by type, and statements that contain them. Deeper expressions are rarer."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def pick(self, *choices):
        choice = self.rng.choice(choices)
        return choice() if callable(choice) else choice

    @staticmethod
    def repeat(separator, text, count):
        """At most MAX_TEXT bytes, so that nested repetitions do not exhaust the memory of this program."""
        return separator.join([text] * max(1, min(count, MAX_TEXT // (len(text) + len(separator)))))

    def many(self, most):
        """A number whose magnitude is random."""
        return int(most ** self.rng.random())

    def text(self, depth):
        if depth <= 0:
            return self.pick("tx", "(text):t", "''", lambda: "'" + "\\" * self.many(3000) + "'")
        inner = lambda: self.text(depth - 1)  # noqa: E731
        return self.pick(inner, lambda: f"to_json({self.any(depth - 1)})", lambda: f"{inner()} + {inner()}",
                         lambda: f"mask_inner({inner()}, {self.many(100)}, null)", lambda: f"mask_outer({inner()}, 1, 2, 'é')",
                         lambda: f"mask_replace({inner()}, 'z')", lambda: f"h.twice({inner()})",
                         lambda: f"CAST({self.number(depth - 1)} AS text)", lambda: "to_json(" * 30 + inner() + ")" * 30,
                         lambda: self.repeat(" + ", inner(), 1 + self.many(60)))

    def number(self, depth):
        if depth <= 0:
            return self.pick("d", "n", "i", "(decimal):d", "(varint):n", "1.5", "(decimal)1e-99999", "(varint)9" + "9" * self.many(3000),
                             "-(decimal)1e2147483640", "(decimal)0")
        inner = lambda: self.number(depth - 1)  # noqa: E731
        return self.pick(lambda: f"log10({inner()})", lambda: f"exp({inner()})", lambda: f"log({inner()})", lambda: f"round({inner()})",
                         lambda: f"abs({inner()})", lambda: f"-({inner()})",
                         lambda: f"({inner()}) {self.pick('+', '-', '*', '/', '%')} ({inner()})",
                         lambda: f"CAST({inner()} AS {self.pick('decimal', 'varint', 'double', 'int', 'float')})",
                         lambda: self.repeat(" * ", inner(), 1 + self.many(40)),
                         lambda: f"collection_sum((list<decimal>)[{self.repeat(', ', inner(), 1 + self.many(50))}])")

    def collection(self, depth):
        inner = lambda: self.text(depth - 1)  # noqa: E731
        return self.pick("l", "s", "m", "f", "(list<text>):l", "(frozen<list<text>>):l", "(set<text>):l",
                         lambda: f"(list<text>)[{self.repeat(', ', inner(), 1 + self.many(1000))}]",
                         lambda: f"(set<decimal>){{{', '.join(self.number(0) for _ in range(1 + self.many(300)))}}}",
                         lambda: f"(map<text, text>){{{', '.join(f'{self.text(0)}: {self.text(0)}' for _ in range(1 + self.many(100)))}}}",
                         lambda: f"map_values(m)", lambda: "(frozen<list<list<text>>>)[[" + inner() + "]]")

    def vector(self):
        size = self.pick(64, 3, 65536, 2147483647, 1000)
        return self.pick("v", f"(vector<float, {size}>)null", f"(vector<vector<float, {size}>, {size}>)null",
                         f"(vector<float, 64>)[{', '.join(['1.0'] * 64)}]")

    def any(self, depth):
        return self.pick(lambda: self.text(depth), lambda: self.number(depth), lambda: self.collection(depth), self.vector,
                         lambda: f"mask_default({self.vector()})", lambda: f"mask_hash({self.text(depth - 1)})",
                         lambda: f"collection_count({self.collection(depth)})", lambda: f"similarity_cosine({self.vector()}, {self.vector()})",
                         lambda: f"h.lua{self.rng.randrange(len(LUA))}(i)", lambda: f"from_json({self.text(depth - 1)})",
                         lambda: f"CAST({self.number(depth)} AS text)", "writetime(tx)", "token(k)", "u.b", "m['a']")

    def where(self):
        return self.pick("", " WHERE k = 1", " WHERE k = 0 AND c = 0", " WHERE k = 1 AND c = 0", " WHERE k IN (0, 1, 2)", " LIMIT 1",
                         lambda: f" WHERE tx IN ({', '.join([':t'] * (1 + self.many(20000)))}) ALLOW FILTERING",
                         lambda: f" WHERE d = {self.number(1)} ALLOW FILTERING",
                         lambda: f" WHERE k = 1 AND c IN ({', '.join(map(str, range(1 + self.many(100000))))})")

    def select(self):
        depth = self.rng.randrange(5)
        columns = [self.any(depth) for _ in range(1 + self.many(4))]
        if self.rng.random() < 0.4:
            columns = [columns[0]] * min(1 + self.many(3000), MAX_TEXT // len(columns[0]) + 1)
        if self.rng.random() < 0.25:
            columns = [f"{self.pick('max', 'min', 'count', 'h.gather', 'sum', 'avg')}({column})" for column in columns]
        start = "SELECT JSON " if self.rng.random() < 0.1 else "SELECT "
        group = " GROUP BY k" if self.rng.random() < 0.1 else ""
        source, where = self.pick(("h.t", self.where()), ("system.local", ""))
        return start + ", ".join(columns) + f" FROM {source}{where}" + (group if "WHERE tx" not in where else "")

    def insert(self):
        key, many = self.many(100), 1 + self.many(20000)
        return self.pick(
            f"INSERT INTO h.w (k, c, l) VALUES ({key}, 'a', [{', '.join([':t'] * many)}])",
            f"INSERT INTO h.w (k, c, f) VALUES ({key}, 'b', [{', '.join([':t'] * many)}])",
            f"UPDATE h.w SET l = l + [{', '.join([':t'] * many)}] WHERE k = {key} AND c = 'a'",
            f"INSERT INTO h.w (k, c, l, f) VALUES ({key}, 'a', :l, :l)", f"UPDATE h.w SET l = l + :l WHERE k = {key} AND c = 'a'",
            f"UPDATE h.w SET l = l - :l WHERE k = {key} AND c = 'a'", f"UPDATE h.w SET l[{many}] = :t WHERE k = {key} AND c = 'a'",
            "INSERT INTO h.w (k, c, m) VALUES (1, 'm', {" + ", ".join(f"{i}: :t" for i in range(many)) + "})",
            f"INSERT INTO h.w (k, c, d) VALUES ({key}, 'd', {self.number(3)})",
            f"UPDATE h.w SET v = {self.text(2)} WHERE k = {key} AND c = 'v'",
            f"UPDATE h.w SET d = :d WHERE k = 1 AND c = 'd' IF v IN ({', '.join([':t'] * many)})",
            "BEGIN UNLOGGED BATCH " + " ".join(f"INSERT INTO h.w (k, c, v) VALUES ({i}, 'a', :t);" for i in range(many)) + " APPLY BATCH",
            "INSERT INTO h.w JSON '" + '{"k": 1, "c": "j", "f": ' + "[" * self.many(100000) + "'")

    def other(self):
        name = self.rng.randrange(1000)
        fields = lambda kind, count: ", ".join(f"f{i} {kind}" for i in range(count))  # noqa: E731
        return self.pick(
            f"CREATE TYPE h.y{name} ({fields(f'frozen<y{self.rng.randrange(1000)}>', 60)})",
            f"CREATE TYPE h.y{name} ({fields('int', 60)})", f"DROP TYPE h.y{name}",
            f"CREATE TABLE h.x{name} (k int PRIMARY KEY, v vector<float, {self.pick(2147483647, 100000, 10)}>)", f"DROP TABLE h.x{name}",
            f"DESCRIBE KEYSPACE h", "SELECT * FROM system_schema.types", "TRUNCATE h.w",
            lambda: "SELECT " + "(" * self.many(60000), lambda: "SELECT " + "[" * self.many(60000) + " FROM h.t",
            lambda: "EXPLAIN " + self.select(), lambda: f"SELECT * FROM h.t WHERE k = 1 AND c > {'-' * self.many(5000)}1",
            lambda: "SELECT " + ", ".join(f"exp(1.{i})" for i in range(self.many(5000) + 1)) + " FROM system.local")

    def values(self):
        return {"t": self.pick(b"", b"y" * self.many(8 * MEBIBYTE), b"\\" * self.many(MEBIBYTE), b"\0" * self.many(60000)),
                "d": decimal_bytes(self.rng, self.many(65000)), "n": b"\x7f" + self.rng.randbytes(self.many(65000)),
                "l": self.list_bytes()}

    def list_bytes(self):
        """A list of up to 2 MB: bind markers are not allowed within literals."""
        element = self.pick(b"", b"a", b"\\" * self.many(MEBIBYTE))
        count = 1 + self.many(min(100_000, 2 * MEBIBYTE // (len(element) + 4)))
        return struct.pack(">i", count) + (struct.pack(">i", len(element)) + element) * count

    def statement(self):
        text = self.pick(self.select, self.select, self.select, self.insert, self.other)
        used = {name: value for name, value in self.values().items() if f":{name}" in text}
        return text, used, self.pick(0, 0, 5000, 10)


# --- The attackers, the other client, and the monitor


def attack(port, seed, stop, counts, log):
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)  # generating statements is not what is measured
    generator = Generator(seed)
    connection = None
    while not stop.is_set():
        text, values, page_size = generator.statement()
        if log:
            log.write(f"{time.time():.3f} {seed} {text[:300]} {({k: len(v) for k, v in values.items()})} page={page_size}\n")
            log.flush()
        try:
            connection = connection or Connection(port)
            if generator.rng.random() < 0.03:  # disconnects before the response
                connection.send(7, query_body(text, values, page_size))
                connection.socket.close()
                connection = None
                continue
            counts[outcome(connection.query(text, values, page_size))] += 1
        except (OSError, EOFError) as error:
            counts[type(error).__name__] += 1
            connection = None
            time.sleep(0.05)


def probe(port, stop, waits):
    """Runs in its own process. Measures how long each read and write takes, as (time, seconds, error)."""
    connection = Connection(port)
    turn = 0
    while not stop.is_set():
        turn += 1
        text = "SELECT v FROM h.small WHERE k = 1" if turn % 2 else "INSERT INTO h.small (k, v) VALUES (1, 1)"
        begun = time.monotonic()
        try:
            answer = connection.query(text)
            waits.put((begun, time.monotonic() - begun, "" if answer[0] == 8 else answer[1][6:200].decode(errors="replace")))
        except (OSError, EOFError) as error:
            waits.put((begun, time.monotonic() - begun, repr(error)))
            return
        time.sleep(0.01)


def echo(connection, other_end):
    other_end.close()  # so that this process ends when the other one does
    while data := connection.recv(64):
        connection.sendall(data)


def measure_machine(stop, pauses):
    """Measures the same exchange between two processes that do nothing else."""
    ours, theirs = socket.socketpair()
    other = multiprocessing.Process(target=echo, args=(theirs, ours), daemon=True)
    other.start()
    while not stop.is_set():
        begun = time.monotonic()
        ours.sendall(b"x" * 32)
        ours.recv(64)
        pauses.put((begun, time.monotonic() - begun))
        time.sleep(0.01)
    other.kill()


def resident_mebibytes(pid, field="VmRSS"):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next((int(line.split()[1]) for line in status if line.startswith(field + ":")), 0) / 1024


def start_server(arguments, directory):
    def limit():
        if arguments.address_space and not arguments.sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (arguments.address_space * MEBIBYTE,) * 2)

    log = open(pathlib.Path(directory) / "server.log", "w", encoding="utf-8")
    environment = dict(os.environ)
    if arguments.sanitized:
        limit_resident = f"hard_rss_limit_mb={arguments.address_space}:" if arguments.address_space else ""
        # The server replaces operator new and delete by malloc and free, except for the forms that call these.
        environment["ASAN_OPTIONS"] = (f"{limit_resident}quarantine_size_mb=64:alloc_dealloc_mismatch=0:"
                                       + environment.get("ASAN_OPTIONS", ""))
    if arguments.steps:
        environment |= {"LD_PRELOAD": os.path.abspath(arguments.steps), "REACTOR_STEPS": f"{directory}/steps"}
    process = subprocess.Popen([arguments.binary, "serve", "--data", f"{directory}/data", "--listen", "127.0.0.1:0", "--metrics", "off",
                                "--memory", f"{arguments.memory}MiB"], stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=limit,
                               env=environment)
    ready = process.stdout.readline()
    assert ready.startswith("ready on "), open(log.name, encoding="utf-8").read()
    return process, int(ready.rsplit(":", 1)[1]), log.name


def drain(queue):
    items = []
    while not queue.empty():
        items.append(queue.get())
    return items


def longest_stall(waits, pauses):
    """The longest wait, minus the pauses of the machine at that time. An hour has 300,000 of each."""
    starts = [at for at, _ in pauses]  # in order: one process measures them
    longest = max((pause for _, pause in pauses), default=0)
    worst = 0.0
    for begun, seconds, _ in waits:
        if seconds <= worst:
            continue
        first = bisect.bisect_left(starts, begun - 1 - longest)
        last = bisect.bisect_left(starts, begun + seconds + 1)
        pause = max((p for at, p in pauses[first:last] if begun - 1 < at + p), default=0)
        worst = max(worst, seconds - pause)
    return worst


def run(arguments):
    with tempfile.TemporaryDirectory(prefix="hostile-") as directory:
        process, port, server_log = start_server(arguments, directory)
        try:
            return attack_and_watch(arguments, process, port, server_log)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            for name in ("server.log", "steps") if arguments.results else ():
                if os.path.exists(f"{directory}/{name}"):
                    shutil.copy(f"{directory}/{name}", arguments.results)


def attack_and_watch(arguments, process, port, server_log):
    fill(Connection(port), random.Random(arguments.seed))
    context = multiprocessing.get_context("fork")
    stop_processes, waits, pauses = context.Event(), context.SimpleQueue(), context.SimpleQueue()
    helpers = [context.Process(target=probe, args=(port, stop_processes, waits)),
               context.Process(target=measure_machine, args=(stop_processes, pauses))]
    for helper in helpers:
        helper.start()
    stop, counts = threading.Event(), collections.Counter()
    log = open(arguments.log, "w", encoding="utf-8") if arguments.log else None
    threads = [threading.Thread(target=attack, args=(port, arguments.seed * 1000 + i, stop, counts, log), daemon=True)
               for i in range(arguments.attackers)]
    for thread in threads:
        thread.start()
    peak, measured, machine = 0.0, [], []
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end and process.poll() is None:
        peak = max(peak, resident_mebibytes(process.pid))
        measured += drain(waits)
        machine += drain(pauses)
        time.sleep(0.05)
    alive = process.poll() is None
    if alive:
        print(f"addresses: {resident_mebibytes(process.pid, 'VmPeak'):.0f} MiB at most")
    stop_processes.set()
    stop.set()
    begun = time.monotonic()
    if alive:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            pass
    ended = time.monotonic() - begun
    for helper in helpers:
        measured += drain(waits)
        machine += drain(pauses)
        helper.kill()
    return report(arguments, process, alive, ended, peak, measured, machine, counts, server_log)


def longest_steps(server_log):
    """The most CPU that a reactor took in one step, and the longest that it was blocked, in ms. See reactor_steps.cc."""
    cpu, blocked, count = 0.0, 0.0, 0
    steps = pathlib.Path(server_log).with_name("steps")
    for line in steps.read_text(encoding="utf-8").splitlines() if steps.exists() else []:
        if line[0].isdigit():
            cpu, blocked, count = max(cpu, float(line.split()[0])), max(blocked, float(line.split()[1])), count + 1
    return cpu, blocked, count


def distribution(name, seconds):
    """How many of these exceed a few lengths, as a line to print."""
    limits = (10, 20, 50, 100, 200)
    counts = [sum(1 for each in seconds if each * 1000 > limit) for limit in limits]
    return f"{name}: of {len(seconds)}, " + ", ".join(f"{count} above {limit} ms" for limit, count in zip(limits, counts))


def report(arguments, process, alive, ended, peak, measured, machine, counts, server_log):
    measured = [wait for wait in measured if not wait[2].startswith(("Connection", "EOF", "Broken"))]
    waits = sorted(wait[1] for wait in measured)
    errors = collections.Counter(error for _, _, error in measured if error)
    stall = longest_stall(measured, machine)
    time_factor = 5 if arguments.sanitized else 1
    print(f"statements: {sum(counts.values())} {dict(counts)}")
    print(f"the other client: {len(waits)} requests, median {waits[len(waits) // 2] * 1000:.1f} ms, "
          f"99% {waits[len(waits) * 99 // 100] * 1000:.1f} ms, longest {waits[-1] * 1000:.0f} ms, {stall * 1000:.0f} ms beyond the machine's "
          f"own pauses (at most {max(p for _, p in machine) * 1000:.0f} ms), errors {dict(errors)}")
    print(distribution("the other client", waits))
    print(distribution("pauses of the machine", [pause for _, pause in machine]))
    for begun, seconds, _ in sorted(measured, key=lambda wait: -wait[1])[:5]:
        around = max((pause for at, pause in machine if begun - 1 < at + pause and at < begun + seconds), default=0)
        print(f"  waited {seconds * 1000:.0f} ms at {time.strftime('%H:%M:%S', time.localtime(time.time() - time.monotonic() + begun))}; "
              f"the machine's longest pause then: {around * 1000:.0f} ms")
    print(f"memory: {peak:.0f} MiB at most, of {arguments.memory}; exit status {process.poll()} {ended:.1f} s after SIGTERM")
    problems = []
    if arguments.steps:
        cpu, blocked, count = longest_steps(server_log)
        print(f"reactors: {count} steps above 5 ms, at most {cpu:.0f} ms of CPU, blocked for {blocked:.0f} ms at most")
        if max(cpu, blocked) > arguments.step_ms:
            problems.append("a reactor worked too long without looking at other clients")
    if not alive or process.poll() != 0:
        with open(server_log, encoding="utf-8", errors="replace") as log:
            problems.append(f"the server exited with {process.poll()}:\n" + "\n".join(line[:300] for line in log.read().splitlines()[-8:]))
    if ended > 10 * time_factor:
        problems.append("SIGTERM did not end it")
    if peak > arguments.memory * 1.2 and not arguments.sanitized:
        problems.append("it used more memory than it may")
    if stall * 1000 > arguments.stall_ms * time_factor:
        problems.append("another client waited too long")
    if errors:
        problems.append("another client was refused")
    for problem in problems:
        print("FAILED:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(run(parse_arguments()))
