#!/usr/bin/env python3
"""Checks the tree against the folder table of docs/architecture.md. Usage: check_tree.py ROOT.

1. The table allows every #include in src, apps and include. The page states the rules above the table.
2. Every folder has a line in the table, and every line a folder.
3. Sub-folders have a README.md of three to ten lines that begins with their name, and no folder has more than 40 code files.
4. Only src/storage and src/engine include headers of a storage engine.
5. Every property test uses the result of rc::check.
6. Headers include the standard headers whose names they use.
7. The files of a folder can be compiled together: names in their anonymous namespaces differ.
8. Free functions are defined in the .cc named after their header. The number of those that are not may only fall.

Prints one line per problem and exits with 1 if there are any.
"""
import dataclasses
import pathlib
import re
import sys

import function_homes
from local_names import check_local_names

PAGE = "docs/architecture.md"
EVERYONE = {"base", "types"}
MAX_CODE_FILES = 40
MAX_MISPLACED_FUNCTIONS = 89
README_LINES = range(3, 11)
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
INCLUDE_ALL = re.compile(INCLUDE.pattern, re.M)
ROW = re.compile(r"^\| `([a-z_/]+)/?` \|(.*)\|\s*$", re.M)


@dataclasses.dataclass
class Permissions:
    """The includes that the line of a folder allows: folders as spelled in #include lines, and single headers."""

    always: set
    in_tests: set


def short_name(folder):
    """`src/advisor/review` → `advisor/review`: the spelling in #include lines and in the table's last column."""
    return folder.split("/", 1)[1] if folder.startswith(("src/", "apps/")) else folder


def read_table(page):
    """Parses the folder table: path of each folder → Permissions."""
    table = {}
    for folder, cells in ROW.findall(page):
        always, _, in_tests = cells.split("|")[-1].partition("tests:")
        table[folder.rstrip("/")] = Permissions(set(re.findall(r"`([^`]+)`", always)), set(re.findall(r"`([^`]+)`", in_tests)))
    return table


def is_test(path):
    return path.stem.endswith(("_test", "_fuzz", "_benchmark")) or path.name == "conformance.h"


def code_files(root, *tops):
    return sorted(path for top in tops for path in root.glob(f"{top}/**/*") if path.suffix in (".h", ".cc") and path.is_file())


def code_folders(root):
    """Folders with code, as paths relative to the root."""
    return sorted({str(path.parent.relative_to(root)) for path in code_files(root, "src", "apps", "include")})


def folder_of(root, included, table):
    """The folder in the table that has the included header; None for headers of the system or of a library."""
    for top in ("src", "apps", "include"):
        if (root / top / included).is_file():
            return str(pathlib.PurePath(top, included).parent)
    candidates = [folder for folder in table if included.startswith(folder.split("/", 1)[-1] + "/") and folder.startswith(("src/", "apps/", "include/"))]
    return max(candidates, key=len, default=None)


def main_folder(folder):
    """`src/advisor/review` → `src/advisor`."""
    return "/".join(folder.split("/")[:2])


def may_include(table, folder, target, included, test):
    own = main_folder(folder)
    line = table.get(folder if own == main_folder(target) else own)
    if folder == target or line is None:
        return True  # check_map() reports folders without a line
    granted = line.always | (line.in_tests if test else set())
    if own == main_folder(target):
        return short_name(target) in granted
    if short_name(main_folder(target)) in EVERYONE:
        return own not in ("src/base", "include/sibyl") and (own != "src/types" or main_folder(target) == "src/base")
    return included in granted or bool({short_name(target), short_name(main_folder(target))} & granted)


def check_includes(root, table):
    problems = []
    for path in code_files(root, "src", "apps", "include"):
        relative = path.relative_to(root)
        folder = str(relative.parent)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            target = folder_of(root, match.group(1), table) if match else None
            if target and not may_include(table, folder, target, match.group(1), is_test(path)):
                problems.append(f"{relative}:{number}: {short_name(folder)} may not include {match.group(1)}")
    return problems


def check_permissions(root, table):
    """Reports names in the last column that do not exist: they would silently allow nothing."""
    known = {short_name(folder) for folder in table}
    problems = []
    for folder, line in sorted(table.items()):
        for name in sorted(line.always | line.in_tests):
            if name not in known and not any((root / top / name).is_file() for top in ("src", "apps", "include")):
                problems.append(f"{PAGE} lets `{folder}` include `{name}`, which does not exist")
            elif folder.count("/") > 1 and not f"{name}/".startswith(short_name(main_folder(folder)) + "/"):
                problems.append(f"{PAGE} lets `{folder}` include `{name}`: that belongs in the line of `{main_folder(folder)}`")
    return problems


