#!/usr/bin/env python3
"""Finds free functions that are not defined in the .cc named after the header that declares them.

Usage: function_homes.py [ROOT] prints them. The parser is approximate: it reads namespaces, braces and
statements, which is enough for formatted code. What it does not understand it leaves out.
"""
import collections
import pathlib
import re
import sys

LITERAL = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace(?:\s+([\w:]+))?\s*$")
NOT_A_FUNCTION = re.compile(r"\b(?:using|typedef|class|struct|union|enum|template|inline|constexpr|consteval|static|extern|friend|operator|requires|return)\b")
NAME = re.compile(r"([\w:~]+)\s*\($")
ATTRIBUTE = re.compile(r"\[\[.*?\]\]")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def plain(text):
    """The text without comments, literals and directives; lines stay where they are."""
    # A literal may contain the beginning of a comment, and a comment a quote, so both are read in one pass.
    both = re.compile(f"(?P<comment>{COMMENT.pattern})|{LITERAL.pattern.replace(chr(92) + '1', chr(92) + '2')}", re.S)
    return DIRECTIVE.sub(blank, both.sub(lambda match: blank(match) if match.group("comment") else '""' + "\n" * match.group().count("\n"), text))


def statements(text):
    """Yields (namespace, words before the end, ending, line) for each statement at namespace scope; the ending is ';' or '{'."""
    text, scopes, begin, at = plain(text), [], 0, 0
    while at < len(text):
        char = text[at]
        if char in ";{}":
            words = text[begin:at].strip()
            line = text.count("\n", 0, at - len(text[begin:at].lstrip())) + 1
            if char == "}":
                if scopes:
                    scopes.pop()
            elif char == "{" and (space := NAMESPACE.search(words)):
                scopes.append(space.group(1) or "")
            else:
                yield scopes[:], words, char, line
                if char == "{":
                    at = end_of_block(text, at)
            begin = at + 1
        at += 1


def end_of_block(text, at):
    depth = 0
    for end in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return end
    return len(text)


def function_name(scopes, words):
    """The qualified name of the free function that the words declare; None if they declare something else."""
    words = ATTRIBUTE.sub("", words)
    if NOT_A_FUNCTION.search(words.split("(", 1)[0]) or "=" in words.split("(", 1)[0]:
        return None
    found = NAME.search(words.split("(", 1)[0].strip() + "(")
    if not found or not words[: found.start()].strip() or "" in scopes or not words.rstrip().endswith((")", "noexcept", "const")):
        return None
    name = found.group(1)
    return None if "::" in name else "::".join([*scopes, name])


def functions(path, ending):
    """Names of the free functions that the file declares (';') or defines ('{') → their first line."""
    found = {}
    for scopes, words, end, line in statements(path.read_text(encoding="utf-8")):
        name = function_name(scopes, words) if end == ending else None
        if name:
            found.setdefault(name, line)
    return found


def misplaced(root):
    """Returns `file:line: name belongs in file` for each."""
    declared = collections.defaultdict(set)
    files = sorted(path for top in ("src", "apps") for path in (root / top).glob("**/*") if path.suffix in (".h", ".cc"))
    is_test = lambda path: path.stem.endswith(("_test", "_fuzz", "_benchmark")) or path.stem.startswith("test_") or path.stem in ("conformance",)
    for path in files:
        if path.suffix == ".h" and not is_test(path):
            for name in functions(path, ";"):
                declared[name].add(path.with_suffix(".cc"))
    problems = []
    for path in files:
        if path.suffix == ".cc" and not is_test(path):
            for name, line in functions(path, "{").items():
                homes = declared.get(name, set())
                if homes and path not in homes:
                    where = " or ".join(sorted(str(home.relative_to(root)) for home in homes))
                    problems.append(f"{path.relative_to(root)}:{line}: {name.split('::')[-1]} belongs in {where}")
    return problems


if __name__ == "__main__":
    print("\n".join(misplaced(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())))
