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


@pytest.fixture(scope="module", params=list(recorder.FORMATS))
def cassandra(request):
    """One for each format of files."""
    try:
        server = recorder.start(request.param)
    except recorder.reference.Unavailable as reason:
        pytest.skip(f"no Cassandra: {reason}")
    with server:
        server.format = request.param
        yield server


def run(*arguments):
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.mark.parametrize("compressor", list(recorder.COMPRESSORS))
def test_every_select_answers_the_same(cassandra, compressor, own_server, tmp_path):
    address = f"127.0.0.1:{own_server.port}"
    recorder.write(cassandra, compressor)
    recorder.keep(cassandra, tmp_path)
    for table in recorder.TABLES:
        files = sorted(path.name for path in (tmp_path / table).iterdir())
        assert all(name.startswith(f"{cassandra.format}-") for name in files), files
        assert any(name.endswith("CompressionInfo.db") for name in files) == (compressor != "none"), files
    for statement in recorder.STATEMENTS:
        if re.match("CREATE (KEYSPACE|TYPE|TABLE)", statement):
            run("shell", address, "-e", statement)
    for table in recorder.TABLES:
        run("import", f"moving.{table}", "--sstables", tmp_path / table, "--host", address)
    for query in recorder.QUERIES:
        assert run("shell", address, "-e", query) == recorder.cql(cassandra, query), query
