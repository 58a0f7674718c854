#!/usr/bin/env python3
"""Draws comments, paragraphs of docs, and texts of logs and errors at random, for a review of their language.

Usage: draw_texts.py SEED [ROOT] prints 70 comments of src, apps and include, 20 paragraphs of docs, README.md and
CONTRIBUTING.md, and 30 texts of our own (logs, hints, errors, help). Comments are printed with their code in brackets. The
same seed draws the same texts from the same tree.
"""
import pathlib
import random
import re
import sys

COMMENTS, PARAGRAPHS, TEXTS = 70, 20, 30
LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"(?:\s*"((?:\\.|[^"\\\n])*)")*')
LITERAL_PART = re.compile(r'"((?:\\.|[^"\\\n])*)"')


def sources(root):
    for top in ("src", "apps", "include"):
        for path in sorted((root / top).glob("**/*")):
            if path.suffix in (".h", ".cc"):
                yield path


def trailing_comment(line):
    """(column, text) of the comment behind the code of a line, or None."""
    match = re.search(r"[;{},]\s+(// (.*))$", line)
    return (match.start(1), match.group(2)) if match else None


def comments(root):
    """Comments of at least four words, each with the code that it is about; successive lines are one comment."""
    for path in sources(root):
        lines = path.read_text(encoding="utf-8").splitlines() + [""]
        place, number = path.relative_to(root), 0
        while number < len(lines):
            begin, line = number, lines[number]
            number += 1
            trailing = trailing_comment(line)
            if line.strip().startswith("//"):
                column, text, code = line.index("//"), line.strip()[2:].strip(), None
            elif trailing:
                column, text, code = *trailing, line[:trailing[0]].strip()
            else:
                continue
            while lines[number].startswith(" " * column + "//") and lines[number].strip().startswith("//"):
                text += " " + lines[number].strip()[2:].strip()
                number += 1
            if len(text.split()) >= 4:
                yield f"{place}:{begin + 1}", f"{text}   [{(code or lines[number].strip())[:100]}]"


def indented_code(block, content):
    """True if Markdown shows the block as code, where text of the surrounding list begins at column `content`."""
    return block.lstrip("\n").startswith(" " * (content + 4))


def list_content(block, content):
    """The column at which text of the list begins after the block; 0 outside of lists."""
    items = re.findall(r"^ *(?:[-*]|\d+\.) +", block, flags=re.M)
    if items:
        return len(items[-1])
    return content if block.lstrip("\n").startswith(" ") else 0


def paragraphs(root):
    """Prose of the pages: no headings, tables, code or single lines of lists."""
    for path in [*sorted((root / "docs").glob("*.md")), root / "README.md", root / "CONTRIBUTING.md"]:
        line, fenced, content = 1, False, 0
        for block in path.read_text(encoding="utf-8").split("\n\n"):
            fences = block.count("```")
            is_code = fenced or fences or indented_code(block, content)
            is_prose = not is_code and not block.lstrip().startswith(("#", "|", "<", "!"))
            if is_prose and len(block.split()) >= 12:
                yield f"{path.relative_to(root)}:{line + len(block) - len(block.lstrip(chr(10)))}", " ".join(block.split())
            fenced ^= fences % 2 == 1
            content = content if is_code else list_content(block, content)
            line += block.count("\n") + 2


def texts(root):
    """String literals of at least five words in code that is not a test."""
    for path in sources(root):
        if path.stem.endswith(("_test", "_fuzz", "_benchmark")) or path.stem.startswith("test_") or path.stem == "stop_words":
            continue
        code = re.sub(r"^[ \t]*(?://|#).*$", "", path.read_text(encoding="utf-8"), flags=re.M)
        for match in LITERAL.finditer(code):
            text = "".join(LITERAL_PART.findall(match.group()))
            words = re.findall(r"[A-Za-z]{2,}", text)
            if len(words) >= 5 and sum(word.islower() for word in words) * 2 > len(words):
                yield f"{path.relative_to(root)}:{code.count(chr(10), 0, match.start()) + 1}", text


def main():
    if len(sys.argv) < 2 or not sys.argv[1].isdigit():
        print(__doc__.strip())
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 2)
    seed, root = int(sys.argv[1]), pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".").resolve()
    draw = random.Random(seed)
    for title, found, count in (("comments", comments, COMMENTS), ("paragraphs", paragraphs, PARAGRAPHS), ("texts", texts, TEXTS)):
        everything = list(found(root))
        print(f"\n== {count} of {len(everything)} {title}, seed {seed}\n")
        for number, (place, text) in enumerate(draw.sample(everything, count), 1):
            print(f"{number}. {place}\n   {text}")


if __name__ == "__main__":
    main()
