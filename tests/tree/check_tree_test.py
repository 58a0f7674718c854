"""Checks that check_tree.py finds every kind of problem, by adding each to a copy of the tree."""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests/tree/check_tree.py"


def copy_tree(to):
    for name in ("src", "apps", "include", "tests", "benchmarks", "docs", "cmake", "console", "examples", "packaging"):
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
        "src/types/bad.h": "plan/terms/term.h",
        "src/base/bad.h": "types/type.h",
        "src/plan/bad.cc": "execute/environment.h",
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


def test_storage_engines_are_included_only_by_storage_and_engine(tmp_path):
    copy_tree(tmp_path)
    (tmp_path / "src/server/bad.cc").write_text("#include <rocksdb/db.h>\n")
    assert any("src/server/bad.cc:1: only src/storage and src/engine may include a storage engine" in line for line in problems(tmp_path))


def test_the_folder_map_is_checked_both_ways(tmp_path):
    copy_tree(tmp_path)
    (tmp_path / "src/attic").mkdir()
    (tmp_path / "src/attic/old.h").write_text("#pragma once\n")
    page = tmp_path / "docs/architecture.md"
    page.write_text(page.read_text() + "\n| `src/gone` | nothing |\n")
    found = problems(tmp_path)
    assert any("`src/attic` has no line" in line for line in found)
    assert any("lists `src/gone`" in line for line in found)


def edit_page(root, old, new):
    page = root / "docs/architecture.md"
    text = page.read_text()
    assert old in text
    page.write_text(text.replace(old, new))


def test_the_page_defines_the_allowed_includes(tmp_path):
    copy_tree(tmp_path)
    edit_page(tmp_path, "protocol`; tests: `server` |", "protocol` |")
    edit_page(tmp_path, "| `src/auth` |", "| `src/auth` | x | `cql` |\n| `src/older` |")
    (tmp_path / "src/auth/fine.h").write_text('#include "cql/ast.h"\n')
    found = problems(tmp_path)
    assert any(re.match(r"apps/client/connection_test.cc:\d+: client may not include server/", line) for line in found), found
    assert not any("src/auth/fine.h" in line for line in found)


def test_includes_for_tests_are_forbidden_in_other_code(tmp_path):
    copy_tree(tmp_path)
    for name in ("good_test.cc", "bad.cc"):
        (tmp_path / "src/plan" / name).write_text('#include "storage/memory/memory_store.h"\n')
    assert problems(tmp_path) == ["src/plan/bad.cc:1: plan may not include storage/memory/memory_store.h"]


def test_names_in_the_last_column_must_exist(tmp_path):
    copy_tree(tmp_path)
    edit_page(tmp_path, "| `storage` |", "| `storage`, `cql` |")
    edit_page(tmp_path, "`storage/store.h`", "`storage/gone.h`")
    found = problems(tmp_path)
    assert "docs/architecture.md lets `src/execute` include `storage/gone.h`, which does not exist" in found
    assert any("lets `src/storage/memory` include `cql`: that belongs in the line of `src/storage`" in line for line in found)


def add_folder(root, name, line=True, readme=4, files=1):
    folder = root / name
    folder.mkdir(parents=True)
    for number in range(files):
        (folder / f"file_{number}.h").write_text("#pragma once\n")
    if readme:
        (folder / "README.md").write_text(f"# {name.split('/', 1)[1]}\n\n" + "a line\n\n" * (readme - 1))
    if line:
        page = root / "docs/architecture.md"
        page.write_text(page.read_text() + f"\n| `{name}` | new | – |\n")
    return folder


def test_sub_folders_follow_the_page(tmp_path):
    copy_tree(tmp_path)
    add_folder(tmp_path, "src/row/lower")
    upper = add_folder(tmp_path, "src/row/upper")
    (upper / "file_0.h").write_text('#include "row/upper/x.h"\n#include "base/result.h"\n#include "row/lower/file_0.h"\n')
    assert problems(tmp_path) == ["src/row/upper/file_0.h:3: row/upper may not include row/lower/file_0.h"]
    edit_page(tmp_path, "| `src/row/upper` | new | – |", "| `src/row/upper` | new | `row/lower` |")
    assert problems(tmp_path) == []
    (upper / "file_0.h").write_text('#include "row/merge.h"\n#include "plan/terms/term.h"\n')
    (tmp_path / "src/row/top.h").write_text('#include "row/lower/file_0.h"\n')
    (tmp_path / "src/cql/other.h").write_text('#include "row/lower/file_0.h"\n')
    (tmp_path / "src/plan/fine.h").write_text('#include "row/lower/file_0.h"\n')
    assert sorted(problems(tmp_path)) == [
        "src/cql/other.h:1: cql may not include row/lower/file_0.h",
        "src/row/top.h:1: row may not include row/lower/file_0.h",
        "src/row/upper/file_0.h:1: row/upper may not include row/merge.h",
        "src/row/upper/file_0.h:2: row/upper may not include plan/terms/term.h",
    ]


