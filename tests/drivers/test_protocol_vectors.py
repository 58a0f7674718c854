"""Every message in both directions, byte for byte as recorded from a real Cassandra.

Differences are listed with their reasons in tests/data/protocol_own.txt."""
import pytest

import record_vectors
import vectors
import vectors_compressed
from conftest import Server

ASKS_PASSWORDS = ["--authenticator", "PasswordAuthenticator", "--authorizer", "CassandraAuthorizer"]


def answers(kind):
    server = Server(arguments=ASKS_PASSWORDS if kind == "login" else [])
    try:
        return record_vectors.KINDS[kind]((server.host, server.port))
    finally:
        server.close()


@pytest.mark.parametrize("kind, least", [("plain", 400), ("compressed", 160), ("login", 140)])
def test_answers_are_those_of_cassandra(kind, least):
    lines = answers(kind)
    found = record_vectors.numbered(lines)
    assert len(found) >= least
    own = {key: answer for key, (answer, _) in record_vectors.read_own().items() if key in found}
    different = {key: (expected, actual) for key, expected, actual in record_vectors.differences(kind, found)}
    wrong = [record_vectors.show(key, *pair) + f"\n  ours     {own.get(key)}" for key, pair in different.items()
             if vectors.blanked(pair[1]) != own.get(key)]
    assert not wrong, "\n".join(wrong)
    assert not own.keys() - different.keys(), "these answers have become Cassandra's: record_vectors.py own"
    if kind == "compressed":
        packed = {line[:2] for line in lines if len(line[3]) > 9 and line[3][1] & vectors_compressed.COMPRESSED}
        assert packed == {("lz4", 3), ("lz4", 4), ("lz4", 5), ("snappy", 3), ("snappy", 4)}


def test_every_own_answer_has_its_reason():
    own = record_vectors.read_own()
    known = {key for kind in record_vectors.KINDS for key in record_vectors.recorded(kind)}
    assert own.keys() <= known
    assert {reason for _, reason in own.values()} == {reason for *_, reason in record_vectors.REASONS}
