"""Runs a guide: every fenced block of a Markdown page is either a file to create or commands with their output.

    run_guide.py SIBYL PAGE...           fails if an output differs
    run_guide.py --write SIBYL PAGE...   writes the actual output into the page

A block ```cql NAME or ```text NAME is the file NAME. In a block ```console, lines that start with `$ ` are commands, and the
following lines are their output. Durations of searches are not compared. Other kinds of blocks are errors, since nothing
would keep them up to date. Pictures in the page must be those that its commands draw.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SECONDS = re.compile(r"found in \d+\.\d+ s")


def blocks(lines):
    """(first line, one past the last, info string) of each fenced block, without the fences."""
    begin, info = None, ""
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if begin is None:
            begin, info = number + 1, line[3:].strip()
        else:
            yield begin, number, info
            begin = None
    if begin is not None:
        raise SystemExit(f"line {begin}: the block is not closed")


def run(command, folder, binary):
    environment = dict(os.environ, PATH=f"{binary.parent}:{os.environ['PATH']}", NO_COLOR="1", LC_ALL="C.UTF-8")
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120, check=False)
    text = SECONDS.sub("found in 0.1 s", done.stdout.decode())
    return [line.rstrip() for line in text.splitlines()]


def true_block(lines, folder, binary):
    out = []
    for line in lines:
        if line.startswith("$ "):
            out.append(line)
            out += run(line[2:], folder, binary)
    return out


def true_page(lines, folder, binary, page):
    out, last = [], 0
    for begin, end, info in blocks(lines):
        kind, _, name = info.partition(" ")
        out += lines[last:begin]
        block = lines[begin:end]
        if kind in ("cql", "text") and re.fullmatch(r"[a-z_]+\.[a-z]+", name):
            (folder / name).write_text("\n".join(block) + "\n", encoding="utf-8")
        elif info == "console" and block and block[0].startswith("$ "):
            block = true_block(block, folder, binary)
        else:
            raise SystemExit(f"{page}:{begin}: '{info}' is not a kind of block that can be run")
        out += block
        last = end
    return out + lines[last:]


def check_pictures(lines, folder, page, write):
    """Compares the pictures of the page, `![name](folder/file.svg)`, with those that the commands drew."""
    for name in re.findall(r"!\[[^]]*\]\(([^)]+)\)", "\n".join(lines)):
        drawn, kept = folder / name, page.parent / name
        xml.etree.ElementTree.parse(drawn)
        if write:
            kept.parent.mkdir(exist_ok=True)
            kept.write_bytes(drawn.read_bytes())
        elif kept.read_bytes() != drawn.read_bytes():
            raise SystemExit(f"{kept} differs from the picture drawn; run_guide.py --write updates it")


def main():
    arguments = sys.argv[1:]
    write = arguments[:1] == ["--write"]
    binary, *pages = arguments[1:] if write else arguments
    binary = pathlib.Path(binary).resolve()
    for page in map(pathlib.Path, pages):
        lines = page.read_text(encoding="utf-8").splitlines()
        with tempfile.TemporaryDirectory() as folder:
            wanted = true_page(lines, pathlib.Path(folder), binary, page)
            check_pictures(lines, pathlib.Path(folder), page, write)
        if write:
            page.write_text("\n".join(wanted) + "\n", encoding="utf-8")
        elif wanted != lines:
            sys.stdout.writelines(line + "\n" for line in difflib.unified_diff(lines, wanted, str(page), "true", lineterm=""))
            raise SystemExit(f"{page}: the output differs; run_guide.py --write updates the page")


main()