def test_sub_folders_need_a_line_and_a_readme(tmp_path):
    copy_tree(tmp_path)
    add_folder(tmp_path, "src/row/unlisted", line=False)
    add_folder(tmp_path, "src/row/unexplained", readme=0)
    add_folder(tmp_path, "src/row/terse", readme=2)
    add_folder(tmp_path, "apps/client/verbose", readme=11)
    assert problems(tmp_path) == [
        "`src/row/unlisted` has no line in docs/architecture.md",
        "apps/client/verbose/README.md: 11 lines, not 3 to 10",
        "src/row/terse/README.md: 2 lines, not 3 to 10",
        "src/row/unexplained: README.md is missing (what the folder contains, what belongs in it, where to start reading)",
    ]


def test_readmes_begin_with_the_name_of_their_folder(tmp_path):
    copy_tree(tmp_path)
    folder = add_folder(tmp_path, "src/row/broken")
    page = folder / "README.md"
    page.write_text(page.read_text().replace("# row/broken", "#row / broken"))
    assert problems(tmp_path) == ["src/row/broken/README.md: the first line is not `# row/broken`"]


def test_no_folder_has_more_than_forty_code_files(tmp_path):
    copy_tree(tmp_path)
    folder = add_folder(tmp_path, "src/row/crowded", files=40)
    (folder / "file_test.cc").write_text("")
    assert problems(tmp_path) == []
    (folder / "one_more.cc").write_text("")
    assert problems(tmp_path) == ["src/row/crowded: 41 code files, more than 40: split it into sub-folders"]


def test_unused_results_of_properties_are_found(tmp_path):
    copy_tree(tmp_path)
    (tmp_path / "src/types/bad_test.cc").write_text("TEST(A, B) {\n  rc::check([] {});\n}\n")
    assert problems(tmp_path) == ["src/types/bad_test.cc:2: the result of rc::check is not used"]


def test_missing_standard_headers_are_found(tmp_path):
    copy_tree(tmp_path)
    (tmp_path / "src/row/bad.h").write_text("#pragma once\n// std::map in a comment\nstd::vector<int> list;\n")
    (tmp_path / "src/row/good.h").write_text('#pragma once\n#include "base/result.h"\nstd::string text;\n')
    assert problems(tmp_path) == ["src/row/bad.h: uses <vector> and does not include it"]


def test_colliding_names_of_a_folder_are_found(tmp_path):
    copy_tree(tmp_path)
    first = "namespace sibyl {\nnamespace {\n%s}  // namespace\n}\n"
    folder = tmp_path / "src/row"
    (folder / "one.cc").write_text(first % "constexpr int depth = 1, height = 2;\nint f(int a,\n      int b = 3) {\n}\nstruct S {\n};\nint g(int a) {\n}\nusing A = int;\n")
    (folder / "two.cc").write_text(first % "int height() {\n}\nint f(int c, int d) {\n}\nclass S {\n};\nint g(long a) {\n}\nusing A = int;\n")
    (folder / "three_test.cc").write_text(first % "int f(int c, int d) {\n}\n")
    (folder / "four.h").write_text("#pragma once\nstruct Height {\n};\n")
    (folder / "four.cc").write_text(first % "class Height : public Base {\n};\n")
    lines = problems(tmp_path)
    assert "src/row/four.cc: Height is also a type of four.h: rename it" in lines
    found = [line for line in lines if "compiled together" in line]
    assert [line.split()[1] for line in found] == ["S", "f", "height"]
    assert all("one.cc, two.cc" in line for line in found)


def test_functions_away_from_their_header_are_found(tmp_path):
    for name, text in {
        "near.h": "namespace a {\nint near(int x);\ninline int here() { return 1; }\ntemplate <typename T> int any(T x);\n}\n",
        "near.cc": '#include "near.h"\nnamespace a {\nnamespace {\nint far() { return 1; }  // hidden\n}\nint near(int x) { return x; }\n}\n',
        "far.h": "namespace a {\n/* int none(); */ struct S { int member(); };\nint far();\nint far(int);\n}\n",
        "other.cc": 'namespace a {\nint S::member() { return 0; }\nconst char* text = "{ int near(";\nint far() {\n  if (text) return 1;\n  return near(2);\n}\n}\n',
    }.items():
        path = tmp_path / "src/base" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    run = subprocess.run([sys.executable, ROOT / "tests/tree/function_homes.py", tmp_path], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["src/base/other.cc:4: far belongs in src/base/far.cc"]
