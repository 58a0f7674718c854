#!/usr/bin/env python3
"""Checks that every claim of docs/security.md names tests, and that they exist. `Suite.*` names all tests of a suite.

Usage: check_security.py ROOT. Prints the missing ones. A claim whose second cell begins with "(known" is a documented
weakness without a test."""
import pathlib
import re
import sys

GTEST = re.compile(r"^\s*TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.M)
RAPIDCHECK = re.compile(r"^\s*RC_GTEST_PROP\((\w+),\s*(\w+),", re.M)
NODE = re.compile(r"^test\('(\w+)'", re.M)
PYTEST = re.compile(r"^def (test_\w+)\(", re.M)


def tests_of(root):
    names = set()
    for path in [*root.glob("src/**/*_test.cc"), *root.glob("apps/**/*_test.cc"), *root.glob("tests/**/*_test.cc")]:
        text = path.read_text(encoding="utf-8")
        names |= {f"{suite}.{name}" for pattern in (GTEST, RAPIDCHECK) for suite, name in pattern.findall(text)}
    for path in root.glob("tests/**/*.py"):
        names |= set(PYTEST.findall(path.read_text(encoding="utf-8")))
    for path in root.glob("tests/**/*.test.mjs"):
        names |= set(NODE.findall(path.read_text(encoding="utf-8")))
    for path in root.glob("src/**/*_fuzz.cc"):
        names.add(path.stem)
    return names


def claims_of(text):
    """Yields (claim, second cell, names of tests) for each row of a table."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("|") or len(cells) != 2 or set(cells[0]) <= {"-", "|"} or cells[0] == "claim":
            continue
        yield cells[0], cells[1], re.findall(r"`([\w.*]+)`", cells[1])


def is_there(name, known):
    if name.endswith(".*"):
        return any(test.startswith(name[:-1]) for test in known)
    return name in known


def check(root):
    known = tests_of(root)
    problems = []
    for claim, cell, names in claims_of((root / "docs/security.md").read_text(encoding="utf-8")):
        problems += [f"docs/security.md: there is no test `{name}`" for name in names if not is_there(name, known)]
        if not names and not cell.startswith("(known"):
            problems.append(f"docs/security.md: no test for \"{claim}\"")
    return problems


def main():
    problems = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
