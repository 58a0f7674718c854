"""`sibyl export` and `sibyl import` against cqlsh's COPY: each reads the files of the other."""
import subprocess

import pytest

from conftest import BINARY
from test_cqlsh import SETUP, cqlsh, results, run  # noqa: F401  (cqlsh and results are fixtures)

TABLE = """
CREATE TYPE address (street text, zip int);
CREATE TABLE t (k int PRIMARY KEY, a ascii, b bigint, c blob, d boolean, e date, f decimal, g double, i inet, j smallint,
  l list<int>, m map<text, int>, n set<text>, o time, p timestamp, q timeuuid, r tinyint, s varint, u frozen<address>,
  v tuple<int, text>, w float, x text);
"""
ROWS = """
INSERT INTO t (k, a, b, c, d, e, f, g, i, j, l, m, n, o, p, q, r, s, u, v, w, x) VALUES (1, 'a', 2, 0x00ff, true,
  '2011-02-03', 1.50, 2.5, '::1', 3, [1, 2], {'x, y': 1, 'it''s': 2}, {'p', 'q: r'}, '04:05:06.789',
  '2011-02-03 04:05:06.789+0000', 50554d6e-29bb-11e5-b345-feff819cdc9f, 4, 5, {street: 'Elm, 5', zip: 9}, (1, 'y'), 0.5,
  'with "quotes", commas and it''s');
INSERT INTO t (k) VALUES (2);
INSERT INTO t (k, d, x) VALUES (3, false, 'plain');
"""
SHOW = "SELECT * FROM t;\n"


def sibyl(server, *arguments):
    result = subprocess.run([BINARY, *arguments, "--host", f"{server.host}:{server.port}"], capture_output=True, text=True,
                            timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    return result.stderr


@pytest.mark.parametrize("header", [False, True])
def test_cqlsh_reads_an_export(cqlsh, server, tmp_path, header):  # noqa: F811
    path = tmp_path / "t.csv"
    before, _ = run(cqlsh, server, SETUP + TABLE + ROWS + SHOW)
    assert "exported 3 rows" in sibyl(server, "export", "cqlsh_test.t", str(path), *(["--header"] if header else []))
    after, err = run(cqlsh, server, f"USE cqlsh_test; TRUNCATE t;\nCOPY t FROM '{path}' WITH HEADER = {str(header).lower()};\n"
                     + SHOW)
    assert "3 rows imported" in after, after + err
    assert after[after.index(" k "):] == before[before.index(" k "):]


@pytest.mark.parametrize("header", [False, True])
def test_an_import_reads_what_cqlsh_writes(cqlsh, server, tmp_path, header):  # noqa: F811
    path = tmp_path / "t.csv"
    before, _ = run(cqlsh, server, SETUP + TABLE + ROWS + f"COPY t TO '{path}' WITH HEADER = {str(header).lower()};\n" + SHOW)
    run(cqlsh, server, "USE cqlsh_test; TRUNCATE t;\n")
    assert "imported 3 rows" in sibyl(server, "import", "cqlsh_test.t", str(path), *(["--header"] if header else []))
    after, _ = run(cqlsh, server, "USE cqlsh_test;\n" + SHOW)
    assert after[after.index(" k "):] == before[before.rindex(" k "):]
