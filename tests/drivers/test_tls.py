"""TLS: required, optional on one port, client certificates, reloading without a restart."""
import errno
import os
import signal
import socket
import ssl
import subprocess
import time

import pytest
from cassandra.cluster import NoHostAvailable

from certificates import Authority
from conftest import BINARY, Server, connect


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"), "authority")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"), "stranger")


@pytest.fixture(scope="module")
def certificate(authority):
    return authority.sign("server")


def serve(certificate, *arguments):
    return Server(data=":memory:",
                  arguments=["--tls-certificate", certificate[0], "--tls-key", certificate[1], *arguments])


@pytest.fixture(scope="module")
def required(certificate):
    server = serve(certificate)
    yield server
    server.close()


@pytest.fixture(scope="module")
def optional(certificate):
    server = serve(certificate, "--tls-optional")
    yield server
    server.close()


@pytest.fixture(scope="module")
def mutual(certificate, authority):
    server = serve(certificate, "--tls-ca", authority.certificate, "--tls-require-client-certificate")
    yield server
    server.close()


def context(authority, own=None, newest=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.load_verify_locations(authority.certificate)
    if own:
        made.load_cert_chain(*own)
    if newest:
        made.maximum_version = newest
    return made


def secure(server, ssl_context):
    return connect(server, ssl_context=ssl_context, ssl_options={"server_hostname": "localhost"})


def ask(cluster, statement="SELECT release_version FROM system.local"):
    try:
        return cluster.connect().execute(statement).one()
    finally:
        cluster.shutdown()


def wrapped(server, ssl_context):
    plain = socket.create_connection((server.host, server.port), timeout=10)
    return ssl_context.wrap_socket(plain, server_hostname="localhost")


OPTIONS = bytes([4, 0, 0, 1, 5, 0, 0, 0, 0])


def options_answered(connection):
    connection.sendall(OPTIONS)
    header = connection.recv(9)
    if len(header) != 9 or header[0] != 0x84 or header[4] != 6:
        return False
    rest = int.from_bytes(header[5:], "big")
    while rest > 0:
        rest -= len(connection.recv(rest)) or pytest.fail("the server closed the connection")
    return True


def shell(server, *arguments, environment=None):
    return subprocess.run([BINARY, "shell", f"localhost:{server.port}", *arguments, "-e", "SELECT key FROM system.local"],
                          capture_output=True, text=True, timeout=30, env={**os.environ, **(environment or {})})


def wait_for_log(server, text):
    deadline = time.monotonic() + 10
    while text not in server.read_log():
        assert time.monotonic() < deadline, server.read_log()
        time.sleep(0.02)


def test_required(required, authority):
    assert ask(secure(required, context(authority))).release_version


def test_flags_are_shown_as_settings(mutual, authority, certificate):
    cluster = secure(mutual, context(authority, authority.sign("client")))
    try:
        rows = cluster.connect().execute("SELECT name, value FROM system_views.settings")
        shown = {row.name.split(".", 1)[1]: row.value for row in rows if row.name.startswith("client_encryption_options.")}
    finally:
        cluster.shutdown()
    assert shown == {"enabled": "true", "optional": "false", "keystore": certificate[0], "key": certificate[1],
                     "truststore": authority.certificate, "require_client_auth": "true"}


def test_large_answers_and_requests(required, authority):
    cluster = secure(required, context(authority))
    session = cluster.connect()
    session.execute("CREATE KEYSPACE big WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    session.execute("CREATE TABLE big.t (k int, c int, v blob, PRIMARY KEY (k, c))")
    insert = session.prepare("INSERT INTO big.t (k, c, v) VALUES (1, ?, ?)")
    values = [os.urandom(300_000) for _ in range(20)]
    for future in [session.execute_async(insert, (i, value)) for i, value in enumerate(values)]:
        future.result()
    assert [row.v for row in session.execute("SELECT v FROM big.t WHERE k = 1")] == values
    cluster.shutdown()


def test_many_pipelined_requests(required, authority):
    cluster = secure(required, context(authority))
    session = cluster.connect()
    session.execute("CREATE KEYSPACE many WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    session.execute("CREATE TABLE many.t (k int PRIMARY KEY, v int)")
    insert = session.prepare("INSERT INTO many.t (k, v) VALUES (?, ?)")
    select = session.prepare("SELECT v FROM many.t WHERE k = ?")
    for future in [session.execute_async(insert, (i, i * i)) for i in range(2000)]:
        future.result()
    futures = [session.execute_async(select, (i,)) for i in range(2000)]
    assert [future.result().one().v for future in futures] == [i * i for i in range(2000)]
    cluster.shutdown()


def test_a_plain_client_of_a_required_port_is_closed_and_told_of(required, authority):
    with socket.create_connection((required.host, required.port), timeout=10) as plain:
        plain.sendall(OPTIONS)
        answer = plain.makefile("rb").read()
        assert answer[:5] == bytes([0x84, 0, 0, 1, 0]) and answer.endswith(b"requires encrypted connections (TLS)")
    wait_for_log(required, "it is not encrypted, and TLS is required")
    with pytest.raises(NoHostAvailable):
        ask(connect(required))
    assert ask(secure(required, context(authority))).release_version


def test_optional_both_ways(optional, authority):
    assert ask(connect(optional)).release_version
    assert ask(secure(optional, context(authority))).release_version


def test_clients_are_listed_with_their_encryption(optional, authority):
    seen = ask(secure(optional, context(authority)),
               "SELECT ssl_enabled, ssl_protocol, ssl_cipher_suite FROM system_views.clients")
    assert seen.ssl_enabled and seen.ssl_protocol == "TLSv1.3" and seen.ssl_cipher_suite.startswith("TLS_")
    assert not ask(connect(optional), "SELECT ssl_enabled FROM system_views.clients").ssl_enabled


def test_a_server_of_another_authority_is_refused_by_the_client(required, stranger, authority):
    with pytest.raises(NoHostAvailable):
        ask(secure(required, context(stranger)))
    with pytest.raises(ssl.SSLCertVerificationError):
        wrapped(required, context(stranger))
    assert ask(secure(required, context(authority))).release_version


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_versions(required, authority, version):
    with wrapped(required, context(authority, newest=version)) as connection:
        assert connection.version() == {ssl.TLSVersion.TLSv1_2: "TLSv1.2", ssl.TLSVersion.TLSv1_3: "TLSv1.3"}[version]
        assert options_answered(connection)


def test_tls_1_1_is_refused(required, authority):
    old = context(authority)
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = ssl.TLSVersion.TLSv1
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    deadline = time.monotonic() + 10
    while "unsupported protocol" not in required.read_log():  # at most one rejection per second is logged
        assert time.monotonic() < deadline, required.read_log()
        with pytest.raises(ssl.SSLError, match="(?i)protocol.version|unsupported protocol"):
            wrapped(required, old)


def test_client_certificates(mutual, authority, stranger):
    own = authority.sign("application", "URI:spiffe://example.org/application")
    assert ask(secure(mutual, context(authority, own))).release_version
    for wrong in [None, stranger.sign("application")]:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            # In TLS 1.3 the client gets the error with its first read.
            connection = wrapped(mutual, context(authority, wrong))
            assert options_answered(connection)
            raise AssertionError("a client without a good certificate was served")
    assert ask(secure(mutual, context(authority, own))).release_version


def test_half_a_handshake_holds_up_nobody(required, authority):
    silent = [socket.create_connection((required.host, required.port), timeout=10) for _ in range(50)]
    for connection in silent:
        connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    assert ask(secure(required, context(authority))).release_version
    for connection in silent:
        connection.close()


def test_garbage_after_the_first_byte(required, authority):
    for garbage in [b"\x16", b"\x16" * 100, b"\x16\x03\x01\xff\xff" + os.urandom(70_000), b"\x15\x03\x01\x00\x02\x02\x28"]:
        with socket.create_connection((required.host, required.port), timeout=10) as connection:
            try:  # the server may close before everything is sent
                connection.sendall(garbage)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1000):
                    pass
            except OSError as error:
                assert error.errno in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN), error
    with wrapped(required, context(authority)) as connection:
        assert options_answered(connection)
        connection.sendall(os.urandom(1000))
    assert ask(secure(required, context(authority))).release_version


def test_a_goodbye_is_answered(required, authority):
    connection = wrapped(required, context(authority))
    assert options_answered(connection)
    connection.unwrap().close()  # fails unless the server closes the TLS session as well


def test_certificates_are_read_again(tmp_path, authority, stranger):
    certificate, key = tmp_path / "server.pem", tmp_path / "server.key"

    def install(names):
        for target, source in [(certificate, names[0]), (key, names[1])]:
            target.write_bytes(open(source, "rb").read())

    install(authority.sign("first"))
    server = serve((str(certificate), str(key)))
    try:
        before = wrapped(server, context(authority))
        install(stranger.sign("second"))
        server.process.send_signal(signal.SIGHUP)
        wait_for_log(server, "CN=second")
        assert ask(secure(server, context(stranger))).release_version
        with pytest.raises(ssl.SSLCertVerificationError):
            wrapped(server, context(authority))
        assert options_answered(before), "connections from before live on"
        certificate.write_text("nothing\n")
        server.process.send_signal(signal.SIGHUP)
        wait_for_log(server, "the previous certificate stays in use")
        assert ask(secure(server, context(stranger))).release_version
        before.close()
    finally:
        server.close()


def test_a_keystore(authority):
    authority.sign("stored")
    server = Server(data=":memory:", arguments=["--tls-certificate", authority.keystore("stored", "")])
    try:
        assert ask(secure(server, context(authority))).release_version
    finally:
        server.close()


def test_wrong_files_are_refused_at_the_start(tmp_path, certificate, stranger):
    def refusal(*arguments):
        return subprocess.run([BINARY, "serve", "--data", ":memory:", "--listen", "127.0.0.1:0", *arguments],
                              capture_output=True, text=True, timeout=30)

    java = tmp_path / "keystore.jks"
    java.write_bytes(b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    for arguments, text in [
            (["--tls-certificate", str(tmp_path / "missing.pem")], "cannot be read"),
            (["--tls-certificate", certificate[0], "--tls-key", stranger.sign("other")[1]], "key values mismatch"),
            (["--tls-certificate", certificate[0]], "holds no key"),
            (["--tls-certificate", str(java)], "keytool -importkeystore"),
            (["--tls-certificate", *certificate[:1], "--tls-key", certificate[1], "--tls-require-client-certificate"],
             "needs the CA's certificate"),
    ]:
        refused = refusal(*arguments)
        assert refused.returncode != 0 and text in refused.stderr, refused.stderr


def test_the_shell(required, mutual, authority, stranger):
    assert "local" in shell(required, "--ssl", "--ssl-ca", authority.certificate).stdout
    assert "local" in shell(required, "--ssl", environment={"SSL_CERTFILE": authority.certificate}).stdout
    assert "local" in shell(required, "--ssl", "--ssl-no-verify").stdout
    for refused in [shell(required, "--ssl", "--ssl-ca", stranger.certificate), shell(required, "--ssl"), shell(required)]:
        assert refused.returncode == 2 and refused.stdout == "", refused
    assert "certificate verify failed" in shell(required, "--ssl").stderr
    certificate, key = authority.sign("person")
    own = ["--ssl-certificate", certificate, "--ssl-key", key]
    assert "local" in shell(mutual, "--ssl", "--ssl-ca", authority.certificate, *own).stdout
    assert shell(mutual, "--ssl", "--ssl-ca", authority.certificate).returncode == 2


def test_the_name_is_verified(tmp_path, authority):
    server = serve(authority.sign("elsewhere", "DNS:elsewhere.example"))
    try:
        refused = shell(server, "--ssl", "--ssl-ca", authority.certificate)
        assert refused.returncode == 2 and "hostname mismatch" in refused.stderr.lower(), refused.stderr
    finally:
        server.close()
