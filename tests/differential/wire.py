"""A small client of the native protocol, v4 and v5, that keeps answers byte for byte and allows concurrent requests."""
import socket
import struct
import zlib

ERROR, STARTUP, READY, QUERY, RESULT, PREPARE, EXECUTE, BATCH = 0x00, 0x01, 0x02, 0x07, 0x08, 0x09, 0x0A, 0x0D
VOID, ROWS, SET_KEYSPACE, PREPARED, SCHEMA_CHANGE = 1, 2, 3, 4, 5
UNSET = object()  # a bound value that does not change its column; None is null

CRC32_START = zlib.crc32(b"\xfa\x2d\x55\xca")
LARGEST_PAYLOAD = 128 * 1024 - 1


def _crc24_table():
    table = []
    for byte in range(256):
        crc = byte << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= 0x1974F0B
        table.append(crc)
    return table


CRC24 = _crc24_table()


def crc24(three_bytes):
    crc = 0x875060
    for byte in three_bytes:
        crc = ((crc << 8) & 0xFFFFFF) ^ CRC24[(crc >> 16) ^ byte]
    return crc


def v5_frame(payload, self_contained=True):
    header = (len(payload) | (int(self_contained) << 17)).to_bytes(3, "little")
    return b"".join((header, crc24(header).to_bytes(3, "little"), payload,
                     zlib.crc32(payload, CRC32_START).to_bytes(4, "little")))


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def byte(self):
        return self.take(1)[0]

    def short(self):
        return int.from_bytes(self.take(2), "big")

    def int(self):
        return int.from_bytes(self.take(4), "big", signed=True)

    def string(self):
        return self.take(self.short()).decode("utf-8", "backslashreplace")

    def strings(self):
        return [self.string() for _ in range(self.short())]

    def bytes(self):
        size = self.int()
        return None if size < 0 else self.take(size)

    def type_option(self):
        """Reads one type and returns its bytes, which are compared."""
        start = self.at
        kind = self.short()
        if kind == 0x00:
            self.string()
        elif kind in (0x20, 0x22):
            self.type_option()
        elif kind == 0x21:
            self.type_option(), self.type_option()
        elif kind == 0x30:
            self.string(), self.string()
            for _ in range(self.short()):
                self.string(), self.type_option()
        elif kind == 0x31:
            for _ in range(self.short()):
                self.type_option()
        return self.data[start:self.at]


def encode_string(text):
    raw = text.encode("utf-8")
    return struct.pack(">H", len(raw)) + raw


def encode_long_string(text):
    raw = text.encode("utf-8")
    return struct.pack(">i", len(raw)) + raw


def encode_values(values):
    out = [struct.pack(">H", len(values))]
    for value in values:
        if value is None:
            out.append(b"\xff\xff\xff\xff")
        elif value is UNSET:
            out.append(b"\xff\xff\xff\xfe")
        else:
            out += (struct.pack(">i", len(value)), value)
    return b"".join(out)


class Answer:
    """The answer to a request. key() must be equal for both servers."""

    __slots__ = ("kind", "code", "message", "columns", "rows", "paging_state", "prepared_id", "detail", "warnings")

    def __init__(self, kind):
        self.kind = kind
        self.code = self.message = self.columns = self.rows = self.paging_state = self.prepared_id = self.detail = None
        self.warnings = ()

    def key(self):
        return (self.kind, self.code, self.message, self.columns, self.rows, self.paging_state is not None, self.detail,
                self.warnings)


