"""Conversations in raw bytes, recorded from a real Cassandra and replayed against any server (record_vectors.py).

A line of a recording has the conversation, its version, the bytes of request and response in hex, and whether the server
closes the connection. Requests are complete frames; in version 5 they are sent in segments, which are not recorded. Parts
that differ between runs or servers (trace ids, paging states, the contents of SUPPORTED) are blanked out on both sides."""
import io
import re
import socket
import struct

from cassandra.segment import SegmentCodec

STARTUP, OPTIONS, QUERY, PREPARE, EXECUTE, REGISTER, BATCH, AUTH_RESPONSE = 1, 5, 7, 9, 10, 11, 13, 15
ONE, THREE, EACH_QUORUM, SERIAL = 1, 3, 7, 8
VALUES, SKIP_METADATA, PAGE_SIZE, PAGING_STATE, SERIAL_CONSISTENCY, TIMESTAMP, NAMES, KEYSPACE, NOW = (
    1 << bit for bit in range(9))
TRACING, PAYLOAD, WARNING, BETA = 2, 4, 8, 16


def string(text):
    return struct.pack(">H", len(text.encode())) + text.encode()


def long_string(text):
    return struct.pack(">i", len(text.encode())) + text.encode()


def int_(number):
    return struct.pack(">i", number)


def bytes_(value):
    """Encodes a value: None is null, Ellipsis is unset."""
    if value is None:
        return int_(-1)
    if value is ...:
        return int_(-2)
    return int_(len(value)) + value


def string_map(pairs):
    return struct.pack(">H", len(pairs)) + b"".join(string(key) + string(value) for key, value in pairs.items())


