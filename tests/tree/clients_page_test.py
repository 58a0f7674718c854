"""docs/clients.md has a row for every feature that the clients are asked for, and only columns of known clients."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/drivers"))

from features import CLIENTS, FEATURES  # noqa: E402
from report import HEAD, read_page, render  # noqa: E402


def test_the_page_has_the_shape_of_the_feature_list():
    text = (ROOT / "docs/clients.md").read_text(encoding="utf-8")
    columns = read_page(text)
    assert columns and set(columns) <= set(CLIENTS.values())
    assert list(columns) == [title for title in CLIENTS.values() if title in columns]
    for title, (version, cells) in columns.items():
        assert version, title
        assert list(cells) == list(FEATURES), title
        assert set(cells.values()) <= {"yes", "no", "–"}, (title, cells)
    assert text.startswith(HEAD) and render(columns) == text, "made by tests/drivers/report.py, not by hand"
