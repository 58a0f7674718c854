"""docs/observing.md lists exactly the metrics that the server exports."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPORTED = re.compile(r'"((?:sibyl|process)_[a-z_]+)"')
NAMED = re.compile(r"`((?:sibyl|process)_[a-z_]+)(?:\{[a-z_,]+\})?`")


def exported():
    sources = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "src/server").rglob("*.cc"))
               if not path.name.endswith("_test.cc")]
    return {name for source in sources for name in EXPORTED.findall(source)}


def named():
    page = (ROOT / "docs/observing.md").read_text(encoding="utf-8")
    return {name for line in page.splitlines() if line.startswith("|") for name in NAMED.findall(line)}


def test_the_page_lists_the_metrics():
    assert len(exported()) > 50
    assert exported() - named() == set(), "not in docs/observing.md"
    assert named() - exported() == set(), "in docs/observing.md, but not exported"
