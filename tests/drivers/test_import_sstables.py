"""`sibyl import --sstables` of files that a real Cassandra has just written. Skipped if none can be started."""
import importlib.machinery
import importlib.util
import re
import subprocess

import pytest

from conftest import BINARY, ROOT

loader = importlib.machinery.SourceFileLoader("recorder", str(ROOT / "tests/data/sstables/record"))
recorder = importlib.util.module_from_spec(importlib.util.spec_from_loader("recorder", loader))
loader.exec_module(recorder)
recorder.SIBYL = BINARY


@pytest.mark.parametrize("name", ["nb", "oa", "da"])
def test_every_select_answers_the_same(name, own_server, tmp_path):
    address = f"127.0.0.1:{own_server.port}"
    try:
        cassandra = recorder.start(name)
    except recorder.reference.Unavailable as reason:
        pytest.skip(f"no Cassandra: {reason}")
    with cassandra:
        recorder.write(cassandra, "lz4")
        recorder.keep(cassandra, tmp_path)
        for statement in recorder.STATEMENTS:
            if re.match("CREATE (KEYSPACE|TYPE|TABLE)", statement):
                done = subprocess.run([BINARY, "shell", address, "-e", statement], capture_output=True, text=True, check=False)
                assert done.returncode == 0, done.stderr
        for table in recorder.TABLES:
            done = subprocess.run([BINARY, "import", f"moving.{table}", "--sstables", tmp_path / table, "--host", address],
                                  capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr + done.stdout
        for query in recorder.QUERIES:
            answer = subprocess.run([BINARY, "shell", address, "-e", query], capture_output=True, text=True, check=True)
            assert answer.stdout == recorder.cql(cassandra, query), query
