"""A real Cassandra on loopback, for the recorder and for the differential tester.

`Cassandra.start()` fetches cassandra-all and its dependencies with Maven (once; cached in build/cassandra), starts a
server on free loopback ports with a scratch directory, and waits until it answers. `stop()` ends the process. If Maven,
Java 17 or the registry is missing, `Unavailable` is raised.
"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

VERSION = "5.0.9"
ROOT = pathlib.Path(__file__).resolve().parents[2]

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>sibyl</groupId><artifactId>reference</artifactId><version>1</version><dependencies><dependency>
<groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId><version>{version}</version>
</dependency></dependencies></project>
"""

# Cassandra's default configuration where it affects answers, with all optional features of CQL enabled.
CONFIGURATION = """cluster_name: 'Test Cluster'
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "127.0.0.1:{storage_port}"
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
storage_port: {storage_port}
ssl_storage_port: {ssl_storage_port}
native_transport_port: {native_port}
commitlog_sync: periodic
commitlog_sync_period: 10000ms
memtable:
  configurations:
    skiplist:
      class_name: SkipListMemtable
    default:
      inherits: skiplist
auto_snapshot: false
user_defined_functions_enabled: true
materialized_views_enabled: true
sasi_indexes_enabled: true
transient_replication_enabled: true
drop_compact_storage_enabled: true
dynamic_data_masking_enabled: true
storage_compatibility_mode: CASSANDRA_4
"""

LOGBACK = """<configuration><appender name="OUT" class="ch.qos.logback.core.ConsoleAppender"><encoder>
<pattern>%-5level %date{ISO8601} %F:%L - %msg%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="OUT"/></root></configuration>
"""

EXPORTS = ("java.base/jdk.internal.misc java.management.rmi/com.sun.jmx.remote.internal.rmi "
           "java.management/com.sun.jmx.remote.security java.rmi/sun.rmi.registry java.rmi/sun.rmi.server "
           "java.sql/java.sql java.base/java.lang.ref jdk.unsupported/sun.misc").split()
OPENS = ("java.base/java.lang.module java.base/jdk.internal.loader java.base/jdk.internal.ref "
         "java.base/jdk.internal.reflect java.base/jdk.internal.math java.base/jdk.internal.module "
         "java.base/jdk.internal.util.jar jdk.management/com.sun.management.internal java.base/sun.nio.ch "
         "java.base/java.io java.base/java.lang.reflect java.base/java.lang java.base/java.util java.base/java.nio").split()
PROPERTIES = ("jdk.attach.allowAttachSelf=true io.netty.tryReflectionSetAccessible=true java.net.preferIPv4Stack=true "
              "chronicle.analytics.disable=true cassandra.skip_wait_for_gossip_to_settle=0 cassandra.ring_delay_ms=1 "
              "cassandra.superuser_setup_delay_ms=0 cassandra-foreground=yes user.timezone=UTC").split()


class Unavailable(Exception):
    """No Cassandra can be started; the text has the reason."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def java():
    """Returns the path of a Java 17."""
    places = [os.environ.get("JAVA_HOME", "") + "/bin/java", shutil.which("java") or "",
              *map(str, pathlib.Path("/usr/lib/jvm").glob("*17*/bin/java"))]
    for place in places:
        if not os.access(place, os.X_OK):
            continue
        version = subprocess.run([place, "-version"], capture_output=True, text=True).stderr
        if re.search(r'version "17[."]', version):
            return place
    raise Unavailable("no Java 17 (set JAVA_HOME to one)")


def libraries(version=VERSION):
    """Returns the folder with Cassandra's jars, and fetches them if it does not exist."""
    folder = ROOT / "build" / "cassandra" / version
    if (folder / f"cassandra-all-{version}.jar").exists():
        return folder
    maven = shutil.which("mvn")
    if not maven:
        raise Unavailable("no Maven (mvn) to fetch cassandra-all with")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        pathlib.Path(scratch, "pom.xml").write_text(POM.format(version=version), encoding="utf-8")
        fetched = subprocess.run([maven, "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"],
                                 cwd=scratch, capture_output=True, text=True, timeout=1200)
        if fetched.returncode != 0:
            reason = next((line for line in fetched.stdout.splitlines() if "ERROR" in line), "no reason given")
            raise Unavailable(f"Maven could not fetch cassandra-all {version}: {reason}")
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(pathlib.Path(scratch, "lib"), folder)
    return folder


class Cassandra:
    """One server process. Use as a context manager, or call stop()."""

    def __init__(self, process, directory, port):
        self.process, self.directory, self.port = process, directory, port
        self.address = f"127.0.0.1:{port}"

    @classmethod
    def start(cls, version=VERSION):
        binary, lib = java(), libraries(version)
        directory = pathlib.Path(tempfile.mkdtemp(prefix="sibyl-cassandra-"))
        native = free_port()
        (directory / "cassandra.yaml").write_text(CONFIGURATION.format(
            storage_port=free_port(), ssl_storage_port=free_port(), native_port=native), encoding="utf-8")
        (directory / "logback.xml").write_text(LOGBACK, encoding="utf-8")
        properties = PROPERTIES + [f"cassandra.config=file://{directory}/cassandra.yaml", f"cassandra.storagedir={directory}/data",
                                   f"cassandra.logdir={directory}/log", f"logback.configurationFile={directory}/logback.xml",
                                   f"cassandra.jmx.local.port={free_port()}"]
        command = [binary, "-ea", "-da:net.openhft...", "-XX:+UseG1GC", "-Xms1g", "-Xmx1g", "-XX:+PerfDisableSharedMem",
                   *(f"--add-exports={name}=ALL-UNNAMED" for name in EXPORTS),
                   *(f"--add-opens={name}=ALL-UNNAMED" for name in OPENS),
                   f"-javaagent:{next(lib.glob('jamm-*.jar'))}", *(f"-D{name}" for name in properties),
                   "-cp", f"{directory}:{lib}/*", "org.apache.cassandra.service.CassandraDaemon"]
        with open(directory / "output.log", "wb") as log:
            process = subprocess.Popen(command, cwd=directory, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        server = cls(process, directory, native)
        server.wait_until_ready()
        return server

    def wait_until_ready(self, seconds=180):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                output = (self.directory / "output.log").read_text(encoding="utf-8", errors="replace")[-2000:]
                self.stop()
                raise Unavailable("Cassandra exited during startup:\n" + output)
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.1)
        self.stop()
        raise Unavailable(f"Cassandra did not answer within {seconds} s")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