class Talk:
    """Records a conversation on one connection. Continues on a new connection if the server has closed it."""

    options = {"CQL_VERSION": "3.0.0"}
    source = None  # the source address, if it matters

    def __init__(self, address, name, version, lines, startup=True):
        self.address, self.name, self.version, self.lines, self.startup = address, name, version, lines, startup
        self.last, self.keyspace, self.is_single = b"", None, False
        self.open(noted=True)

    def open(self, noted=False):
        self.socket = socket.create_connection(self.address, timeout=20, source_address=self.source)
        self.received, self.has_segments, self.is_open = b"", False, True
        if self.startup:
            lines, self.lines = self.lines, self.lines if noted else []
            is_single, self.is_single = self.is_single, False
            self.say(STARTUP, string_map(self.options))
            self.has_segments = self.version == 5
            self.after_startup()
            self.lines, self.is_single = lines, is_single

    def after_startup(self):
        if self.keyspace:
            self.query(f"USE {self.keyspace}")

    def close(self):
        self.socket.close()

    def exactly(self, size):
        while len(self.received) < size:
            try:
                more = self.socket.recv(65536)
            except ConnectionError:
                more = b""
            if not more:
                raise EOFError
            self.received += more
        taken, self.received = self.received[:size], self.received[size:]
        return taken

    def frame(self):
        if not self.has_segments:
            header = self.exactly(1)
            header += self.exactly(8 if header[0] & 0x7F >= 3 else 7)
            return header + self.exactly(struct.unpack(">i", header[-4:])[0])
        length = int.from_bytes(self.exactly(6)[:3], "little") & 0x1FFFF
        payload = self.exactly(length)
        self.exactly(4)
        return payload

    def send(self, request):
        if self.has_segments:
            out = io.BytesIO()
            SegmentCodec().encode(out, request)
            self.socket.sendall(out.getvalue())
        else:
            self.socket.sendall(request)

    def raw(self, request):
        if not self.is_open:
            self.open()
        try:
            self.send(request)
            self.last = self.frame()
        except (EOFError, TimeoutError, ConnectionError):
            self.last, self.is_open = b"", False
        if self.is_open and self.last[4] == 0:
            self.is_open = self.still_there()
        self.lines.append((self.name, self.version, request, self.last, self.is_open))
        if self.is_single:
            self.close()
            self.is_open = False
        return self.last

    def still_there(self):
        """Checks that the server does not close the connection after an error."""
        self.socket.settimeout(0.05)
        try:
            return self.socket.recv(1, socket.MSG_PEEK) != b""
        except TimeoutError:
            return True
        except ConnectionError:
            return False
        finally:
            self.socket.settimeout(20)

    def say(self, opcode, body=b"", flags=0, stream=1, version=None):
        """Returns the body of the response."""
        version = version or self.version
        return self.raw(struct.pack(">BBhBi", version, flags, stream, opcode, len(body)) + body)[9:]

    def parameters(self, flags=0, consistency=ONE, rest=b""):
        return struct.pack(">H", consistency) + (struct.pack(">I", flags) if self.version >= 5 else bytes([flags])) + rest

    def query(self, text, flags=0, consistency=ONE, rest=b"", frame_flags=0, stream=1):
        return self.say(QUERY, long_string(text) + self.parameters(flags, consistency, rest), frame_flags, stream)

    def prepare(self, text, keyspace=None):
        """Returns the statement's id, and in version 5 the id of its metadata."""
        body = long_string(text)
        if self.version >= 5:
            body += int_(1) + string(keyspace) if keyspace else int_(0)
        answer = self.say(PREPARE, body)
        if len(answer) < 6 or self.last[4] != 8:
            return b"", b""
        if self.last[1] & WARNING:
            count, answer = struct.unpack(">H", answer[:2])[0], answer[2:]
            for _ in range(count):
                answer = answer[2 + struct.unpack(">H", answer[:2])[0]:]
        size = struct.unpack(">H", answer[4:6])[0]
        identity, rest = answer[6:6 + size], answer[6 + size:]
        if self.version < 5:
            return identity, b""
        size = struct.unpack(">H", rest[:2])[0]
        return identity, rest[2:2 + size]

    def execute(self, prepared, flags=0, rest=b"", consistency=ONE, frame_flags=0):
        body = struct.pack(">H", len(prepared[0])) + prepared[0]
        if self.version >= 5:
            body += struct.pack(">H", len(prepared[1])) + prepared[1]
        return self.say(EXECUTE, body + self.parameters(flags, consistency, rest), frame_flags)

    def batch(self, statements, kind=0, flags=0, rest=b"", consistency=ONE):
        """Statements are texts, or prepared ids with values."""
        body = bytes([kind]) + struct.pack(">H", len(statements))
        for statement in statements:
            if isinstance(statement, str):
                body += b"\0" + long_string(statement) + struct.pack(">H", 0)
            else:
                identity, values = statement
                body += b"\1" + struct.pack(">H", len(identity)) + identity + struct.pack(">H", len(values))
                body += b"".join(bytes_(value) for value in values)
        return self.say(BATCH, body + self.parameters(flags, consistency, rest))


def values(*given):
    return struct.pack(">H", len(given)) + b"".join(bytes_(value) for value in given)


def handshake(address, version, lines):
    talk = Talk(address, "handshake", version, lines, startup=False)
    talk.say(OPTIONS)
    talk.say(QUERY, long_string("SELECT key FROM system.local") + talk.parameters())
    talk.say(STARTUP, string_map({}))
    talk.close()
    for options in [{"CQL_VERSION": "2.0.0"}, {"CQL_VERSION": "3.0.0", "COMPRESSION": "zstd"}, {"CQL_VERSION": "next"},
                    {"CQL_VERSION": "3.4.7", "NO_COMPACT": "true", "THROW_ON_OVERLOAD": "1", "DRIVER_NAME": "v", "OTHER": "x"}]:
        talk = Talk(address, "handshake", version, lines, startup=False)
        talk.say(STARTUP, string_map(options))
        talk.close()
    talk = Talk(address, "handshake", version, lines)
    talk.say(OPTIONS)
    talk.say(STARTUP, string_map({"CQL_VERSION": "3.0.0"}))
    talk.say(REGISTER, struct.pack(">H", 3) + string("TOPOLOGY_CHANGE") + string("STATUS_CHANGE") + string("SCHEMA_CHANGE"))
    talk.say(REGISTER, struct.pack(">H", 1) + string("NOTHING_CHANGE"))
    talk.close()
    talk = Talk(address, "handshake", version, lines)
    talk.say(AUTH_RESPONSE, bytes_(b"\0a\0b"))
    talk.close()


