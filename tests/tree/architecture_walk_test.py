"""docs/architecture.md walks an INSERT and a SELECT through the tree: its files and functions exist."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECTION = "## One prepared INSERT and one SELECT page, step by step"
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"^(src|apps|include)/[\w/]+\.(h|cc)$")


def steps(page):
    """The list items of the section, each with all of its lines in one string."""
    section = page.split(SECTION, 1)[1].split("\n## ", 1)[0]
    items = [item.split("\n\n")[0] for item in re.split(r"\n(?=(?:\d+\.|-) )", section)]
    return [item for item in items if re.match(r"(\d+\.|-) ", item)]


def problems(root, page):
    found = []
    for item in steps(page):
        names = CODE.findall(item)
        paths = [name for name in names if PATH.match(name)]
        if len(paths) != 1:
            found.append(f"names {len(paths)} files instead of one: {item[:80]}")
            continue
        path = root / paths[0]
        if not path.is_file():
            found.append(f"{paths[0]} does not exist")
            continue
        text = path.read_text(encoding="utf-8")
        functions = [name.removesuffix("()") for name in names if not PATH.match(name)]
        if not functions:
            found.append(f"names no function: {item[:80]}")
        found += [f"{paths[0]} has no `{name}`" for name in functions if not re.search(rf"\b{re.escape(name.split('::')[-1])}\b", text)]
    return found


def test_files_and_functions_of_the_walk_exist():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    assert len(steps(page)) >= 12
    assert problems(ROOT, page) == []


def test_a_renamed_file_and_a_renamed_function_are_found():
    page = f"{SECTION}\n\n1. `src/base/gone.cc`: `contain`\n2. `src/base/contain.h`: `no_such_function`\n\n## Next\n"
    assert problems(ROOT, page) == ["src/base/gone.cc does not exist", "src/base/contain.h has no `no_such_function`"]
