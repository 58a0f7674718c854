#!/usr/bin/env python3
"""Checks that every test that docs/security.md names is there. Usage: check_security.py ROOT. Prints what is missing."""
import pathlib
import re
import sys

GTEST = re.compile(r"^\s*TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.M)
RAPIDCHECK = re.compile(r"^\s*RC_GTEST_PROP\((\w+),\s*(\w+),", re.M)
PYTEST = re.compile(r"^def (test_\w+)\(", re.M)


def tests_of(root):
    names = set()
    for path in [*root.glob("src/**/*_test.cc"), *root.glob("apps/**/*_test.cc"), *root.glob("tests/**/*_test.cc")]:
        text = path.read_text(encoding="utf-8")
        names |= {f"{suite}.{name}" for pattern in (GTEST, RAPIDCHECK) for suite, name in pattern.findall(text)}
    for path in root.glob("tests/**/*.py"):
        names |= set(PYTEST.findall(path.read_text(encoding="utf-8")))
    for path in root.glob("src/**/*_fuzz.cc"):
        names.add(path.stem)
    return names


def claims_of(text):
    """(claim, names) of each row of a table."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if not line.startswith("|") or len(cells) != 2 or set(cells[0]) <= {"-", "|"} or cells[0] == "claim":
            continue
        yield cells[0], re.findall(r"`([\w.]+)`", cells[1])


def check(root):
    known = tests_of(root)
    problems = []
    for claim, names in claims_of((root / "docs/security.md").read_text(encoding="utf-8")):
        problems += [f"docs/security.md: there is no test `{name}`" for name in names if name not in known]
    return problems


def main():
    problems = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
