#!/usr/bin/env python3
"""Runs the same random statements on a real Cassandra and on Sibyl, and compares the answers byte for byte.

    run.py [--seed N] [--statements N] [--workers N] [--cassandra HOST:PORT] [--sibyl PATH] [--features FEATURES]

The seed determines schemas, data and statements. Answers are compared as sent: columns and their types, rows, pages,
warnings, error code and text. Differences that are not in known.py are reduced to a script for tests/compat and printed.
Exit status: 0 if nothing differs, 1 if something differs, 77 if there is no Cassandra.
"""
import argparse
import multiprocessing
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "compat"))

import cassandra as reference  # noqa: E402
from compare import NAMES, Pair  # noqa: E402
from known import describe  # noqa: E402
from schema import random_schema  # noqa: E402
from shrink import Shrinker, create  # noqa: E402
from statements import Generator  # noqa: E402

FEATURES = ("lwt", "ttl", "index", "compact", "alter")
PER_SCHEMA = 1500
WINDOW = 24
PRINTED_PER_SIGNATURE = 1
HIDDEN = "an index hides no row: without indexes Cassandra answers like Sibyl"


class Sibyl:
    """A server on a free port, on the memory store or on RocksDB."""

    def __init__(self, binary, store):
        self.folder = tempfile.TemporaryDirectory(prefix="sibyl-differential-")
        data = ":memory:" if store == "memory" else self.folder.name + "/data"
        self.log = open(self.folder.name + "/log", "wb")
        self.process = subprocess.Popen([binary, "serve", "--data", data, "--listen", "127.0.0.1:0", "--commitlog-sync", "periodic"],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True, start_new_session=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready on "):
            raise RuntimeError(f"{binary} did not start: {line}")
        self.address = "127.0.0.1:" + line.rsplit(":", 1)[1].strip()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.process.stdout.close()
        self.log.close()
        self.folder.cleanup()


def windows(statements):
    """Yields groups of statements that may run concurrently: reads, or writes whose order does not matter."""
    window = []
    for statement in statements:
        if window and (statement.ordered or window[-1].ordered or window[-1].kind != statement.kind or len(window) >= WINDOW):
            yield window
            window = []
        window.append(statement)
    if window:
        yield window


def run_schema(pair, seed, count, features, report):
    """Runs `count` statements in one keyspace, or fewer if the stored data begins to differ."""
    rng = random.Random(seed)
    schema = random_schema(rng, features)
    keyspace = f"differential_{seed}"
    for text, answers in create(pair, keyspace, schema):
        report.definition(seed, text, answers)
        return
    history = []
    try:
        for window in windows(Generator(rng, schema, features).statements(count)):
            found = pair.run(window)
            for difference in found:
                report.difference(pair, seed, schema, keyspace, history + [s for s in window if s.kind == "write"], difference)
            if found:
                pair.use(keyspace)
            if pair.diverged or any(difference.changes_state() for difference in found):
                return
            history += [statement for statement in window if statement.kind == "write"]
    finally:
        pair.definition(f"DROP KEYSPACE IF EXISTS {keyspace}")


class Report:
    """Collects the differences of one worker; the main process prints them."""

    def __init__(self, queue, shrink):
        self.queue, self.shrink, self.seen = queue, shrink, {}

    def definition(self, seed, text, answers):
        self.queue.put(("difference", "definition " + describe(answers[0]) + " / " + describe(answers[1]), f"seed {seed}\n{text}\n"
                        f"-- cassandra: {describe(answers[0])}\n-- sibyl: {describe(answers[1])}\n"))

    def difference(self, pair, seed, schema, keyspace, history, difference):
        signature = difference.signature()
        counts = pair.asked, pair.refused, dict(pair.explained)
        shrinker = Shrinker(pair, schema, keyspace)
        if signature.startswith("rows differ") and difference.statement.kind == "read":
            difference = shrinker.simpler_read(difference)
            signature += ": " + NAMES.sub("_", difference.statement.text()[0].split(" FROM ")[0]) + f" {len(difference.cassandra.rows)}/{len(difference.sibyl.rows)} rows"
            if is_run(difference.sibyl.rows, pair.without_indexes(difference, keyspace).rows):
                pair.asked, pair.refused, pair.explained = counts
                pair.explained[HIDDEN] = pair.explained.get(HIDDEN, 0) + 1
                return
        self.seen[signature] = self.seen.get(signature, 0) + 1
        text = None
        if self.seen[signature] <= PRINTED_PER_SIGNATURE:
            before = [s for s in history if s is not difference.statement] if self.shrink else None
            statements, difference = shrinker.shrink(before, difference)
            text = case(seed, schema, statements, difference)
        pair.asked, pair.refused, pair.explained = counts
        self.queue.put(("difference", signature, text))


def is_run(page, rows):
    """True if the rows contain the page. A difference shows one page, but the indexes are dropped before all rows are read."""
    return any(rows[at:at + len(page)] == page for at in range(len(rows or []) - len(page) + 1)) if page else page == rows


def case(seed, schema, statements, difference):
    """A script for tests/compat, with the two answers as comments."""
    body = "\n".join(statement.script() for statement in statements or [difference.statement])
    used = [table for table in schema.tables if any(f"{word}{table.name}{end}" in body + " " for word in ("FROM ", "INTO ", "UPDATE ")
                                                    for end in (" ", ";", "\n"))]
    definitions = [text + ";" for text in schema.create() if text.startswith("CREATE TYPE") or any(f"TABLE {t.name} " in text or f"INDEX ON {t.name} " in text for t in used)]
    note = "" if statements else "-- could not be repeated alone\n"
    theirs, ours = difference.cassandra, difference.sibyl
    if theirs.kind == ours.kind == "rows":  # show only rows that differ
        common = set(theirs.rows) & set(ours.rows)
        theirs.rows, ours.rows = ([row for row in answer.rows if row not in common] or answer.rows for answer in (theirs, ours))
    return "\n".join([f"-- seed {seed}", *definitions, note + body, "-- cassandra: " + show(theirs), "-- sibyl:     " + show(ours), ""])


def show(answer):
    if answer.kind != "rows":
        columns = f" {answer.columns}" if answer.columns else ""
        text = describe(answer) + columns + (f" {answer.detail}" if answer.detail else "")
    else:
        columns = [f"{c[2]}:{c[3].hex()}" for c in answer.columns] if isinstance(answer.columns, tuple) else answer.columns
        rows = " | ".join(", ".join("null" if cell is None else "0x" + cell.hex() for cell in row) for row in answer.rows[:12])
        text = f"rows {columns} ({len(answer.rows)}{', more' if answer.paging_state is not None else ''}) {rows}"
    return text + "".join(f" WARNING {warning}" for warning in answer.warnings)


def worker(number, options, cassandra, stores, share, queue):
    """Runs one schema after another, alternating between the stores, until its share of the statements has run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    report = Report(queue, not options.no_shrink)
    done = turn = 0
    while done < share:
        seed = options.seed + number * 1_000_000 + turn
        pair = Pair(cassandra, stores[turn % len(stores)], options.protocol)
        try:
            run_schema(pair, seed, min(options.per_schema, share - done), options.features, report)
        except OSError as problem:
            queue.put(("difference", f"connection: {problem}", f"seed {seed}: {problem}\n"))
        pair.close()
        done += max(pair.asked, 1)
        turn += 1
        queue.put(("progress", (pair.asked, pair.refused, pair.explained), None))
    queue.put(("done", None, None))


class Summary:
    """Prints the reports of the workers as they arrive, and a summary at the end."""

    def __init__(self, running, out):
        self.running, self.out = running, out
        self.asked = self.refused = 0
        self.signatures, self.explained = {}, {}
        self.started = time.monotonic()

    def collect(self, queue):
        """Runs until every worker is done, or Ctrl-C."""
        try:
            while self.running:
                self._take(*queue.get())
        except KeyboardInterrupt:
            pass
        print(file=sys.stderr)

    def _take(self, kind, first, second):
        if kind == "progress":
            asked, refused, explained = first
            self.asked, self.refused = self.asked + asked, self.refused + refused
            for reason, count in explained.items():
                self.explained[reason] = self.explained.get(reason, 0) + count
            rate = self.asked / (time.monotonic() - self.started)
            print(f"\r{self.asked} statements, {rate:.0f}/s, {len(self.signatures)} kinds of difference ", end="", file=sys.stderr, flush=True)
        elif kind == "difference":
            if first not in self.signatures and second:
                print(f"\n### {first}\n{second}", file=self.out, flush=True)
            self.signatures[first] = self.signatures.get(first, 0) + 1
        else:
            self.running -= 1

    def finish(self):
        print(f"{self.asked} statements ({self.refused} refused) in {time.monotonic() - self.started:.0f} s", file=self.out)
        for reason, count in sorted(self.explained.items()):
            print(f"{count:7} known: {reason}", file=self.out)
        for signature, count in sorted(self.signatures.items(), key=lambda item: -item[1]):
            print(f"{count:7} DIFFERENT: {signature}", file=self.out)
        return 1 if self.signatures else 0


def run(options, cassandra):
    servers = [Sibyl(options.sibyl, store) for store in options.stores]
    try:
        queue = multiprocessing.Queue()
        share = -(-options.statements // options.workers)
        workers = [multiprocessing.Process(target=worker, args=(i, options, cassandra, [s.address for s in servers], share, queue))
                   for i in range(options.workers)]
        for process in workers:
            process.start()
        try:
            summary = Summary(len(workers), sys.stdout)
            summary.collect(queue)
            return summary.finish()
        finally:
            for process in workers:
                process.terminate()
    finally:
        for server in servers:
            server.stop()


def find_sibyl():
    places = [reference.ROOT / "build" / preset / "sibyl" for preset in ("release", "debug")]
    return next((str(place) for place in places if place.is_file()), str(places[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000)
    parser.add_argument("--statements", type=int, default=20_000)
    parser.add_argument("--per-schema", type=int, default=PER_SCHEMA)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--protocol", type=int, default=5, choices=(4, 5))
    parser.add_argument("--cassandra", help="a running Cassandra, HOST:PORT")
    parser.add_argument("--sibyl", default=find_sibyl(), help="the sibyl binary")
    parser.add_argument("--stores", default="memory,rocksdb", type=lambda text: text.split(","))
    parser.add_argument("--features", default=",".join(FEATURES), type=lambda text: set(text.split(",")), help=f"a subset of {','.join(FEATURES)}")
    parser.add_argument("--no-shrink", action="store_true", help="only reduce reads, without replaying earlier writes (quick)")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    if options.cassandra:
        return run(options, options.cassandra)
    try:
        with reference.Cassandra.start() as server:
            return run(options, server.address)
    except reference.Unavailable as reason:
        print(f"skipped: {reason}")
        return 77


if __name__ == "__main__":
    sys.exit(main())
