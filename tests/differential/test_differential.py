"""Unit tests of the differential tester; they need no server."""
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import wire  # noqa: E402
from known import explain, in_years_of_the_era  # noqa: E402
from run import is_run  # noqa: E402
from schema import random_schema  # noqa: E402
from statements import Generator  # noqa: E402
from tree import Group, Pairs, Statement, render, smaller  # noqa: E402
from values import NULL, SCALARS, Type, Value, vint  # noqa: E402


def texts(seed):
    rng = random.Random(seed)
    schema = random_schema(rng)
    return [*schema.create(), *(s.text()[0] for s in Generator(rng, schema, {"lwt", "ttl"}).statements(300))]


def test_a_seed_determines_the_statements():
    assert texts(7) == texts(7)
    assert texts(7) != texts(8)


def test_every_kind_of_statement_is_generated():
    made = " ".join(text for seed in range(20) for text in texts(seed))
    for word in ("DISTINCT", "GROUP BY", "ORDER BY", "PER PARTITION LIMIT", "ALLOW FILTERING", "CONTAINS KEY", "token(", "IF EXISTS",
                 "IF NOT EXISTS", "BEGIN COUNTER BATCH", "USING TTL", "JSON", "STATIC", "counter"):
        assert word in made, word


def test_smaller_removes_one_part_at_a_time():
    tree = ["SELECT ", Group(["a", "b"]), " FROM t", Group([["a = ", Value("1", b"\1")]], " AND ", " WHERE ", least=0)]
    assert render(tree, None) == "SELECT a, b FROM t WHERE a = 1"
    assert {render(less, None) for less in smaller(tree)} == {"SELECT b FROM t WHERE a = 1", "SELECT a FROM t WHERE a = 1",
                                                              "SELECT a, b FROM t"}
    bound = []
    assert render(Pairs([("a", Value("1", b"\1")), ("b", NULL)]), bound) == "(a, b) VALUES (?, ?)"
    assert bound == [b"\1", None]


def test_values_have_a_literal_and_bytes():
    assert vint(0) == b"\x00" and vint(-1) == b"\x01" and vint(64) == b"\x80\x80" and vint(7200 * 10**9)[0] == 0xFC
    assert {v.literal: v.raw for v in SCALARS["varint"]}["128"] == b"\x00\x80"
    assert Type("tuple", (Type("int"),), True).value(random.Random(1)).raw


def test_v5_frames():
    frame = wire.v5_frame(b"hello")
    assert frame[:3] == (5 | 1 << 17).to_bytes(3, "little") and len(frame) == 15
    assert wire.crc24(frame[:3]) == int.from_bytes(frame[3:6], "little")
    connection = wire.Connection.__new__(wire.Connection)
    connection.incoming, connection.payload = frame + frame[:7], b""
    connection._unframe()
    assert connection.payload == b"hello" and connection.incoming == frame[:7]


def test_a_page_is_found_in_the_rows_of_all_pages():
    assert is_run([2, 3], [1, 2, 3]) and is_run([1, 2, 3], [1, 2, 3]) and is_run([], [])
    assert not is_run([3, 2], [1, 2, 3]) and not is_run([1, 3], [1, 2, 3]) and not is_run([], [1]) and not is_run([1], None)


def test_unknown_differences_have_no_reason():
    theirs, ours = wire.Answer("error"), wire.Answer("rows")
    theirs.code, theirs.message = 0x2200, "something else"
    assert explain(Statement("SELECT * FROM t", "read"), theirs, ours) is None


def test_columns_and_rows_may_differ_for_known_reasons_together():
    theirs, ours = wire.Answer("rows"), wire.Answer("rows")
    theirs.columns = (("ks", "t", "similarity_cosine(v, [1.0])", b"\0\x08"), ("ks", "t", "to_json(c)", b"\0\x0d"))
    ours.columns = (theirs.columns[0], ("ks", "t", "tojson(c)", b"\0\x0d"))
    theirs.rows, ours.rows = [[struct.pack(">f", 0.5), b"0"]], [[struct.pack(">f", 0.5 + 2**-24), b"0"]]
    statement = Statement("SELECT similarity_cosine(v, [1.0]), tojson(c) FROM t", "read")
    assert explain(statement, theirs, ours)
    ours.rows[0][1] = b"1"
    assert explain(statement, theirs, ours) is None


def test_a_renamed_descending_column():
    theirs, ours = wire.Answer("error"), wire.Answer("rows")
    theirs.code, theirs.message, ours.rows = 0x2200, "c14 cannot be cast to boolean", []
    assert explain(Statement("SELECT CAST(c14 AS boolean) FROM t", "read"), theirs, ours)
    theirs.message = "Invalid call to function system._negate, none of its type signatures match (known type signatures: )"
    assert explain(Statement("SELECT -c1.f1 FROM t", "read"), theirs, ours)
    assert explain(Statement("SELECT -v1.f1 FROM t", "read"), theirs, ours) is None
    theirs.message = "Invalid call to function exp, none of its type signatures match (known type signatures: )"
    assert explain(Statement("SELECT exp(c0.f0) FROM t", "read"), theirs, ours)
    assert explain(Statement("SELECT exp(v0.f0) FROM t", "read"), theirs, ours) is None


def test_conditions_of_a_batch_are_checked_in_its_order():
    theirs, ours = wire.Answer("error"), wire.Answer("rows")
    theirs.code, theirs.message, ours.rows = 0x2200, 'Invalid comparison with null for operator "CONTAINS"', []
    one = "DELETE FROM t WHERE k = 1 AND c = 1 IF v = 2; "
    assert explain(Statement(f"BEGIN BATCH {one}DELETE FROM t WHERE k = 1 AND c = 1 IF l CONTAINS null; APPLY BATCH", "write"), theirs, ours)
    assert explain(Statement("DELETE FROM t WHERE k = 1 IF l CONTAINS null", "write"), theirs, ours) is None


def test_counts_of_deleted_static_elements():
    theirs, ours = wire.Answer("rows"), wire.Answer("rows")
    theirs.columns = ours.columns = (("ks", "t", "n", b"\0\x02"),)
    theirs.rows, ours.rows = [[b"\0\2"]], [[b"\0\0"]]
    assert explain(Statement("SELECT COUNT(*) AS n FROM t WHERE s0 CONTAINS KEY 1", "read"), theirs, ours)
    assert explain(Statement("SELECT COUNT(*) AS n FROM t WHERE v0 CONTAINS KEY 1", "read"), theirs, ours) is None
    ours.rows = [[None]]
    assert explain(Statement("SELECT max(c0) FROM t WHERE s0 CONTAINS 'a'", "read"), theirs, ours)


def test_years_before_year_1():
    assert in_years_of_the_era(b'"-292275055-05-16 16:47:04.192Z"') == b'"+292275056-05-16 16:47:04.192Z"'
    assert in_years_of_the_era(b"0000-12-31T23:59:59.999Z") == b"0001-12-31T23:59:59.999Z"
    assert in_years_of_the_era(b"2001-12-31T23:59:59.999Z") == b"2001-12-31T23:59:59.999Z"
