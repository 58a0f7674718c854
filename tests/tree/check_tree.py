#!/usr/bin/env python3
"""Checks that the tree is what docs/architecture.md says: rooms include only what they may, every folder has its
line in the map, and properties are looked at. Usage: check_tree.py ROOT. Prints what is wrong, one line each, and exits 1."""
import pathlib
import re
import sys

# What each room may include besides itself, `base` and `types`. `storage/store.h` names that one header.
ALLOWED = {
    "base": set(),
    "types": set(),
    "cql": set(),
    "schema": set(),
    "row": set(),
    "storage": {"row"},
    "auth": set(),
    "plan": {"cql", "schema", "row"},
    "execute": {"plan", "cql", "schema", "row", "auth", "storage/store.h"},
    "advisor": {"plan", "cql", "schema"},
    "engine": {"plan", "cql", "schema", "row", "auth", "storage", "execute", "advisor", "sibyl"},
    "protocol": set(),
    "server": {"engine", "protocol", "auth", "execute", "plan", "schema", "cql"},
    "apps": {"sibyl", "server", "protocol", "advisor", "client", "engine", "auth", "execute", "plan", "schema", "cql"},
    "include": {"sibyl"},
}
EVERYONE = {"base", "types"}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')


def room_of(path):
    parts = path.parts
    if parts[0] == "src":
        return parts[1]
    return parts[0] if parts[0] in ("apps", "include") else None


def is_test(path):
    return path.stem.endswith(("_test", "_fuzz", "_benchmark")) or path.name in ("conformance.h",)


def allowed(room, included, rooms):
    first = included.split("/")[0]
    if first not in rooms and first != "sibyl" and first != "client":
        return True  # a system or library header
    if first == room or (room == "apps" and first in ("sibyl", "client")):
        return True
    if room == "base":
        return False
    if first in EVERYONE:
        return room != "include" and not (room == "types" and first != "base")
    return first in ALLOWED[room] or included in ALLOWED[room]


def check_includes(root):
    rooms = {p.name for p in (root / "src").iterdir() if p.is_dir()}
    problems = [f"src/{room}: a room without a line in {__file__}" for room in sorted(rooms - set(ALLOWED))]
    for path in sorted([*root.glob("src/**/*"), *root.glob("apps/**/*"), *root.glob("include/**/*")]):
        if path.suffix not in (".h", ".cc") or not path.is_file():
            continue
        relative = path.relative_to(root)
        room = room_of(relative)
        if room not in ALLOWED:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            included = match.group(1)
            if allowed(room, included, rooms):
                continue
            if is_test(path) and room in ("execute", "plan") and included.startswith(("storage/", "cql/")):
                continue  # tests may run a room on a real store, on parsed text
            if is_test(path) and room == "advisor" and included.startswith(
                ("sibyl/", "engine/", "execute/", "storage/", "row/")
            ):
                continue  # tests run what the advisor suggests, and hold its bounds against what was read
            problems.append(f"{relative}:{number}: {room} may not include {included}")
    return problems


def check_engine_names(root):
    """Only `engine` (and the store itself) names RocksDB."""
    problems = []
    for path in sorted(root.glob("src/**/*")):
        relative = path.relative_to(root)
        if path.suffix not in (".h", ".cc") or relative.parts[1] in ("storage", "engine"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and ("rocksdb" in match.group(1) or "rados" in match.group(1)):
                problems.append(f"{relative}:{number}: only engine names an engine")
    return problems


def check_properties(root):
    """A property whose outcome nobody looks at cannot fail."""
    problems = []
    for path in sorted([*root.glob("src/**/*.cc"), *root.glob("apps/**/*.cc"), *root.glob("tests/**/*.cc")]):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"[;{}]\s*rc::check\(", text):
            number = text.count("\n", 0, match.end()) + 1
            problems.append(f"{path.relative_to(root)}:{number}: the outcome of rc::check is not looked at")
    return problems


def check_map(root):
    text = (root / "docs/architecture.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([a-z_/]+)/?` \|", text, re.M))
    listed = {name.rstrip("/") for name in listed}
    present = set()
    for top in ("include", "src", "apps", "tests", "benchmarks", "docs", "cmake", "examples"):
        base = root / top
        if not base.is_dir():
            continue
        children = [p for p in base.iterdir() if p.is_dir() and any(p.rglob("*.*")) and p.name != "__pycache__"]
        if top in ("src", "apps", "tests", "include"):
            present |= {str(p.relative_to(root)) for p in children}
        else:
            present.add(top)
    problems = [f"docs/architecture.md lists `{name}`, which is not there" for name in sorted(listed) if not (root / name).is_dir()]
    problems += [f"`{name}` has no line in docs/architecture.md" for name in sorted(present - listed)]
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    problems = check_includes(root) + check_engine_names(root) + check_properties(root) + check_map(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
