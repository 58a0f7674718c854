#!/usr/bin/env python3
"""Generates build/clients.json and docs/clients.md from the results of the last run of the clients (build/clients/*.json).

A client that this run skipped keeps its existing column on the page, marked as older."""
import json
import pathlib
import re
import sys

from features import CLIENTS, FEATURES

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/clients.md"
OLDER = " (older run)"
HEAD = """# Clients

This page shows which features of unmodified clients work with Sibyl. Each client is a program in its own language under
`tests/drivers`, or the tool itself, and runs against its own server. A cell summarises checks of values, errors and states.

    ./dev test clients      # runs all clients and generates this page

A client whose toolchain or packages are not available is skipped and named. A plain `./dev test` fetches only packages of Debian
and npm.

- `yes`: every check passed.
- `no`: a check failed.
- `–`: the client does not have the feature or does not need it, or it was not checked.
- `(older run)`: the client was skipped in the last run. The column is from an earlier run.

"""


def cell(checks):
    if any(check["ok"] is False for check in checks):
        return "no"
    return "yes" if any(check["ok"] for check in checks) else "–"


def column(found):
    cells = {feature: cell([c for c in found["checks"] if c["check"] == feature]) for feature in FEATURES}
    return found["version"] or "", cells


def read_page(text):
    """The columns of a page: client title -> (version, cells)."""
    table = [[part.strip() for part in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    if len(table) < 3:
        return {}
    titles, versions, rows = table[0][1:], table[2][1:], table[3:]
    features = [re.sub(r"\*\*", "", row[0]).split(":")[0] for row in rows]
    return {title: (versions[n], {feature: row[n + 1] for feature, row in zip(features, rows)})
            for n, title in enumerate(titles)}


def render(columns):
    """columns: client title -> (version, cells)"""
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns),
             "| version | " + " | ".join(version for version, _ in columns.values()) + " |"]
    for feature, meaning in FEATURES.items():
        cells = " | ".join(cells.get(feature, "–") for _, cells in columns.values())
        lines.append(f"| **{feature}**: {meaning} | {cells} |")
    return HEAD + "\n".join(lines) + "\n"


def merged(run, before):
    """Returns the new columns of the page: results of this run, or the previous column, marked as older, for skipped clients."""
    columns = {}
    for client, title in CLIENTS.items():
        if client in run and not run[client]["skipped"]:
            columns[title] = column(run[client])
        elif title in before:
            version, cells = before[title]
            columns[title] = (version if version.endswith(OLDER) else version + OLDER, cells)
    return columns


def main():
    run = {}
    for client in CLIENTS:
        path = ROOT / f"build/clients/{client}.json"
        if path.exists():
            run[client] = json.loads(path.read_text(encoding="utf-8"))
    (ROOT / "build/clients.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    before = read_page(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    PAGE.write_text(render(merged(run, before)), encoding="utf-8")
    for client, found in run.items():
        state = found["skipped"] and f"skipped: {found['skipped']}"
        failed = [check for check in found["checks"] if check["ok"] is False]
        passed = sum(check["ok"] is True for check in found["checks"])
        print(f"{CLIENTS[client]} {found['version'] or ''}: " + (state or f"{passed} checks passed, {len(failed)} failed"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
