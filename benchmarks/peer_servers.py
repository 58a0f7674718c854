"""The servers that benchmarks/peers compares, each on a new directory and loopback ports."""
import csv
import io
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/compat"))
import cassandra as compat_cassandra  # tests/compat/cassandra.py  # noqa: E402

TITLES = {"sibyl": "Sibyl", "cassandra": "Cassandra", "redis": "Redis"}
ROW_BYTES = 100
REDIS_BYTES_PER_KEY = 250  # key, value and its tables; measured with 1 M keys


def machine():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    memory = int(re.search(r"MemTotal:\s+(\d+)", open("/proc/meminfo").read()).group(1)) / 2**20
    return f"{os.cpu_count()} cores ({cpu}), {memory:.0f} GiB, Linux {platform.release().split('-')[0]}"


def run(command, shows_progress=False, **options):
    errors = None if shows_progress else subprocess.PIPE
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=errors, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command[:4]))} failed: {(done.stderr or done.stdout)[-500:]}")
    return done.stdout


class Server:
    """A running server. Subclasses set `process` and `folder`, and may set `address`."""
    name = ""
    has_slices = True
    binary = ""  # of Sibyl, for `sibyl bench`

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def cpu_seconds(self):
        return time.clock_gettime((~self.process.pid << 3) | 2)  # the process's CPU clock

    def settle(self, limit_seconds=600):
        """Waits until flushes and compactions are done: two seconds with less than 5% of a core."""
        deadline, quiet = time.monotonic() + limit_seconds, 0
        while quiet < 2 and time.monotonic() < deadline:
            begin = self.cpu_seconds()
            time.sleep(1)
            quiet = quiet + 1 if self.cpu_seconds() - begin < 0.05 else 0

    def can_hold(self, _keys):
        return True

    def _bench(self, *arguments, shows_progress=False):
        quiet = [] if shows_progress else ["--quiet"]
        output = run([self.binary, "bench", "--host", self.address, "--pid", str(self.process.pid), "--row-bytes",
                      str(ROW_BYTES), *quiet, "--json", *map(str, arguments)], shows_progress=shows_progress)
        return json.loads(output.splitlines()[-1])

    def load(self, keys, shows_progress=False):
        self._bench("--workload", "read", "--keys", keys, "--operations", 64, shows_progress=shows_progress)

    def warm_up(self, workload, keys):
        pass

    def bench(self, workload, connections, in_flight, keys, seconds):
        self.warm_up(workload, keys)
        result = self._bench("--workload", workload, "--keys", keys, "--connections", connections, "--in-flight", in_flight,
                             "--duration", seconds)
        if result["errors"]:
            raise RuntimeError(f"{self.name}: {result['errors']} requests failed")
        server, latency = result["server"], result["latency_us"]
        return {"cpu_us": server["cpu_us_per_operation"], "background_us": server["background_cpu_us_per_operation"],
                "rate": result["operations_per_second"], "p50_us": latency["p50"], "p99_us": latency["p99"],
                "p999_us": latency["p999"], "max_us": latency["max"], "resident_bytes": server["resident_bytes"]}

    def latte(self, workload, options):
        """Runs latte for `options.seconds`. The warm-up is a single operation, so all CPU belongs to what it counts."""
        binary = options.latte_binary or install_latte()
        self.warm_up(workload, options.keys)
        begin = self.cpu_seconds()
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch, "report.json")
            run([binary, "run", str(ROOT / "benchmarks/points.rn"), self.address, "--functions", workload, "--duration",
                 f"{options.seconds:g}s", "--warmup", "1", "--concurrency", "64", "--connections", "8", "--threads", "1",
                 "-P", f"keys={options.keys}", "--output", str(path), "--quiet"], cwd=scratch)
            report = json.loads(path.read_text())
        result = report["result"]
        if result["error_count"]:
            raise RuntimeError(f"{self.name}: {result['error_count']} requests of latte failed")
        latencies = dict(zip(report["percentiles"], result["request_latency"]["percentiles"]))
        return {"generator": "latte", "cpu_us": (self.cpu_seconds() - begin) / result["request_count"] * 1e6,
                "rate": result["req_throughput"]["value"], "p50_us": latencies[50.0]["value"] * 1000,
                "p99_us": latencies[99.0]["value"] * 1000}


