"""cqlsh from PyPI, unmodified. Skipped if it cannot be fetched."""
import os
import re
import subprocess
import venv

import pytest

from harness import BUILD, HERE, Results, secured_server

PACKAGE = "cqlsh==6.2.2"


@pytest.fixture(scope="module")
def results():
    found = Results("cqlsh")
    yield found
    if found.checks:  # test_copy.py, which uses cqlsh as well, has none
        found.write()


@pytest.fixture(scope="module")
def cqlsh(results):
    given = os.environ.get("SIBYL_CQLSH")
    if not given:
        folder = BUILD / "cqlsh"
        if not (folder / "bin/pip").exists():
            venv.create(folder, with_pip=True)
        results.fetch(["bin/pip", "install", "-q", "--disable-pip-version-check", PACKAGE], folder, PACKAGE)
        given = str(folder / "bin/cqlsh")
    said = subprocess.run([given, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout
    results.version = said.split()[-1]
    return given


def run(cqlsh, server, text, *arguments, code=0, **variables):
    environment = dict(os.environ, CQLSH_NO_BUNDLED="1", LC_ALL="C.UTF-8", **variables)
    result = subprocess.run([cqlsh, *arguments, server.host, str(server.port), "--no-color"], input=text, capture_output=True,
                            text=True, timeout=120, env=environment, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout, result.stderr


SETUP = """
CREATE KEYSPACE IF NOT EXISTS cqlsh_test WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
USE cqlsh_test;
DROP TABLE IF EXISTS t; DROP TYPE IF EXISTS address;
"""


@pytest.mark.features("connect", "scalars", "collections", "user types", "vector")
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


@pytest.mark.features("metadata")
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


@pytest.mark.features("paging", "batches")
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


@pytest.mark.features("tracing")
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


@pytest.mark.features("errors")
def test_errors_are_shown_and_set_the_exit_code(cqlsh, server):
    _, err = run(cqlsh, server, SETUP + "SELECT * FROM missing;\n", code=2)
    assert "table missing does not exist" in err
    _, err = run(cqlsh, server, SETUP + "SELEC;\n", code=2)
    assert "SyntaxException" in err and "line 1:0" in err


@pytest.mark.features("prepared")
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


@pytest.mark.features("metadata")
def test_describe_makes_the_same_schema_again(cqlsh, server):
    schema = (HERE / "schema.cql").read_text(encoding="utf-8").replace("clients", "described")
    first, err = run(cqlsh, server, schema + "DESCRIBE KEYSPACE described\n")
    assert err == ""
    first = first[first.index("CREATE KEYSPACE"):]
    for name in ("measurements_by_value", "VIEW described.by_sensor", "FUNCTION described.plus", "AGGREGATE described.total",
                 "TYPE described.address"):
        assert name in first
    again, err = run(cqlsh, server, "DROP KEYSPACE described;\n" + first + "\nDESCRIBE KEYSPACE described\n")
    assert err == "" and again[again.index("CREATE KEYSPACE"):] == first
    run(cqlsh, server, "DROP KEYSPACE described;\n")


@pytest.mark.features("paging")
def test_long_results_come_in_pages(cqlsh, server):
    inserts = "".join(f"INSERT INTO t (p, c) VALUES (1, {c});" for c in range(250))
    out, err = run(cqlsh, server, SETUP + "CREATE TABLE t (p int, c int, PRIMARY KEY (p, c));" + inserts
                   + "PAGING 100\nSELECT c FROM t WHERE p = 1;\n")
    assert err == ""
    assert [int(n) for n in re.findall(r"^ +(\d+)$", out, re.M)] == list(range(250)) and "(250 rows)" in out


@pytest.mark.features("conditions", "absent values")
def test_conditions_and_nulls(cqlsh, server):
    out, err = run(cqlsh, server, SETUP + """
CREATE TABLE t (k int PRIMARY KEY, v int, w text);
INSERT INTO t (k, v) VALUES (1, 7) IF NOT EXISTS;
INSERT INTO t (k, v) VALUES (1, 8) IF NOT EXISTS;
UPDATE t SET v = 9 WHERE k = 1 IF v = 8;
INSERT INTO t (k, v, w) VALUES (2, null, '');
SELECT * FROM t WHERE k = 2;
""")
    assert err == ""
    rows = [[cell.strip() for cell in line.split("|")] for line in out.splitlines() if line.startswith(" ")]
    assert rows == [["[applied]"], ["True"], ["[applied]", "k", "v", "w"], ["False", "1", "7", "null"], ["[applied]", "v"],
                    ["False", "7"], ["k", "v", "w"], ["2", "null", ""]]


def exported(cqlsh, server, path, options=""):
    out, err = run(cqlsh, server, f"USE cqlsh_test;\nCOPY t TO '{path}' WITH HEADER = true{options};\n")
    assert err == "" or "rows" in out, err
    return sorted(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.features("prepared", "scalars", "collections", "user types")
def test_copy_of_every_type(cqlsh, server, tmp_path):
    run(cqlsh, server, SETUP + """
CREATE TYPE address (street text, zip int);
CREATE TABLE t (k int PRIMARY KEY, a ascii, b bigint, c blob, d boolean, e date, f decimal, g double, i inet, j smallint,
  l list<int>, m map<text, int>, n set<uuid>, o time, p timestamp, q timeuuid, r tinyint, s varint, u frozen<address>,
  v tuple<int, text>, w float, y text);
INSERT INTO t (k, a, b, c, d, e, f, g, i, j, l, m, n, o, p, q, r, s, u, v, w, y) VALUES (1, 'a', -9223372036854775808, 0x00ff,
  true, '1969-07-20', -123.4500, 2.5, '::1', -32768, [3, 1, 3], {'x': 1, 'y': 2}, {5f2b4a1e-8c1c-4a3e-9b1f-0d7a1c2b3d4e},
  '23:59:59.999999999', '2011-02-03 04:05:06.789+0000', 50554d6e-29bb-11e5-b345-feff819cdc9f, -128,
  -10000000000000000000000000000000000000000, {street: 'Elm, 1', zip: 9}, (1, 'y'), 0.5, 'žluťoučký, "🐎"');
INSERT INTO t (k) VALUES (2);
""")
    before = exported(cqlsh, server, tmp_path / "before.csv")
    assert len(before) == 3
    out, _ = run(cqlsh, server, "USE cqlsh_test; TRUNCATE t;\n" + f"COPY t FROM '{tmp_path / 'before.csv'}' WITH HEADER = true;\n")
    assert "2 rows imported" in out
    assert exported(cqlsh, server, tmp_path / "after.csv") == before


@pytest.mark.features("prepared", "batches", "token map")
def test_copy_of_many_rows_by_token_ranges(cqlsh, server, tmp_path):
    rows = [f"{n},{n % 7},value {n}" for n in range(5000)]
    (tmp_path / "many.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    out, _ = run(cqlsh, server, SETUP + "CREATE TABLE t (p int, c int, v text, PRIMARY KEY (p, c));\n"
                 + f"COPY t (p, c, v) FROM '{tmp_path / 'many.csv'}' WITH CHUNKSIZE = 500 AND MAXBATCHSIZE = 20;\n")
    assert "5000 rows imported" in out
    found = exported(cqlsh, server, tmp_path / "again.csv", " AND PAGESIZE = 300")
    assert found == sorted(["p,c,v", *rows])


@pytest.mark.features("counters")
def test_copy_of_counters(cqlsh, server, tmp_path):
    run(cqlsh, server, SETUP + "CREATE TABLE t (k int PRIMARY KEY, n counter);\n"
        + "".join(f"UPDATE t SET n = n + {k * 3} WHERE k = {k};" for k in range(20)) + "\n")
    before = exported(cqlsh, server, tmp_path / "counters.csv")
    assert len(before) == 21
    run(cqlsh, server, "USE cqlsh_test; DROP TABLE t; CREATE TABLE t (k int PRIMARY KEY, n counter);\n"
        + f"COPY t FROM '{tmp_path / 'counters.csv'}' WITH HEADER = true;\n")
    assert exported(cqlsh, server, tmp_path / "after.csv") == before


@pytest.fixture(scope="module")
def secured():
    if os.environ.get("SIBYL_TEST_SERVER"):
        pytest.skip("needs a server of its own")
    with secured_server() as found:
        yield found


@pytest.mark.features("login", "tls")
def test_login_over_tls(cqlsh, secured):
    """The certificate's host name is not tested, because the driver in cqlsh does not verify it."""
    server, known = secured
    user = ("-u", known["SIBYL_USER"], "-p", known["SIBYL_PASSWORD"])
    trusting = {"SSL_CERTFILE": known["SIBYL_CA"], "SSL_VALIDATE": "true"}
    out, _ = run(cqlsh, server, "SELECT key FROM system.local;\n", "--ssl", *user, **trusting)  # it warns of the password
    assert "local" in out
    _, err = run(cqlsh, server, "SELECT key FROM system.local;\n", "--ssl", "-u", user[1], "-p", "wrong", code=1, **trusting)
    assert "and/or password are incorrect" in err