def versions(address, lines):
    for version, flags in [(1, 0), (2, 0), (6, 0), (65, 0), (66, 0), (5, BETA), (0, 0), (127, 0)]:
        talk = Talk(address, f"version {version}", version, lines, startup=False)
        if version in (1, 2):
            talk.raw(struct.pack(">BBbBi", version, flags, 9, OPTIONS, 0))
        else:
            talk.raw(struct.pack(">BBhBi", version, flags, 9, OPTIONS, 0))
        talk.close()


def frames(address, version, lines):
    """Malformed frames, each on a separate connection, since Cassandra may not continue after one."""
    talk = Talk(address, "frames", version, lines)
    talk.is_single = True
    talk.say(0x7F)
    talk.say(4)
    talk.say(8)
    for stream in [0, 32767, -1, -32768]:
        talk.query("SELECT key FROM system.local", stream=stream)
    for flags in [0x20, 0x40, 0x80, BETA]:
        talk.query("SELECT key FROM system.local", frame_flags=flags)
    talk.say(QUERY, b"")
    talk.say(QUERY, long_string("SELECT key FROM system.local"))
    talk.say(QUERY, int_(1000) + b"SELECT")
    talk.say(QUERY, int_(-5) + b"SELECT")
    talk.query("SELECT key FROM system.local", VALUES, rest=struct.pack(">H", 3) + bytes_(b"a"))
    talk.query("SELECT key FROM system.local", consistency=0x0B)
    talk.query("SELECT key FROM system.local", VALUES, rest=values())
    talk.say(EXECUTE, struct.pack(">H", 16))
    talk.say(BATCH, b"\0")
    talk.say(PREPARE, b"\0")
    talk.query("SELECT key FROM system.local")
    talk.close()
    if version < 5:
        talk = Talk(address, "frames", version, lines)
        talk.query("SELECT key FROM system.local", frame_flags=1)
        talk.close()
    talk = Talk(address, "frames", version, lines)
    talk.say(QUERY, long_string("SELECT key FROM system.local") + talk.parameters(), version=3 if version == 4 else 4)
    talk.close()


