"""docs/clients.md has a row for every tested feature, and a column only for known clients."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/drivers"))

from features import CLIENTS, FEATURES  # noqa: E402
from report import HEAD, OLDER, merged, read_page, render  # noqa: E402


def test_the_page_matches_the_feature_list():
    text = (ROOT / "docs/clients.md").read_text(encoding="utf-8")
    columns = read_page(text)
    assert columns and set(columns) <= set(CLIENTS.values())
    assert list(columns) == [title for title in CLIENTS.values() if title in columns]
    for title, (version, cells) in columns.items():
        assert version, title
        assert list(cells) == list(FEATURES), title
        assert set(cells.values()) <= {"yes", "no", "–"}, (title, cells)
    assert text.startswith(HEAD) and render(columns) == text, "tests/drivers/report.py generates this page; do not edit it"


def test_columns_of_earlier_runs_are_marked():
    ran, skipped, absent = list(CLIENTS)[:3]
    title = CLIENTS.get
    before = {title(client): ("1.0", {feature: "yes" for feature in FEATURES}) for client in (ran, skipped, absent)}
    check = {"check": list(FEATURES)[0], "ok": False, "detail": ""}
    run = {ran: {"version": "2.0", "skipped": None, "checks": [check]},
           skipped: {"version": None, "skipped": "no network", "checks": []}}
    columns = merged(run, before)
    assert columns[title(ran)][0] == "2.0" and columns[title(ran)][1][check["check"]] == "no"
    assert columns[title(skipped)] == ("1.0" + OLDER, before[title(skipped)][1])
    assert columns[title(absent)][0] == "1.0" + OLDER
    assert merged({}, columns)[title(skipped)][0] == "1.0" + OLDER, "marked once"
