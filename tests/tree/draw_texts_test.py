"""Checks where draw_texts.py finds comments, paragraphs and texts, on files written here."""
import importlib.util
import pathlib

SCRIPT = pathlib.Path(__file__).resolve().parent / "draw_texts.py"
SPEC = importlib.util.spec_from_file_location("draw_texts", SCRIPT)
draw_texts = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(draw_texts)


def write(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def paragraphs(root, page):
    for name in ("README.md", "CONTRIBUTING.md"):
        write(root, name, "")
    write(root, "docs/page.md", page)
    return list(draw_texts.paragraphs(root))


PROSE = "These are more than twelve words of plain prose, which is enough to be drawn."


def test_lines_of_texts_count_comments_and_empty_lines(tmp_path):
    write(tmp_path, "src/a.cc", '// About a.\n#include "b.h"\n\n\n// Two lines\n\n#define X 1\nconst char* a = "one two three four five";\n')
    assert list(draw_texts.texts(tmp_path)) == [("src/a.cc:8", "one two three four five")]


def test_texts_over_several_lines_are_one(tmp_path):
    write(tmp_path, "src/a.cc", '\nauto a = "one two three "\n    "four five six";\n')
    assert list(draw_texts.texts(tmp_path)) == [("src/a.cc:2", "one two three four five six")]


def test_comments_have_their_line_and_their_code(tmp_path):
    write(tmp_path, "src/a.h", "#pragma once\n\n// Returns the sum of\n// all numbers.\nint sum();\nint a;  // one of the numbers\n")
    assert list(draw_texts.comments(tmp_path)) == [
        ("src/a.h:3", "Returns the sum of all numbers.   [int sum();]"),
        ("src/a.h:6", "one of the numbers   [int a;]"),
    ]


def test_indented_code_is_not_prose(tmp_path):
    code = "    sibyl serve --listen 127.0.0.1:9042 --set memory=1GiB and more than twelve words so that it counts\n"
    assert paragraphs(tmp_path, f"{PROSE}\n\n{code}\n{PROSE}\n") == [("docs/page.md:1", PROSE), ("docs/page.md:5", PROSE)]


def test_fenced_code_and_tables_are_not_prose(tmp_path):
    assert paragraphs(tmp_path, f"```\n{PROSE}\n\n{PROSE}\n```\n\n| {PROSE} |\n\n# {PROSE}\n") == []


def test_indented_paragraphs_of_lists_are_prose_and_their_code_is_not(tmp_path):
    page = f"1. {PROSE}\n\n   {PROSE}\n\n        {PROSE}\n\n{PROSE}\n\n    {PROSE}\n"
    assert [place for place, _ in paragraphs(tmp_path, page)] == ["docs/page.md:1", "docs/page.md:3", "docs/page.md:7"]
