"""Servers of a cluster on the Ceph cluster of tests/ceph/with_ceph, for the programs in this folder."""
import json
import os
import socket
import struct
import signal
import subprocess
import sys
import tempfile
import threading
import time

CONF = os.path.join(os.environ["SIBYL_TEST_CEPH"], "ceph.conf")


def free_port(host="127.0.0.1"):
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


class Connection:
    """Just enough of protocol version 4, so that no driver retries requests."""

    def __init__(self, port, timeout=3.0, host="127.0.0.1"):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.call(1, struct.pack(">HH11sH5s", 1, 11, b"CQL_VERSION", 5, b"3.0.0"))

    def send(self, opcode, body):
        self.socket.sendall(struct.pack(">BBhBI", 4, 0, 1, opcode, len(body)) + body)

    def exactly(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise ConnectionError("closed")
            data += part
        return data

    def receive(self):
        header = self.exactly(9)
        body = self.exactly(struct.unpack(">I", header[5:])[0])
        if header[1] & 8:  # warnings
            at = 2
            for _ in range(struct.unpack(">H", body[:2])[0]):
                at += 2 + struct.unpack(">H", body[at:at + 2])[0]
            body = body[at:]
        return header[4], body

    def call(self, opcode, body):
        self.send(opcode, body)
        return self.receive()

    @staticmethod
    def query_body(text):
        return struct.pack(">I", len(text)) + text.encode() + struct.pack(">HB", 1, 0)

    def query(self, text):
        """Returns the first column of the first row as bytes, None without rows. Raises RuntimeError for errors."""
        opcode, body = self.call(7, self.query_body(text))
        return self.result(opcode, body)

    def rows(self, text):
        """Returns the rows as tuples of bytes. Raises RuntimeError for errors."""
        return self.rows_of(*self.call(7, self.query_body(text)))

    @staticmethod
    def result(opcode, body):
        rows = Connection.rows_of(opcode, body)
        return rows[0][0] if rows else None

    @staticmethod
    def rows_of(opcode, body):
        if opcode == 0:
            code, size = struct.unpack(">IH", body[:6])
            raise RuntimeError(f"{code:#06x} {body[6:6 + size].decode()}")
        if struct.unpack(">I", body[:4])[0] != 2:
            return []
        # Rows: skip the metadata, which has a keyspace and a table for all columns or for each.
        flags, columns = struct.unpack(">II", body[4:12])
        at = 12
        if flags & 1:
            for _ in range(2):
                at += 2 + struct.unpack(">H", body[at:at + 2])[0]
        for _ in range(columns):
            for _ in range(0 if flags & 1 else 2):
                at += 2 + struct.unpack(">H", body[at:at + 2])[0]
            at += 2 + struct.unpack(">H", body[at:at + 2])[0]
            assert struct.unpack(">H", body[at:at + 2])[0] < 0x20, "only simple types"
            at += 2
        count = struct.unpack(">I", body[at:at + 4])[0]
        at += 4
        rows = []
        for _ in range(count):
            row = []
            for _ in range(columns):
                size = struct.unpack(">i", body[at:at + 4])[0]
                row.append(None if size < 0 else body[at + 4:at + 4 + size])
                at += 4 + max(size, 0)
            rows.append(tuple(row))
        return rows

    def close(self):
        self.socket.close()


class Server:
    processes = []  # all that were started
    program = None  # the binary; set it before the first start
    logs = tempfile.mkdtemp(prefix="sibyl-servers-")

    def __init__(self, name, place="rados:sibyl", host="127.0.0.1", port=None):
        self.name, self.host, self.place, self.process = name, host, place, None
        self.port = port or free_port(host)
        self.is_ready = threading.Event()

    def address(self):
        return f"{self.host}:{self.port}"

    def connect(self, timeout=30):
        return Connection(self.port, timeout, self.host)

    def start(self):
        self.is_ready = threading.Event()
        log = open(f"{self.logs}/{self.name}.log", "a", encoding="utf-8")
        self.process = subprocess.Popen(
            [self.program, "serve", "--cluster", self.place, "--ceph", CONF, "--listen", self.address(), "--metrics", "off",
             "--set", f"cluster_server_name={self.name}"],
            stdout=subprocess.PIPE, stderr=log, text=True)
        log.close()
        Server.processes.append(self.process)
        assert self.process.stdout.readline() == f"joining as {self.address()}\n", self.errors()
        threading.Thread(target=self.follow, args=(self.process, self.is_ready), daemon=True).start()

    @staticmethod
    def follow(process, is_ready):
        for line in process.stdout:
            if line.startswith("ready on "):
                is_ready.set()

    def errors(self):
        with open(f"{self.logs}/{self.name}.log", encoding="utf-8") as log:
            return log.read()

    def signal(self, number):
        self.process.send_signal(number)


def wait_for(what, seconds, condition):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.005)


def status(pool_options=("--pool", "sibyl")):
    shown = subprocess.run([Server.program, "cluster", "status", "--ceph", CONF, *pool_options, "--json"], check=True,
                           capture_output=True)
    return json.loads(shown.stdout)


def is_settled(servers, shards, pool_options=("--pool", "sibyl")):
    """Every server has its share, and nothing moves."""
    found = status(pool_options)
    moving = [shard for shard in found["shards"] if shard["next"] or shard["logs_to_replay"] or not shard["owner"]]
    counts = sorted(server["shards"] for server in found["servers"])
    return not moving and len(counts) == len(servers) and counts[0] >= shards // len(servers)


def end_all():
    for left in Server.processes:
        if left.poll() is None:
            left.kill()  # also ends one that is stopped
            left.wait()


def print_logs(file):
    for log_name in sorted(os.listdir(Server.logs)):
        with open(f"{Server.logs}/{log_name}", encoding="utf-8") as log_file:
            print(f"--- {log_name}\n{log_file.read()}", file=file)


def start_all(servers):
    for server in servers:
        server.start()
    for server in servers:
        assert server.is_ready.wait(60), server.errors()


def stop_all(servers):
    for server in servers:
        server.signal(signal.SIGTERM)
    for server in servers:
        assert server.process.wait(60) == 0, server.errors()


def run_test(main):
    """Runs a test. Prints the logs of all servers if it fails, and ends them in any case."""
    try:
        main()
    except BaseException:
        print_logs(sys.stderr)
        raise
    finally:
        end_all()