def check_readmes(root):
    problems = []
    for folder in code_folders(root):
        if folder.count("/") < 2 or folder.startswith("include/"):
            continue
        readme = root / folder / "README.md"
        if not readme.is_file():
            problems.append(f"{folder}: README.md is missing (what the folder contains, what belongs in it, where to start reading)")
            continue
        lines = [line for line in readme.read_text(encoding="utf-8").splitlines() if line.strip()]
        if len(lines) not in README_LINES:
            problems.append(f"{folder}/README.md: {len(lines)} lines, not {README_LINES[0]} to {README_LINES[-1]}")
        # Formatters of code have broken these pages before.
        elif lines[0] != f"# {short_name(folder)}":
            problems.append(f"{folder}/README.md: the first line is not `# {short_name(folder)}`")
    return problems


def check_sizes(root):
    problems = []
    for folder in code_folders(root):
        files = len([path for path in code_files(root, folder) if path.parent == root / folder and not is_test(path)])
        if files > MAX_CODE_FILES:
            problems.append(f"{folder}: {files} code files, more than {MAX_CODE_FILES}: split it into sub-folders")
    return problems


def check_engine_names(root):
    """Only `engine` and the store itself may include headers of RocksDB."""
    problems = []
    for path in code_files(root, "src"):
        relative = path.relative_to(root)
        if relative.parts[1] in ("storage", "engine"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and ("rocksdb" in match.group(1) or "rados" in match.group(1)):
                problems.append(f"{relative}:{number}: only src/storage and src/engine may include a storage engine")
    return problems


def check_properties(root):
    """Finds property tests that cannot fail, because they do not use the result of rc::check."""
    problems = []
    for path in sorted([*root.glob("src/**/*.cc"), *root.glob("apps/**/*.cc"), *root.glob("tests/**/*.cc")]):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"[;{}]\s*rc::check\(", text):
            number = text.count("\n", 0, match.end()) + 1
            problems.append(f"{path.relative_to(root)}:{number}: the result of rc::check is not used")
    return problems


def check_function_homes(root):
    misplaced = function_homes.misplaced(root)
    if len(misplaced) <= MAX_MISPLACED_FUNCTIONS:
        return []
    return [f"{len(misplaced)} free functions are not defined in the .cc named after their header, more than {MAX_MISPLACED_FUNCTIONS} (tests/tree/function_homes.py lists them)"]


STANDARD = {
    "array": r"std::array\b", "atomic": r"std::atomic\b", "chrono": r"std::chrono::", "deque": r"std::deque\b",
    "functional": r"std::(?:function|move_only_function)\b", "map": r"std::(?:multi)?map\b", "memory": r"std::(?:unique_ptr|shared_ptr)\b",
    "mutex": r"std::(?:mutex|lock_guard|unique_lock)\b", "optional": r"std::optional\b", "set": r"std::set\b", "span": r"std::span\b",
    "string": r"std::string\b", "string_view": r"std::string_view\b", "thread": r"std::thread\b",
    "unordered_map": r"std::unordered_map\b", "variant": r"std::variant\b", "vector": r"std::vector\b",
}
ALSO = {"string": {"string_view"}}  # headers that provide what others do
COMMENT = re.compile(r"//[^\n]*")


def check_standard_includes(root):
    """Each header, or a header of the project that it includes, includes the standard headers of the names that it uses."""
    headers = {}
    for path in code_files(root, "src", "apps", "include"):
        if path.suffix == ".h":
            text = path.read_text(encoding="utf-8")
            headers[str(path.relative_to(root)).split("/", 1)[1]] = (path.relative_to(root), COMMENT.sub("", text), INCLUDE_ALL.findall(text))

    def included(name, seen):
        for one in headers[name][2]:
            if one not in seen:
                seen.add(one)
                seen |= ALSO.get(one, set())
                if one in headers:
                    included(one, seen)
        return seen

    problems = []
    for name, (path, text, _) in sorted(headers.items()):
        seen = included(name, set())
        problems += [f"{path}: uses <{header}> and does not include it" for header, use in STANDARD.items() if header not in seen and re.search(use, text)]
    return problems


def check_map(root, table):
    present = set(code_folders(root))
    for top in ("include", "src", "apps", "tests", "benchmarks", "docs", "cmake", "examples"):
        base = root / top
        if not base.is_dir():
            continue
        children = [p for p in base.iterdir() if p.is_dir() and any(p.rglob("*.*")) and p.name != "__pycache__"]
        if top in ("src", "apps", "tests", "include"):
            present |= {str(p.relative_to(root)) for p in children}
        else:
            present.add(top)
    problems = [f"{PAGE} lists `{name}`, which does not exist" for name in sorted(table) if not (root / name).is_dir()]
    problems += [f"`{name}` has no line in {PAGE}" for name in sorted(present - set(table))]
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    table = read_table((root / PAGE).read_text(encoding="utf-8"))
    problems = check_map(root, table) + check_permissions(root, table) + check_includes(root, table)
    problems += check_function_homes(root) + check_readmes(root) + check_sizes(root) + check_engine_names(root) + check_properties(root) + check_standard_includes(root)
    problems += check_local_names(root, is_test)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