class Sibyl(Server):
    name = "sibyl"

    def __init__(self, options):
        self.binary = options.binary
        self.folder = tempfile.mkdtemp(prefix="peer-sibyl-", dir=options.data)
        self.process = subprocess.Popen([self.binary, "serve", "--data", self.folder + "/data", "--listen", "127.0.0.1:0",
                                         "--set", "metrics_address=off"],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = re.match(r"ready on (.*)", self.process.stdout.readline()).group(1)


class Cassandra(Server):
    name = "cassandra"

    def __init__(self, options):
        self.binary = options.binary
        # As durable as the others: a write is synced before it is acknowledged.
        periodic = "commitlog_sync: periodic\ncommitlog_sync_period: 10000ms"
        assert periodic in compat_cassandra.CONFIGURATION
        compat_cassandra.CONFIGURATION = compat_cassandra.CONFIGURATION.replace(
            periodic, "commitlog_sync: group\ncommitlog_sync_group_window: 1ms")
        tempfile.tempdir = options.data
        self.server = compat_cassandra.Cassandra.start()
        compat_cassandra.CONFIGURATION = compat_cassandra.CONFIGURATION.replace(
            "commitlog_sync: group\ncommitlog_sync_group_window: 1ms", periodic)
        self.process, self.address = self.server.process, self.server.address
        self.warmed = set()

    def __exit__(self, *_):
        self.server.stop()

    def warm_up(self, workload, keys):
        """Gives the JVM time to compile what this workload runs."""
        if workload in self.warmed:
            return
        self.warmed.add(workload)
        self._bench("--workload", workload, "--keys", keys, "--duration", 10)


class Redis(Server):
    name = "redis"
    has_slices = False

    def __init__(self, options):
        binary = shutil.which("redis-server") or shutil.which("redis-check-rdb")
        if not binary:
            raise SystemExit("no Redis: apt-get install redis-tools")
        self.folder = tempfile.mkdtemp(prefix="peer-redis-", dir=options.data)
        self.port = compat_cassandra.free_port()
        # Debian's redis-check-rdb is the same program as redis-server; its name decides. Only redis-tools is needed.
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
             "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"],
            executable=binary, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._wait()

    def _wait(self):
        for _ in range(600):
            if subprocess.run(["redis-cli", "-p", str(self.port), "ping"], capture_output=True).stdout == b"PONG\n":
                return
            time.sleep(0.1)
        raise RuntimeError("Redis does not answer")

    def can_hold(self, keys):
        available = int(re.search(r"MemAvailable:\s+(\d+)", open("/proc/meminfo").read()).group(1)) * 1024
        return keys * REDIS_BYTES_PER_KEY < available * 0.7

    def load(self, keys):
        self.keys = keys
        value = b"x" * ROW_BYTES
        with subprocess.Popen(["redis-cli", "-p", str(self.port), "--pipe"], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL) as pipe:
            for first in range(0, keys, 10_000):
                pipe.stdin.write(b"".join(b"*3\r\n$3\r\nSET\r\n$12\r\n%012d\r\n$%d\r\n%s\r\n" % (key, ROW_BYTES, value)
                                          for key in range(first, min(first + 10_000, keys))))
        if pipe.returncode != 0:
            raise RuntimeError("Redis refused the load")

    def _command(self, command, connections, in_flight, keys, count):
        arguments = {"read": ["GET", "__rand_int__"], "write": ["SET", "__rand_int__", "x" * ROW_BYTES]}[command]
        return ["redis-benchmark", "-p", str(self.port), "-r", str(keys), "-n", str(count), "-c", str(connections), "-P",
                str(in_flight // connections), "--csv", *arguments]

    def _run(self, command, connections, in_flight, keys, count):
        rows = list(csv.DictReader(io.StringIO(run(self._command(command, connections, in_flight, keys, count)))))
        return {key: float(value) for key, value in rows[-1].items() if key != "test"}

    def bench(self, workload, connections, in_flight, keys, seconds):
        if workload != "mixed":
            probe = self._run(workload, connections, in_flight, keys, 20_000)
            return self._measured(lambda count: [self._run(workload, connections, in_flight, keys, count)],
                                  int(probe["rps"] * seconds))
        probe = self._run("write", connections, in_flight, keys, 20_000)

        def both(count):  # redis-benchmark runs one command, so two of them share the connections
            results = {}
            threads = [threading.Thread(target=lambda name=name: results.update(
                {name: self._run(name, connections // 2, in_flight // 2, keys, count // 2)})) for name in ("read", "write")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return list(results.values())
        return self._measured(both, int(probe["rps"] * seconds))

    def _measured(self, load, count):
        count = max(count // 2 * 2, 1000)
        begin, started = self.cpu_seconds(), time.monotonic()
        results = load(count)
        seconds = time.monotonic() - started
        return {"generator": "redis-benchmark", "cpu_us": (self.cpu_seconds() - begin) / count * 1e6,
                "rate": count / seconds, "p50_us": max(one["p50_latency_ms"] for one in results) * 1000,
                "p99_us": max(one["p99_latency_ms"] for one in results) * 1000,
                "max_us": max(one["max_latency_ms"] for one in results) * 1000, "p999_us": None}


def install_latte():
    """Returns the path of latte, and installs it from its registry if it is missing."""
    folder = ROOT / "build/latte"
    binary = folder / "bin/latte"
    if not binary.exists():
        if not shutil.which("cargo"):
            raise SystemExit("no cargo to install latte with")
        print("installing latte", flush=True)
        run(["cargo", "install", "--locked", "latte-cli", "--version", "0.29.0", "--root", str(folder)])
    return str(binary)


def start(name, options):
    return {"sibyl": Sibyl, "cassandra": Cassandra, "redis": Redis}[name](options)
