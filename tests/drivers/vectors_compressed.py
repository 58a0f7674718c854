"""Conversations on compressed connections: bodies in versions 3 and 4, segments in version 5.

Compressors differ in their output, so responses are recorded uncompressed. The compression flag in the header says whether a
response was compressed; in version 5, where the flag has no meaning, it says whether the segment was."""
import io
import struct

from cassandra.connection import locally_supported_compressions
from cassandra.segment import CRC32_INITIAL, SegmentCodec, compute_crc32

from vectors import (OPTIONS, PAGE_SIZE, PREPARE, QUERY, REGISTER, STARTUP, TRACING, VALUES, Talk, int_, long_string, string,
                     string_map, values)

COMPRESSED = 1


class CompressedTalk(Talk):
    def __init__(self, address, algorithm, version, lines):
        self.algorithm, self.packs = algorithm, True
        self.pack, self.unpack = locally_supported_compressions[algorithm]
        self.codec = SegmentCodec(self.pack, self.unpack)
        self.options = Talk.options | {"COMPRESSION": algorithm}
        super().__init__(address, algorithm, version, lines)

    def say(self, opcode, body=b"", flags=0, stream=1, version=None):
        if opcode != STARTUP and self.packs and self.version < 5 and body:
            body, flags = self.pack(body), flags | COMPRESSED
        return super().say(opcode, body, flags, stream, version)

    def send(self, request):
        if not self.has_segments:
            return super().send(request)
        out = io.BytesIO()
        (self.codec if self.packs else UnpackedCodec(self.pack, self.unpack)).encode(out, request)
        self.socket.sendall(out.getvalue())

    def segment(self):
        header = self.codec.decode_header(io.BytesIO(self.exactly(self.codec.header_length_with_crc)))
        body = self.exactly(header.payload_length + 4)
        is_packed = header.uncompressed_payload_length > 0
        return self.codec.decode(io.BytesIO(body), header).payload, is_packed

    def frame(self):
        if not self.has_segments:
            frame = super().frame()
            if not frame[1] & COMPRESSED:
                return frame
            body = self.unpack(frame[9:])
            return frame[:5] + int_(len(body)) + body
        frame, is_packed = self.segment()
        while len(frame) < 9 or len(frame) < 9 + struct.unpack(">i", frame[5:9])[0]:
            frame += self.segment()[0]
        return frame[:1] + bytes([frame[1] | (COMPRESSED if is_packed else 0)]) + frame[2:]

    def raw_segment(self, payload, length, is_packed=True):
        """Sends a segment with this payload and `length` as its uncompressed length."""
        if not self.is_open:
            self.open()
        out = io.BytesIO()
        self.codec.encode_header(out, len(payload), length if is_packed else 0, True)
        crc = compute_crc32(payload, CRC32_INITIAL).to_bytes(4, "little")
        packed, self.send = out.getvalue() + payload + crc, lambda _: self.socket.sendall(packed)
        try:
            return self.raw(packed)
        finally:
            del self.send


class UnpackedCodec(SegmentCodec):
    """Segments on a compressed connection may be uncompressed."""

    def compress(self, data):
        return data


def frames(address, algorithm, version, lines):
    """Compressed and uncompressed bodies, and bodies that cannot be decompressed, each on a separate connection."""
    talk = CompressedTalk(address, algorithm, version, lines)
    talk.is_single = True
    asked = long_string("SELECT key FROM system.local") + talk.parameters()
    talk.say(OPTIONS)
    talk.say(QUERY, asked)
    talk.say(QUERY, asked, TRACING)
    talk.query("SELEC")
    talk.say(REGISTER, struct.pack(">H", 1) + string("SCHEMA_CHANGE"))
    talk.say(STARTUP, string_map(Talk.options))
    talk.packs = False
    talk.say(QUERY, asked)
    talk.query("SELEC")
    if version < 5:
        packed = talk.pack(asked)
        for body in [b"", b"\0", b"\xff" * 40, packed[:-3], packed + b"\0", b"\x7f\xff\xff\xff" + packed[4:],
                     b"\xff\xff\xff\xff" + packed[4:], b"\0\0\0\0" + packed[4:], b"\0\0\0\5" + packed[4:]]:
            talk.say(QUERY, body, COMPRESSED)
    else:
        request = struct.pack(">BBhBi", 5, 0, 1, QUERY, len(asked)) + asked
        packed = talk.pack(request)[4:]
        for payload, length in [(packed, len(request)), (packed, len(request) + 1), (packed, len(request) - 1),
                                (b"\xff" * 40, 400), (packed[:-3], len(request))]:
            talk.raw_segment(payload, length)
        talk.raw_segment(request, 0, is_packed=False)
        talk.say(QUERY, asked, COMPRESSED)
    talk.close()


def statements(address, algorithm, version, lines):
    talk = CompressedTalk(address, algorithm, version, lines)
    unnoted, talk.lines = talk.lines, []
    talk.query("DROP KEYSPACE IF EXISTS packed")
    talk.lines = unnoted
    talk.query("CREATE KEYSPACE packed WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    talk.query("CREATE TABLE packed.t (k int, c int, v text, PRIMARY KEY (k, c))")
    insert = talk.prepare("INSERT INTO packed.t (k, c, v) VALUES (?, ?, ?)")
    for c in range(3):
        talk.execute(insert, VALUES, values(int_(1), int_(c), b"many times the same " * 50))
    talk.execute(insert, VALUES, values(int_(1), int_(3), bytes(range(32, 127))))
    talk.batch([(insert[0], [int_(2), int_(1), b"b" * 300]), "INSERT INTO packed.t (k, c, v) VALUES (2, 2, 'c')"])
    talk.query("SELECT * FROM packed.t WHERE k = 1")
    talk.query("SELECT * FROM packed.t WHERE k = 2")
    talk.query("SELECT * FROM packed.t WHERE k = 1", PAGE_SIZE, rest=int_(2))
    talk.query("SELECT * FROM packed.t WHERE k = 9")
    talk.execute(insert, VALUES, values(int_(1)))
    talk.say(PREPARE, long_string("SELECT nothing FROM packed.t") + (int_(0) if version >= 5 else b""))
    talk.query("DROP KEYSPACE packed")
    talk.close()


def converse(address):
    lines = []
    for algorithm, versions in [("lz4", (3, 4, 5)), ("snappy", (3, 4))]:
        for version in versions:
            frames(address, algorithm, version, lines)
            statements(address, algorithm, version, lines)
    talk = Talk(address, "snappy", 5, lines, startup=False)  # version 5 does not support snappy
    talk.say(STARTUP, string_map(CompressedTalk.options | {"COMPRESSION": "snappy"}))
    talk.close()
    return lines
