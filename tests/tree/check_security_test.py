"""Checks docs/security.md, and that check_security.py finds missing tests."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tree"))
import check_security  # noqa: E402


def test_every_claim_names_existing_tests():
    assert check_security.check(ROOT) == []


def test_claims_are_parsed():
    claims = list(check_security.claims_of((ROOT / "docs/security.md").read_text(encoding="utf-8")))
    assert len(claims) > 20


def problems_of(tmp_path, cell):
    (tmp_path / "docs").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a_test.cc").write_text("TEST(Suite, Real) {\n}\n")
    (tmp_path / "docs/security.md").write_text(f"| claim | test |\n|---|---|\n| x | {cell} |\n")
    return check_security.check(tmp_path)


def test_a_test_that_is_not_there_is_found(tmp_path):
    assert problems_of(tmp_path, "`Suite.Real`, `Suite.Gone`") == ["docs/security.md: there is no test `Suite.Gone`"]


def test_a_suite_that_is_not_there_is_found(tmp_path):
    assert problems_of(tmp_path, "`Suite.*`, `Other.*`") == ["docs/security.md: there is no test `Other.*`"]


def test_a_claim_without_a_test_is_found(tmp_path):
    assert problems_of(tmp_path, "see the code") == ['docs/security.md: no test for "x"']


def test_a_weakness_needs_no_test(tmp_path):
    assert problems_of(tmp_path, "(known; use the default)") == []
