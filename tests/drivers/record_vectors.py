#!/usr/bin/env python3
"""Records conversations (vectors*.py), and compares the responses of a server with them.

    record_vectors.py record KIND HOST:PORT    writes the responses of a real Cassandra
    record_vectors.py compare KIND HOST:PORT   shows the responses of a server that differ
    record_vectors.py own KIND HOST:PORT       writes the responses of Sibyl that differ, each with the reason

KIND: plain, compressed, or login (a server that requires passwords)."""
import pathlib
import sys

import vectors
import vectors_compressed
import vectors_login

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
KINDS = {"plain": vectors.converse, "compressed": vectors_compressed.converse, "login": vectors_login.converse}
OWN = DATA / "protocol_own.txt"

# Reasons why our responses differ: a part of the request, a part of our response, and the reason.
REASONS = [
    (b"", b"Invalid or unsupported protocol version", "we say so in the headers of versions 1 and 2, too, and close"),
    (b"", b"Unexpected message QUERY, expecting STARTUP or OPTIONS", "one message too early does not end the connection"),
    (b"", b"Invalid message version. Got", "Cassandra's lacks a blank"),
    (b"", b"Not enough bytes in the message", "a protocol error, where Cassandra shows an exception of its buffers"),
    (b"", b"Password must not be null", "where Cassandra shows an exception of its buffers"),
    (b"", b"does not appear to be", "told on its stream, where Cassandra ends the connection or shows a compressor's exception"),
    (b"", b"exceeds maximum allowed length", "told on its stream, where Cassandra ends the connection"),
    (b"", b"Unknown code 11 for a consistency level", "NODE_LOCAL, which Cassandra refuses with another text"),
    (b"SELEC", b"[hint: did you mean SELECT?]", "a hint"),
    (b"INSERT INTO t (k, c, v) VALUES (?, ?, ?)", b"vectors", "nobody is told about the anti-pattern of USE"),
    (b"SELECT v FROM t", b"vectors", "nobody is told about the anti-pattern of USE"),
    (b"SELECT ttl(v) FROM t WHERE k = 4", b"ttl(v)", "moments before 1970 are moments like others"),
]
ROWS, PREPARED = 2, 4
NO_METADATA, GLOBAL_TABLE, METADATA_CHANGED = 4, 1, 8


def recording(kind):
    return DATA / ("protocol.txt" if kind == "plain" else f"protocol_{kind}.txt")


def without_ids(line):
    """Blanks out parts that depend on the server: ids of result metadata, and whether a response is worth compressing. With
    NO_METADATA, the flag for a single table has no meaning."""
    name, version, request, answer, is_open = line
    if len(answer) < 9:
        return line
    answer = answer[:1] + bytes([answer[1] & ~vectors_compressed.COMPRESSED]) + answer[2:]
    body = bytearray(answer[9:])
    if len(answer) > 17 and answer[4] == 8 and not answer[1] & vectors.WARNING:
        kind = int.from_bytes(body[:4], "big")
        if kind == PREPARED and version == 5:
            start = 4 + 2 + 16 + 2
            body[start:start + 16] = bytes(16)
        if kind == ROWS and not answer[1]:
            flags = int.from_bytes(body[4:8], "big")
            if flags & NO_METADATA:
                body[7] &= ~GLOBAL_TABLE
            if flags & METADATA_CHANGED:
                body[14:30] = bytes(16)
    return name, version, request, answer[:9] + bytes(body), is_open


def numbered(lines):
    """(conversation, version, number within these) -> line, without parts that depend on the server."""
    found, counts = {}, {}
    for line in lines:
        counts[line[:2]] = counts.get(line[:2], 0) + 1
        found[line[:2] + (counts[line[:2]],)] = without_ids(line)
    return found


def converse(kind, address):
    return numbered(KINDS[kind](address))


def recorded(kind):
    return numbered(vectors.read(recording(kind)))


def read_own():
    """(conversation, version, number) -> (our response, as in `blanked`, the reason)"""
    own = {}
    for line in OWN.read_text(encoding="utf-8").splitlines():
        name, version, number, answer, reason = line.split("|")
        own[name, int(version), int(number)] = answer, reason
    return own


def differences(kind, found):
    """(key, expected, actual) of the responses that differ from Cassandra's."""
    expected = recorded(kind)
    assert list(expected) == list(found), "another conversation was recorded"
    return [(key, expected[key], found[key]) for key in expected if vectors.blanked(expected[key]) != vectors.blanked(found[key])]


def show(key, expected, actual):
    return (f"{key[0]} v{key[1]} no. {key[2]}: {vectors.readable(actual[2])}\n  expected {vectors.blanked(expected)}\n"
            f"           {vectors.readable(expected[3])}\n  found    {vectors.blanked(actual)}\n           {vectors.readable(actual[3])}")


def write_own(kind, found):
    names = {key[0] for key in found}
    own = {key: value for key, value in (read_own() if OWN.exists() else {}).items() if key[0] not in names}
    unexplained = 0
    for key, expected, actual in differences(kind, found):
        reasons = [reason for asked, told, reason in REASONS if asked in actual[2] and told in actual[3]]
        if not reasons:
            unexplained += 1
            print(show(key, expected, actual))
            continue
        own[key] = vectors.blanked(actual), reasons[0]
    OWN.write_text("".join(f"{name}|{version}|{number}|{answer}|{reason}\n"
                           for (name, version, number), (answer, reason) in own.items()), encoding="utf-8")
    return unexplained


def main():
    command, kind, where = sys.argv[1:]
    host, port = where.rsplit(":", 1)
    address = host, int(port)
    if command == "record":
        vectors.write(recording(kind), KINDS[kind](address))
        return 0
    found = converse(kind, address)
    if command == "own":
        return 1 if write_own(kind, found) else 0
    for difference in differences(kind, found):
        print(show(*difference))
    return 0


if __name__ == "__main__":
    sys.exit(main())
