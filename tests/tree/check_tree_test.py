"""The tree check can fail: a forbidden include, an unlisted folder and a stale line are each found."""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests/tree/check_tree.py"


def copy_tree(to):
    for name in ("src", "apps", "include", "tests", "benchmarks", "docs", "cmake", "examples", "packaging"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))


def problems(root):
    run = subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True, check=False)
    assert run.returncode == (1 if run.stdout else 0), run.stderr
    return run.stdout.splitlines()


def test_the_tree_is_clean(tmp_path):
    copy_tree(tmp_path)
    assert problems(tmp_path) == []


def test_forbidden_includes_are_found(tmp_path):
    copy_tree(tmp_path)
    forbidden = {
        "src/types/bad.h": "plan/term.h",
        "src/base/bad.h": "types/type.h",
        "src/plan/bad.cc": "execute/execute.h",
        "src/execute/bad.cc": "protocol/frame.h",
        "src/execute/worse.cc": "storage/rocksdb/rocksdb_store.h",
        "src/protocol/bad.cc": "schema/schema.h",
        "include/sibyl/bad.h": "engine/engine.h",
    }
    for name, included in forbidden.items():
        (tmp_path / name).write_text(f'#include "{included}"\n')
    found = "\n".join(problems(tmp_path))
    for name, included in forbidden.items():
        assert f"{name}:1:" in found and included in found


def test_only_the_engine_names_an_engine(tmp_path):
    copy_tree(tmp_path)
    (tmp_path / "src/server/bad.cc").write_text("#include <rocksdb/db.h>\n")
    assert any("src/server/bad.cc:1: only engine names an engine" in line for line in problems(tmp_path))


def test_the_folder_map_is_checked_both_ways(tmp_path):
    copy_tree(tmp_path)
    (tmp_path / "src/attic").mkdir()
    (tmp_path / "src/attic/old.h").write_text("#pragma once\n")
    page = tmp_path / "docs/architecture.md"
    page.write_text(page.read_text() + "\n| `src/gone` | nothing |\n")
    found = problems(tmp_path)
    assert any("`src/attic` has no line" in line for line in found)
    assert any("lists `src/gone`" in line for line in found)


def test_properties_that_nobody_looks_at_are_found(tmp_path):
    copy_tree(tmp_path)
    (tmp_path / "src/types/bad_test.cc").write_text("TEST(A, B) {\n  rc::check([] {});\n}\n")
    assert problems(tmp_path) == ["src/types/bad_test.cc:2: the outcome of rc::check is not looked at"]
