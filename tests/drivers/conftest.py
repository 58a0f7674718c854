"""Servers for the driver tests: a fresh sibyl on a free loopback port, or the one that SIBYL_TEST_SERVER names.

The same tests pass against a real Cassandra: SIBYL_TEST_SERVER=127.0.0.1:9042 pytest tests/drivers."""
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import uuid

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("SIBYL_BINARY", str(ROOT / "build/release/sibyl"))


class Server:
    """One sibyl process on its own data directory."""

    def __init__(self, data=None, arguments=(), descriptors=None):
        self.folder = tempfile.TemporaryDirectory(prefix="sibyl-test-")
        self.data = data or os.path.join(self.folder.name, "data")
        self.arguments = list(arguments)
        self.descriptors = descriptors  # limit of file descriptors; None: inherited
        self.process = None
        self.host, self.port = "127.0.0.1", 0
        self.start()

    def start(self):
        self.log = open(os.path.join(self.folder.name, "server.log"), "ab")
        self.process = subprocess.Popen(
            [BINARY, "serve", "--data", self.data, "--listen", f"{self.host}:{self.port}", *self.arguments],
            stdout=subprocess.PIPE, stderr=self.log, text=True, preexec_fn=self.limit_descriptors)
        line = self.process.stdout.readline()
        assert line.startswith("ready on "), f"{line!r} {self.read_log()}"
        self.port = int(line.rsplit(":", 1)[1])

    def limit_descriptors(self):
        if self.descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.descriptors, self.descriptors))

    def read_log(self):
        with open(os.path.join(self.folder.name, "server.log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(timeout=30)

    def close(self):
        if self.process.poll() is None:
            self.stop()
        self.process.stdout.close()
        self.log.close()
        self.folder.cleanup()


class ForeignServer:
    """A server that is already running, such as a real Cassandra."""

    def __init__(self, address):
        self.host, port = address.rsplit(":", 1)
        self.port = int(port)

    def close(self):
        pass


@pytest.fixture(scope="session")
def server():
    address = os.environ.get("SIBYL_TEST_SERVER")
    server = ForeignServer(address) if address else Server()
    yield server
    server.close()


@pytest.fixture
def own_server():
    """A server that the test may stop and start again."""
    if os.environ.get("SIBYL_TEST_SERVER"):
        pytest.skip("needs a server of its own")
    server = Server()
    yield server
    server.close()


def connect(server, **options):
    from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
    from cassandra.policies import WhiteListRoundRobinPolicy
    profile = ExecutionProfile(load_balancing_policy=WhiteListRoundRobinPolicy([server.host]), request_timeout=30,
                               **options.pop("profile", {}))
    return Cluster([server.host], port=server.port, execution_profiles={EXEC_PROFILE_DEFAULT: profile},
                   connect_timeout=20, **options)


@pytest.fixture(scope="session")
def cluster(server):
    cluster = connect(server)
    yield cluster
    cluster.shutdown()


@pytest.fixture
def session(cluster):
    """A session in a keyspace that exists during the test."""
    session = cluster.connect()
    keyspace = "t" + uuid.uuid4().hex[:12]
    session.execute(f"CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}")
    session.set_keyspace(keyspace)
    yield session
    session.execute(f"DROP KEYSPACE {keyspace}")
    session.shutdown()


@pytest.hookimpl(tryfirst=True, hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Stores the outcome of the test call in node.outcome, for fixtures that outlive it."""
    report = yield
    if call.when == "call":
        item.outcome = report.get_result().outcome


@pytest.fixture(autouse=True)
def recorded(request):
    """Adds the outcome of a test to the module's `results`, for the features that its marker names."""
    marker = request.node.get_closest_marker("features")
    results = request.getfixturevalue("results") if marker else None
    yield
    outcome = getattr(request.node, "outcome", "skipped")
    for feature in marker.args if marker and outcome != "skipped" else ():
        results.add(feature, outcome == "passed", request.node.name)


def pytest_configure(config):
    config.addinivalue_line("markers", "features(*names): what of harness.FEATURES the test shows")