def statements(address, version, lines):
    talk = Talk(address, "statements", version, lines)
    unnoted, talk.lines = talk.lines, []
    talk.query("DROP KEYSPACE IF EXISTS vectors")
    talk.lines = unnoted
    talk.query("CREATE KEYSPACE vectors WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    talk.query("CREATE KEYSPACE vectors WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    talk.query("USE vectors")
    talk.keyspace = "vectors"
    talk.query("CREATE TYPE u (a int, b text)")
    talk.query("CREATE TABLE t (k int, c int, s text STATIC, v text, PRIMARY KEY (k, c))")
    talk.query("CREATE TABLE t (k int PRIMARY KEY)")
    talk.query("CREATE TABLE types (k int PRIMARY KEY, a ascii, b bigint, c blob, d boolean, e date, f decimal, g double, "
               "h duration, i float, j inet, l smallint, m time, n timestamp, o timeuuid, p tinyint, q uuid, r varchar, "
               "s varint, t list<int>, u set<frozen<u>>, v map<text, frozen<list<int>>>, w frozen<tuple<int, text>>, "
               "x frozen<u>, y vector<float, 2>)")
    talk.query("INSERT INTO types (k, a, b, c, d, e, f, g, h, i, j, l, m, n, o, p, q, r, s, t, u, v, w, x, y) VALUES (1, "
               "'a', 2, 0x03, true, '2020-01-02', 1.50, 2.5, 1mo2d3ns, 1.5, '127.0.0.1', 4, '01:02:03', "
               "'2020-01-02T03:04:05Z', 50554d6e-29bb-11e5-b345-feff819cdc9f, 5, 550e8400-e29b-41d4-a716-446655440000, "
               "'r', 123456789012345678901234567890, [1, 2], {{a: 1, b: 'x'}}, {'k': [1]}, (1, 'y'), {a: 2, b: null}, "
               "[1, 2])")
    talk.query("SELECT * FROM types")
    talk.query("SELECT k, a FROM types", SKIP_METADATA)
    for c in range(3):
        talk.query(f"INSERT INTO t (k, c, s, v) VALUES (1, {c}, 's', 'v{c}')")
    talk.query("SELECT * FROM t", PAGE_SIZE, rest=int_(2))
    talk.query("SELECT * FROM t", PAGE_SIZE, rest=int_(0))
    talk.query("SELECT * FROM t", PAGE_SIZE, rest=int_(-1))
    talk.query("SELECT * FROM t", PAGE_SIZE | PAGING_STATE, rest=int_(2) + bytes_(b"\x01\x02"))
    talk.query("SELECT count(*) FROM t")
    talk.query("SELECT v FROM t WHERE k = ? AND c = ?", VALUES, rest=values(int_(1), int_(2)))
    talk.query("SELECT v FROM t WHERE k = :key AND c = :at", VALUES | NAMES,
               rest=struct.pack(">H", 2) + string("at") + bytes_(int_(2)) + string("key") + bytes_(int_(1)))
    talk.query("SELECT v FROM t WHERE k = ?", VALUES, rest=values())
    talk.query("SELECT v FROM t WHERE k = ?", VALUES, rest=values(int_(1), int_(1)))
    talk.query("SELECT v FROM t WHERE k = ?", VALUES, rest=values(b"\1"))
    talk.query("SELECT v FROM t WHERE k = ?", VALUES, rest=values(None))
    talk.query("SELECT v FROM t WHERE k = ?", VALUES, rest=values(...))
    talk.query("INSERT INTO t (k, c, v) VALUES (1, 0, ?)", VALUES, rest=values(...))
    talk.query("UPDATE t SET v = 'x' WHERE k = 1 AND c = 0", TIMESTAMP, rest=struct.pack(">q", -(1 << 63)))
    talk.query("UPDATE t SET v = 'x' WHERE k = 1 AND c = 0", TIMESTAMP, rest=struct.pack(">q", 5))
    talk.query("UPDATE t SET v = 'x' WHERE k = 1 AND c = 0 IF v = 'v1'")
    talk.query("UPDATE t SET v = 'x' WHERE k = 1 AND c = 0 IF v = 'v1'", SERIAL_CONSISTENCY, rest=struct.pack(">H", ONE))
    talk.query("UPDATE t SET v = 'x' WHERE k = 1 AND c = 0 IF v = 'v1'", consistency=EACH_QUORUM)
    talk.query("UPDATE t SET v = 'x' WHERE k = 1 AND c = 0 IF v = 'v1'", consistency=SERIAL)
    talk.query("UPDATE t SET v = 'x' WHERE k = 1 AND c = 0", consistency=SERIAL)
    talk.query("UPDATE t SET v = 'x' WHERE k = 1 AND c = 0", consistency=THREE)
    talk.query("SELECT v FROM t WHERE k = 1", consistency=THREE)
    talk.query("SELECT v FROM t WHERE k = 1", consistency=EACH_QUORUM)
    talk.query("SELECT v FROM t WHERE k = 1", consistency=0)
    talk.query("SELEC v FROM t")
    talk.query("SELECT nothing FROM t")
    talk.query("SELECT v FROM nowhere")
    talk.query("SELECT v FROM nowhere.t")
    talk.query("CREATE KEYSPACE bad WITH replication = {'class': 'NoStrategy'}")
    talk.query("ALTER TABLE t ADD w int")
    talk.query("CREATE INDEX i ON t (v)")
    talk.query("TRUNCATE t")
    talk.query("DROP INDEX i")
    talk.query("DROP TABLE types")
    talk.query("DROP TYPE u")
    talk.close()


def prepared(address, version, lines):
    talk = Talk(address, "prepared", version, lines)
    talk.query("USE vectors")
    talk.keyspace = "vectors"
    insert = talk.prepare("INSERT INTO t (k, c, v) VALUES (?, ?, ?)")
    select = talk.prepare("SELECT v, w FROM t WHERE k = ? AND c = ?")
    star = talk.prepare("SELECT * FROM vectors.t WHERE k = 1")
    talk.prepare("USE vectors")
    talk.prepare("SELEC")
    talk.prepare("UPDATE t SET v = :value WHERE k = :k AND c IN :these IF v = :old")
    talk.execute(insert, VALUES, values(int_(1), int_(1), b"one"))
    talk.execute(insert, VALUES, values(int_(1), int_(2), None))
    talk.execute(insert, VALUES, values(int_(1), int_(2), ...))
    talk.execute(insert, VALUES, values(int_(1), int_(2)))
    talk.execute(insert, VALUES | NAMES, struct.pack(">H", 3) + string("v") + bytes_(b"two") + string("k") +
                 bytes_(int_(1)) + string("c") + bytes_(int_(2)))
    talk.execute(select, VALUES, values(int_(1), int_(2)))
    talk.execute(select, VALUES | SKIP_METADATA, values(int_(1), int_(2)))
    talk.execute((select[0], b"0123456789abcdef"), VALUES | SKIP_METADATA, values(int_(1), int_(2)))
    talk.execute((b"0123456789abcdef", b""))
    talk.batch([(insert[0], [int_(2), int_(1), b"b"]), "INSERT INTO t (k, c, v) VALUES (2, 2, 'c')"])
    talk.batch([(insert[0], [int_(2), int_(1)])])
    talk.batch([(b"0123456789abcdef", [])])
    talk.batch(["SELECT * FROM t"])
    talk.batch(["INSERT INTO t (k, c, v) VALUES (2, 2, 'c')"], kind=1)
    talk.batch(["INSERT INTO t (k, c, v) VALUES (2, 2, 'c')"], kind=2)
    talk.batch(["INSERT INTO t (k, c, v) VALUES (2, 2, 'c')"], kind=3)
    talk.batch([])
    talk.batch(["INSERT INTO t (k, c, v) VALUES (2, 9, 'c') IF NOT EXISTS"])
    talk.batch(["INSERT INTO t (k, c, v) VALUES (2, 2, 'c')"], flags=TIMESTAMP, rest=struct.pack(">q", 1))
    talk.batch(["INSERT INTO t (k, c, v) VALUES (2, 2, 'c')"], consistency=THREE)
    talk.execute(star, SKIP_METADATA)
    talk.query("ALTER TABLE t ADD z int")
    talk.execute(star, SKIP_METADATA)
    talk.execute(star)
    talk.query("ALTER TABLE t DROP z")
    talk.query("DROP TABLE t")
    talk.execute(star)
    talk.query("CREATE TABLE t (k int, c int, s text STATIC, v text, w int, PRIMARY KEY (k, c))")
    talk.close()


def envelopes(address, version, lines):
    """Tracing, custom payload, warnings."""
    payload = struct.pack(">H", 1) + string("key") + bytes_(b"value")
    talk = Talk(address, "envelopes", version, lines)
    talk.say(QUERY, payload + long_string("SELECT key FROM system.local") + talk.parameters(), PAYLOAD)
    talk.say(PREPARE, payload + long_string("SELECT key FROM system.local") + (int_(0) if version >= 5 else b""), PAYLOAD)
    talk.query("SELECT key FROM system.local", frame_flags=TRACING)
    talk.query("SELEC", frame_flags=TRACING)
    talk.query("SELECT count(*) FROM vectors.t", frame_flags=0)
    talk.query("SELECT count(*) FROM vectors.t", frame_flags=TRACING)
    talk.query("SELECT key FROM system.local", frame_flags=WARNING)
    talk.close()


def events(address, version, lines):
    listener = Talk(address, "events", version, lines)
    listener.say(REGISTER, struct.pack(">H", 1) + string("SCHEMA_CHANGE"))
    talk = Talk(address, "events", version, [])
    for text in ["CREATE TYPE vectors.w (a int)", "ALTER TYPE vectors.w ADD b int", "DROP TYPE vectors.w",
                 "CREATE TABLE vectors.e (k int PRIMARY KEY)", "ALTER TABLE vectors.e ADD v int", "DROP TABLE vectors.e",
                 "ALTER KEYSPACE vectors WITH durable_writes = true"]:
        talk.query(text)
        listener.socket.settimeout(2)
        event = b""
        try:
            while b"vectors" not in event:  # other clients may use the server
                event = listener.frame()
        except TimeoutError:
            event = b""
        lines.append((listener.name, version, text.encode(), event, True))
    listener.close()
    talk.close()


def version_5(address, lines):
    talk = Talk(address, "version 5", 5, lines)
    talk.query("SELECT v FROM t", KEYSPACE, rest=string("vectors"))
    talk.query("SELECT v FROM t", KEYSPACE, rest=string("nowhere"))
    talk.query("SELECT v FROM t")
    talk.prepare("SELECT v FROM t", "vectors")
    talk.prepare("SELECT v FROM t", "nowhere")
    talk.batch(["INSERT INTO t (k, c, v) VALUES (3, 1, 'x')"], flags=KEYSPACE, rest=string("vectors"))
    talk.query("USE vectors")
    talk.keyspace = "vectors"
    talk.query("SELECT v FROM vectors.t", KEYSPACE, rest=string("system"))
    for now in [0, 1, -1, -100, -(1 << 31), (1 << 31) - 1]:
        talk.query("INSERT INTO t (k, c, v) VALUES (4, 1, 'x') USING TTL 100", NOW, rest=int_(now))
        talk.query("SELECT ttl(v) FROM t WHERE k = 4", NOW, rest=int_(now))
    talk.batch(["INSERT INTO t (k, c, v) VALUES (5, 1, 'x') USING TTL 100"], flags=NOW, rest=int_(1000))
    talk.query("SELECT ttl(v) FROM t WHERE k = 5", NOW, rest=int_(1040))
    talk.query("SELECT key FROM system.local", 0x200)
    talk.query("SELECT key FROM system.local", 1 << 31)
    talk.close()


def converse(address):
    lines = []
    versions(address, lines)
    for version in (3, 4, 5):
        handshake(address, version, lines)
        frames(address, version, lines)
        statements(address, version, lines)
        prepared(address, version, lines)
        envelopes(address, version, lines)
        events(address, version, lines)
    version_5(address, lines)
    return lines


def blanked(line):
    """Removes the parts that describe a server, and those that differ every time."""
    answer, end = line[3], "" if line[4] else " closed"
    if not answer:
        return end
    header, body = answer[:9], answer[9:]
    if answer[0] & 0x7F < 3:
        header, body = answer[:8], answer[8:]
    body = re.sub(rb"supported versions are \([^)]*\)", b"supported versions are ()", body)
    text = body.hex()
    if header[4] == 6:
        text = "supported"
    elif header[4] == 8 and body[:4] == int_(2) and struct.unpack(">i", body[4:8])[0] & 2:
        text = f"page {body[:8].hex()}"
    if header[1] & TRACING and len(header) == 9:
        text = "trace" + body[16:].hex()
    # The length of a text that differs between servers is ignored.
    length = header[-4:].hex() if text == body.hex() and b"versions are ()" not in body else ""
    return f"{header[:-4].hex()} {length} {text}{end}".replace("  ", " ")


def write(path, lines):
    path.write_text("".join(f"{name}|{version}|{request.hex()}|{answer.hex()}|{'open' if is_open else 'closed'}\n"
                            for name, version, request, answer, is_open in lines))


def read(path):
    recorded = []
    for line in path.read_text().splitlines():
        name, version, request, answer, end = line.split("|")
        recorded.append((name, int(version), bytes.fromhex(request), bytes.fromhex(answer), end == "open"))
    return recorded


def readable(data):
    return re.sub(rb"[^ -~]+", b".", data).decode()