class Connection:
    def __init__(self, address, version=5):
        host, port = address.rsplit(":", 1)
        self.version = version
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.framed = False
        self.outgoing, self.incoming, self.payload = [], b"", b""
        self.answers, self.next_stream = {}, 0
        answer = self.receive(self.send(STARTUP, struct.pack(">H", 1) + encode_string("CQL_VERSION") + encode_string("3.0.0")))
        if answer.kind != "ready":
            raise ConnectionError(f"{address} refuses v{version}: {answer.message}")
        self.framed = version >= 5

    def close(self):
        self.socket.close()

    # --- Requests. Each returns a ticket for receive(). Nothing is sent before flush() or receive().
    def parameters(self, values=None, page_size=None, paging_state=None, timestamp=None, now=None, consistency=1, serial=None):
        flags, out = 0, []
        if values is not None:
            flags |= 0x01
            out.append(encode_values(values))
        if page_size:
            flags |= 0x04
            out.append(struct.pack(">i", page_size))
        if paging_state is not None:
            flags |= 0x08
            out.append(struct.pack(">i", len(paging_state)) + paging_state)
        flags, tail = self._tail(flags, serial, timestamp, now)
        return struct.pack(">HI" if self.version >= 5 else ">HB", consistency, flags) + b"".join(out) + tail

    def _tail(self, flags, serial, timestamp, now):
        out = []
        if serial is not None:
            flags |= 0x10
            out.append(struct.pack(">H", serial))
        if timestamp is not None:
            flags |= 0x20
            out.append(struct.pack(">q", timestamp))
        if now is not None and self.version >= 5:
            flags |= 0x100
            out.append(struct.pack(">i", now))
        return flags, b"".join(out)

    def query(self, text, **parameters):
        return self.send(QUERY, encode_long_string(text) + self.parameters(**parameters))

    def prepare(self, text):
        return self.send(PREPARE, encode_long_string(text) + (b"\0\0\0\0" if self.version >= 5 else b""))

    def execute(self, prepared, **parameters):
        statement, metadata = prepared
        head = struct.pack(">H", len(statement)) + statement
        if self.version >= 5:
            head += struct.pack(">H", len(metadata)) + metadata
        return self.send(EXECUTE, head + self.parameters(**parameters))

    def batch(self, kind, statements, timestamp=None, now=None, consistency=1, serial=None):
        """`statements`: (text or prepared, values)."""
        out = [struct.pack(">BH", kind, len(statements))]
        for statement, values in statements:
            if isinstance(statement, str):
                out.append(b"\0" + encode_long_string(statement))
            else:
                out.append(b"\1" + struct.pack(">H", len(statement[0])) + statement[0])
            out.append(encode_values(values))
        flags, tail = self._tail(0, serial, timestamp, now)
        out.append(struct.pack(">HI" if self.version >= 5 else ">HB", consistency, flags) + tail)
        return self.send(BATCH, b"".join(out))

    def send(self, opcode, body):
        self.next_stream = (self.next_stream + 1) % 30000
        self.outgoing.append(struct.pack(">BBhBi", self.version, 0, self.next_stream, opcode, len(body)) + body)
        return self.next_stream

    def flush(self):
        if not self.outgoing:
            return
        out, self.outgoing = self.outgoing, []
        if not self.framed:
            self.socket.sendall(b"".join(out))
            return
        frames = []
        for envelope in out:
            if len(envelope) <= LARGEST_PAYLOAD:
                frames.append(v5_frame(envelope))
            else:
                frames += [v5_frame(envelope[at:at + LARGEST_PAYLOAD], False) for at in range(0, len(envelope), LARGEST_PAYLOAD)]
        self.socket.sendall(b"".join(frames))

    # --- Answers.
    def receive(self, ticket):
        self.flush()
        while ticket not in self.answers:
            data = self.socket.recv(1 << 18)
            if not data:
                raise ConnectionError("the server closed the connection")
            self.incoming += data
            if self.framed:
                self._unframe()
            else:
                self.payload, self.incoming = self.payload + self.incoming, b""
            self._split()
        return parse(*self.answers.pop(ticket), self.version)

    def _unframe(self):
        at, data, out = 0, self.incoming, []
        while len(data) - at >= 6:
            header = data[at:at + 3]
            if crc24(header) != int.from_bytes(data[at + 3:at + 6], "little"):
                raise ConnectionError("a frame header's CRC24 is wrong")
            size = int.from_bytes(header, "little") & 0x1FFFF
            if len(data) - at < size + 10:
                break
            payload = data[at + 6:at + 6 + size]
            if zlib.crc32(payload, CRC32_START) != int.from_bytes(data[at + 6 + size:at + 10 + size], "little"):
                raise ConnectionError("a frame's CRC32 is wrong")
            out.append(payload)
            at += size + 10
        self.incoming = data[at:]
        self.payload += b"".join(out)

    def _split(self):
        at, data = 0, self.payload
        while len(data) - at >= 9:
            _, flags, stream, opcode, size = struct.unpack_from(">BBhBi", data, at)
            if len(data) - at < 9 + size:
                break
            self.answers[stream] = (opcode, flags, data[at + 9:at + 9 + size])
            at += 9 + size
        self.payload = data[at:]


def parse(opcode, flags, body, version):
    reader = Reader(body)
    if flags & 0x02:
        reader.take(16)
    warnings = tuple(reader.strings()) if flags & 0x08 else ()
    if flags & 0x04:
        for _ in range(reader.short()):
            reader.string(), reader.bytes()
    if opcode == ERROR:
        answer = Answer("error")
        answer.code, answer.message = reader.int(), reader.string()
        answer.detail = body[reader.at:]
    elif opcode == RESULT:
        answer = _result(reader, body, version)
    else:
        answer = Answer("ready" if opcode == READY else f"opcode {opcode}")
    answer.warnings = warnings
    return answer


def _metadata(reader, answer):
    """Columns as (keyspace, table, name, type bytes); none if the server omitted them."""
    flags, count = reader.int(), reader.int()
    if flags & 0x02:
        answer.paging_state = reader.bytes()
    if flags & 0x08:
        reader.take(reader.short())
    if flags & 0x04:
        return count
    table = (reader.string(), reader.string()) if flags & 0x01 else None
    return tuple((*(table or (reader.string(), reader.string())), reader.string(), reader.type_option()) for _ in range(count))


def _result(reader, body, version):
    kind = reader.int()
    if kind == VOID:
        return Answer("void")
    if kind == ROWS:
        answer = Answer("rows")
        answer.columns = _metadata(reader, answer)
        count = len(answer.columns) if isinstance(answer.columns, tuple) else answer.columns
        answer.rows = tuple(tuple(reader.bytes() for _ in range(count)) for _ in range(reader.int()))
        return answer
    if kind == SET_KEYSPACE:
        answer = Answer("keyspace")
        answer.detail = reader.string()
        return answer
    if kind == PREPARED:
        return _prepared(reader, version)
    answer = Answer("schema")
    answer.detail = body[reader.at:]
    return answer


def _prepared(reader, version):
    answer = Answer("prepared")
    statement = reader.take(reader.short())
    answer.prepared_id = (statement, reader.take(reader.short()) if version >= 5 else b"")
    flags, count, keys = reader.int(), reader.int(), reader.int()
    key_indexes = tuple(reader.short() for _ in range(keys))
    table = (reader.string(), reader.string()) if flags & 0x01 else None
    markers = tuple((*(table or (reader.string(), reader.string())), reader.string(), reader.type_option()) for _ in range(count))
    answer.columns = _metadata(reader, answer)
    answer.detail = (markers, key_indexes, statement)
    return answer
