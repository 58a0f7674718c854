"""Protocol v5 by hand, for requests that drivers do not send."""
import io
import socket
import struct

from cassandra.segment import SegmentCodec

QUERY, BATCH = 7, 13
WITH_KEYSPACE, WITH_NOW = 0x80, 0x100


def string(text):
    return struct.pack(">H", len(text.encode())) + text.encode()


def long_string(text):
    return struct.pack(">i", len(text.encode())) + text.encode()


class Connection:
    """A connection with one request at a time. Requests use the keyspace, if one is given."""

    def __init__(self, server, keyspace=None):
        self.keyspace = keyspace
        self.socket = socket.create_connection((server.host, server.port), timeout=20)
        self.received = b""
        body = struct.pack(">H", 1) + string("CQL_VERSION") + string("3.0.0")
        self.socket.sendall(struct.pack(">BBhBi", 5, 0, 0, 1, len(body)) + body)
        opcode, = struct.unpack(">4xBi", self.exactly(9))[:1]
        assert opcode == 2

    def close(self):
        self.socket.close()

    def exactly(self, size):
        while len(self.received) < size:
            more = self.socket.recv(65536)
            if not more:
                raise EOFError
            self.received += more
        taken, self.received = self.received[:size], self.received[size:]
        return taken

    def send(self, opcode, body, spoil=None):
        """Sends a message in one segment; `spoil` is the position of a byte to corrupt."""
        out = io.BytesIO()
        SegmentCodec().encode(out, struct.pack(">BBhBi", 5, 0, 1, opcode, len(body)) + body)
        segment = bytearray(out.getvalue())
        if spoil is not None:
            segment[spoil] ^= 1
        self.socket.sendall(segment)

    def receive(self):
        """Returns the opcode and body of the next message."""
        length = int.from_bytes(self.exactly(6)[:3], "little") & 0x1FFFF
        payload = self.exactly(length)
        self.exactly(4)
        return payload[4], payload[9:]

    def error(self):
        opcode, body = self.receive()
        assert opcode == 0, body
        code, size = struct.unpack(">iH", body[:6])
        return code, body[6:6 + size].decode()

    def options(self, now):
        flags = (WITH_KEYSPACE if self.keyspace else 0) | (WITH_NOW if now is not None else 0)
        body = struct.pack(">HI", 1, flags)
        if self.keyspace:
            body += string(self.keyspace)
        return body if now is None else body + struct.pack(">i", now)

    def query(self, text, now=None):
        """Returns the rows as ints and texts."""
        self.send(QUERY, long_string(text) + self.options(now))
        opcode, body = self.receive()
        assert opcode == 8, body
        return rows(body) if struct.unpack(">i", body[:4])[0] == 2 else None

    def batch(self, texts, now=None):
        statements = b"".join(b"\0" + long_string(text) + struct.pack(">H", 0) for text in texts)
        self.send(BATCH, struct.pack(">BH", 0, len(texts)) + statements + self.options(now))
        opcode, body = self.receive()
        assert opcode == 8, body


def rows(body):
    """Decodes rows with columns of one table, which are ints (9) or texts."""
    reader = io.BytesIO(body)

    def number(form):
        return struct.unpack(">" + form, reader.read(struct.calcsize(form)))[0]

    number("i"), number("i")
    count = number("i")
    for _ in range(2):
        reader.read(number("H"))
    types = []
    for _ in range(count):
        reader.read(number("H"))
        types.append(number("H"))
    found = []
    for _ in range(number("i")):
        row = []
        for kind in types:
            size = number("i")
            value = reader.read(size) if size >= 0 else None
            row.append(value if value is None else int.from_bytes(value, "big", signed=True) if kind == 9 else value.decode())
        found.append(row)
    return found
