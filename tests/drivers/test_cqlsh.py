"""cqlsh from PyPI, unmodified. Skipped, saying so, where PyPI does not answer."""
import os
import subprocess
import venv

import pytest

VERSION = "6.2.2"


@pytest.fixture(scope="session")
def cqlsh(tmp_path_factory):
    given = os.environ.get("SIBYL_CQLSH")
    if given:
        return given
    folder = tmp_path_factory.mktemp("cqlsh")
    venv.create(folder, with_pip=True)
    install = subprocess.run([folder / "bin/pip", "install", "-q", "--disable-pip-version-check", f"cqlsh=={VERSION}"],
                             capture_output=True, text=True, timeout=300, check=False)
    if install.returncode != 0:
        pytest.skip(f"cqlsh {VERSION} cannot be had from PyPI: {install.stderr.strip().splitlines()[-1]}")
    return str(folder / "bin/cqlsh")


def run(cqlsh, server, text, code=0):
    environment = dict(os.environ, CQLSH_NO_BUNDLED="1", LC_ALL="C.UTF-8")
    result = subprocess.run([cqlsh, server.host, str(server.port), "--no-color"], input=text, capture_output=True,
                            text=True, timeout=120, env=environment, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout, result.stderr


SETUP = """
CREATE KEYSPACE IF NOT EXISTS cqlsh_test WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
USE cqlsh_test;
DROP TABLE IF EXISTS t; DROP TYPE IF EXISTS address;
"""


def test_statements_and_types(cqlsh, server):
    out, err = run(cqlsh, server, SETUP + """
CREATE TYPE address (street text, zip int);
CREATE TABLE t (k int PRIMARY KEY, a ascii, b bigint, c blob, d boolean, e date, f decimal, g double, h duration,
  i inet, j smallint, l list<int>, m map<text, int>, n set<uuid>, o time, p timestamp, q timeuuid, r tinyint,
  s varint, u frozen<address>, v tuple<int, text>, w float, x vector<float, 2>);
INSERT INTO t (k, a, b, c, d, e, f, g, h, i, j, l, m, n, o, p, q, r, s, u, v, w, x) VALUES (1, 'a', 2, 0x00ff, true,
  '2011-02-03', 1.50, 2.5, 1h30m, '127.0.0.1', 3, [1, 2], {'x': 1}, {5f2b4a1e-8c1c-4a3e-9b1f-0d7a1c2b3d4e},
  '04:05:06.789', '2011-02-03 04:05:06.789+0000', 50554d6e-29bb-11e5-b345-feff819cdc9f, 4, 5, {street: 'Elm', zip: 9},
  (1, 'y'), 0.5, [1.5, 2.5]);
EXPAND ON
SELECT * FROM t;
""")
    assert err == ""
    for shown in ("| 0x00ff", "| True", "| 2011-02-03", "| 1.50", "| 1h30m", "| 127.0.0.1", "| [1, 2]", "| {'x': 1}",
                  "| {5f2b4a1e-8c1c-4a3e-9b1f-0d7a1c2b3d4e}", "| 04:05:06.789000000", "| 2011-02-03 04:05:06.789000+0000",
                  "| {street: 'Elm', zip: 9}", "| (1, 'y')", "| [1.5, 2.5]", "(1 rows)"):
        assert shown in out, (shown, out)


def test_describe(cqlsh, server):
    out, err = run(cqlsh, server, SETUP + """
CREATE TABLE t (p int, c text, v double, s text STATIC, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c DESC) AND comment = 'hm';
DESCRIBE KEYSPACES
DESCRIBE TABLES
DESCRIBE TABLE t
DESCRIBE KEYSPACE cqlsh_test
DESCRIBE CLUSTER
DESCRIBE SCHEMA
""")
    assert err == ""
    assert "CREATE TABLE cqlsh_test.t (" in out and "WITH CLUSTERING ORDER BY (c DESC)" in out
    assert "AND comment = 'hm'" in out and "Murmur3Partitioner" in out
    assert out.count("CREATE KEYSPACE cqlsh_test WITH replication") == 2


def test_paging_batches_counters_and_consistency(cqlsh, server):
    inserts = "".join(f"INSERT INTO t (p, c) VALUES (1, {c});" for c in range(150))
    out, err = run(cqlsh, server, SETUP + "CREATE TABLE t (p int, c int, PRIMARY KEY (p, c));" + inserts + """
PAGING 40
CONSISTENCY QUORUM
SELECT count(*) FROM t;
PAGING OFF
SELECT c FROM t WHERE p = 1 ORDER BY c DESC LIMIT 2;
BEGIN BATCH INSERT INTO t (p, c) VALUES (2, 1); INSERT INTO t (p, c) VALUES (2, 2); APPLY BATCH;
SELECT * FROM t WHERE p = 2;
TRACING OFF
""")
    assert err == ""
    assert "150" in out and "149" in out and "(2 rows)" in out


def test_tracing(cqlsh, server):
    out, err = run(cqlsh, server, SETUP + """
CREATE TABLE t (k int PRIMARY KEY, v text);
TRACING ON
INSERT INTO t (k, v) VALUES (1, 'x');
SELECT v FROM t WHERE k = 1;
""")
    assert err == ""
    assert out.count("Tracing session: ") == 2 and out.count("Request complete") == 2
    assert "Parsing SELECT v FROM t WHERE k = 1" in out


def test_errors_are_shown_and_set_the_exit_code(cqlsh, server):
    _, err = run(cqlsh, server, SETUP + "SELECT * FROM missing;\n", code=2)
    assert "table missing does not exist" in err
    _, err = run(cqlsh, server, SETUP + "SELEC;\n", code=2)
    assert "SyntaxException" in err and "line 1:0" in err


def test_copy_both_ways(cqlsh, server, tmp_path):
    path = tmp_path / "t.csv"
    inserts = "".join(f"INSERT INTO t (p, c, v) VALUES ({n % 3}, {n}, 'value {n}');" for n in range(60))
    out, _ = run(cqlsh, server, SETUP + "CREATE TABLE t (p int, c int, v text, PRIMARY KEY (p, c));" + inserts
                 + f"COPY t TO '{path}' WITH HEADER = true;\n")
    assert "60 rows exported" in out
    assert len(path.read_text().splitlines()) == 61
    out, _ = run(cqlsh, server, "USE cqlsh_test; TRUNCATE t;\n" + f"COPY t FROM '{path}' WITH HEADER = true;\n"
                 "SELECT count(*) FROM t;\n")
    assert "60 rows imported" in out and "60" in out.split("count")[-1]
