"""The check of docs/security.md can fail: a test that is not there is found."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tree"))
import check_security  # noqa: E402


def test_every_claim_names_tests_that_are_there():
    assert check_security.check(ROOT) == []


def test_claims_are_read():
    claims = list(check_security.claims_of((ROOT / "docs/security.md").read_text(encoding="utf-8")))
    assert len(claims) > 20
    assert sum(1 for claim, names in claims if not names) <= 1, "a claim without a test"


def test_a_test_that_is_not_there_is_found(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a_test.cc").write_text("TEST(Suite, Real) {\n}\n")
    (tmp_path / "docs/security.md").write_text("| claim | test |\n|---|---|\n| x | `Suite.Real`, `Suite.Gone` |\n")
    assert check_security.check(tmp_path) == ["docs/security.md: there is no test `Suite.Gone`"]
