"""Makes programs of the C++ in the README, in docs and in the comments of public headers, to be compiled and run.

    cpp_snippets.py REPOSITORY FOLDER

A block ```cpp of a page is a whole program. The example in a header's comment, which is indented by three spaces, becomes the
body of main(). Writes one .cc for each into FOLDER, and prints their names.
"""
import pathlib
import re
import sys

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.M | re.S)
EXAMPLE = re.compile(r"(?:^//   .*\n)*^//   .*;$\n(?://   .*\n)*", re.M)
PROGRAM = """#include <sibyl/sibyl.h>

#include <cstdio>

int main() {{
{}}}
"""


def programs(repository):
    """(name, text) of each program."""
    for page in [repository / "README.md", *sorted((repository / "docs").glob("*.md"))]:
        for number, text in enumerate(BLOCK.findall(page.read_text(encoding="utf-8"))):
            yield f"{page.stem}_{number}", text
    for header in sorted((repository / "include" / "sibyl").glob("*.h")):
        for number, text in enumerate(EXAMPLE.findall(header.read_text(encoding="utf-8"))):
            if "auto " in text:  # other indented comments are tables
                yield f"{header.stem}_h_{number}", PROGRAM.format(re.sub(r"^// ", "", text, flags=re.M))


def main(repository, folder):
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for name, text in programs(repository):
        (folder / f"{name}.cc").write_text(text, encoding="utf-8")
        names.append(name)
    if not names:
        sys.exit("no C++ was found in README.md, docs and include/sibyl")
    print(";".join(names), end="")


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:3]))
