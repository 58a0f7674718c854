"""Every message in both directions, byte for byte as a real Cassandra answered it (vectors.py records)."""
import vectors

# What is deliberately otherwise: a part of the request, and of our answer.
KNOWN = [
    # Versions that we do not speak: we say so in the header of versions 1 and 2, too, and close.
    (b"", b"Invalid or unsupported protocol version"),
    # One message too early does not end the connection.
    (b"", b"Unexpected message QUERY, expecting STARTUP or OPTIONS"),
    (b"", b"Invalid message version. Got"),  # Cassandra's lacks a blank
    # Bodies that are cut off: a protocol error, where Cassandra shows an exception of its buffers.
    (b"", b"Not enough bytes in the message"),
    (b"", b"Unknown code 11 for a consistency level"),  # NODE_LOCAL, which Cassandra refuses with another text
    (b"SELEC", b"[hint: did you mean SELECT?]"),
    # A prepared SELECT * goes on after ALTER TABLE, with its new columns.
    (b"", b"vectors\0\1t\0\1k"),
    # Nobody is told about the anti-pattern of USE.
    (b"INSERT INTO t (k, c, v) VALUES (?, ?, ?)", b"vectors"),
    (b"SELECT v FROM t", b"vectors"),
    # Moments before 1970 are moments like others.
    (b"SELECT ttl(v) FROM t WHERE k = 4", b"ttl(v)"),
    # A change that changes nothing is no event.
    (b"ALTER KEYSPACE vectors WITH durable_writes = true", b""),
]
ROWS, PREPARED = 2, 4
NO_METADATA, GLOBAL_TABLE, METADATA_CHANGED = 4, 1, 8


def body_of(answer):
    return answer[9:]


def without_ids(line):
    """The ids of result metadata are each server's own; with NO_METADATA the flag of one table means nothing."""
    name, version, request, answer, is_open = line
    body = bytearray(body_of(answer))
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


def is_known(request, answer):
    return any(asked in request and told in answer for asked, told in KNOWN)


def test_answers_are_those_of_cassandra(own_server):
    recorded = [without_ids(line) for line in vectors.read()]
    found = [without_ids(line) for line in vectors.converse((own_server.host, own_server.port))]
    wrong = [f"{expected[0]} v{expected[1]}: {vectors.readable(expected[2])}\n  expected {vectors.readable(expected[3])} "
             f"{expected[3].hex()}\n  found    {vectors.readable(actual[3])} {actual[3].hex()}"
             for expected, actual in vectors.differences(recorded, found) if not is_known(actual[2], actual[3])]
    assert not wrong, "\n".join(wrong)
    assert len(found) > 400
