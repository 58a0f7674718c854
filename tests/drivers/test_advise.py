"""`sibyl advise` on a terminal and in pipes: colours only on terminals, lines as wide as the terminal, pictures that are
XML."""
import json
import subprocess
import xml.etree.ElementTree

import pytest

from conftest import BINARY
from terminal import Terminal, plain

MODEL = """
CREATE TABLE people (id uuid PRIMARY KEY, city text, age int);
-- @table people rows=5M
-- @query by_city rate=1/s
SELECT * FROM people WHERE city = ? ALLOW FILTERING;
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.cql"
    path.write_text(MODEL)
    return str(path)


def on_terminal(arguments, environment=None, columns=120):
    with Terminal([BINARY, "advise", *arguments], environment, columns) as terminal:
        assert terminal.wait() == 3
        return terminal.output


def test_colours_are_for_terminals(model):
    coloured = on_terminal([model])
    assert "\x1b[1;31m1 error\x1b[0m" in coloured
    assert "\x1b[" not in on_terminal([model], {"NO_COLOR": "1"})
    piped = subprocess.run([BINARY, "advise", model], capture_output=True, text=True, timeout=60, check=False).stdout
    assert "\x1b[" not in piped
    assert "1 error" in plain(coloured) and "1 error" in piped


def test_formats_have_no_colours_on_a_terminal_either(model):
    assert json.loads(on_terminal(["--format", "json", model]))["verdict"] == "error"
    assert "\x1b[" not in on_terminal(["--format", "markdown", model])


def test_pictures_are_xml(model, tmp_path):
    folder = tmp_path / "some" / "where"
    done = subprocess.run([BINARY, "advise", "--diagrams", str(folder), model], capture_output=True, timeout=60, check=False)
    assert done.returncode == 3, "the findings', drawn or not"
    names = {path.name for path in folder.iterdir()}
    assert names == {"logical.svg", "physical.svg", "spread.svg", "growth.svg", "model.md"}
    for picture in folder.glob("*.svg"):
        assert xml.etree.ElementTree.parse(picture).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_a_directory_that_cannot_be(model):
    done = subprocess.run([BINARY, "advise", "--diagrams", model, model], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 2 and "cannot" in done.stderr
