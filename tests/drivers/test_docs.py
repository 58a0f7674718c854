"""The examples of pages in docs that no other test runs: functions.md, explain.md, shell.md and the queries of observing.md."""
import re
import subprocess

import pytest
from conftest import BINARY, ROOT

KEYSPACE = "CREATE KEYSPACE {} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}};\n"
FILMS = KEYSPACE.format("films") + """USE films;
CREATE TABLE movies (title text, time timestamp, rating int, PRIMARY KEY (title, time));
INSERT INTO movies (title, time, rating) VALUES ('Pulp Fiction', 1368284297711, 9);
INSERT INTO movies (title, time, rating) VALUES ('Pulp Fiction', 1368284468993, 10);
INSERT INTO movies (title, time, rating) VALUES ('Pulp Fiction', 1368284474188, 6);
"""
SHOP = KEYSPACE.format("shop") + """USE shop;
CREATE TABLE orders (customer int, day int, number int, total int, PRIMARY KEY (customer, day, number))
  WITH CLUSTERING ORDER BY (day DESC, number ASC);
CREATE TABLE visits (site text, hour int, hits counter, PRIMARY KEY (site, hour));
"""
# Of the table of Java and Lua bodies: parameters, result, arguments, and the expected value of each body.
BODIES = [("values list<int>", "int", "[1, 2, 4]", "7"),
          ("state map<text, int>, key text", "map<text, int>", "{'a': 2}, 'b'", "\"{'a': 2, 'b': 1}\""),
          ("l list<text>", "int", "['a', 'b']", "2")]


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def blocks(name, kind=""):
    return [text for found, text in re.findall(r"^```(\w*)\n(.*?)^```$", page(name), re.M | re.S) if found == kind]


def shell(*arguments, folder=None):
    """What `sibyl shell` prints, and its errors."""
    done = subprocess.run([BINARY, "shell", *arguments], capture_output=True, text=True, timeout=60, cwd=folder, check=False)
    return done.stdout, done.stderr


def words(text):
    return " ".join(text.split())


def test_the_functions_are_created_and_give_what_the_page_says():
    example, in_java = blocks("functions.md", "sql")
    setup = KEYSPACE.format("ks") + """CREATE TABLE ks.words (id int PRIMARY KEY, word text);
INSERT INTO ks.words (id, word) VALUES (1, 'a');
INSERT INTO ks.words (id, word) VALUES (2, 'b');
INSERT INTO ks.words (id, word) VALUES (3, 'a');
"""
    printed, errors = shell("--data", ":memory:", "--format", "csv", "-e", setup + example + "SELECT ks.taxed(10.00, 0.19) FROM ks.words LIMIT 1;")
    assert not errors
    assert "{'a': 2, 'b': 1}" in printed and "\n11.90\n" in printed
    printed, errors = shell("--data", ":memory:", "--format", "csv", "-e", setup + "USE ks;\n" + in_java + "SELECT ks.plus(id, 40) FROM ks.words WHERE id = 2;")
    assert not errors and printed.endswith("\n42\n")


@pytest.mark.parametrize("number", range(len(BODIES)))
def test_each_lua_body_that_replaces_a_java_body(number):
    rows = re.findall(r"^\| `[^`]*` \| `([^`]*)` \|$", page("functions.md").split("| Java | Lua |")[1], re.M)
    assert len(rows) == len(BODIES)
    (parameters, result, arguments, expected), body = BODIES[number], rows[number]
    script = KEYSPACE.format("ks") + f"""CREATE FUNCTION ks.f ({parameters}) CALLED ON NULL INPUT RETURNS {result} LANGUAGE lua AS $$ {body} $$;
CREATE TABLE ks.one (k int PRIMARY KEY);
INSERT INTO ks.one (k) VALUES (1);
SELECT ks.f({arguments}) AS r FROM ks.one;
"""
    printed, errors = shell("--data", ":memory:", "--format", "csv", "-e", script)
    assert not errors and printed.splitlines()[-1].startswith(expected), printed


def test_the_explained_statements():
    for block in blocks("explain.md"):
        statement, shown = re.fullmatch(r"> (.*?;)\n(.*)", block, re.S).groups()
        printed, errors = shell("--data", ":memory:", "-e", SHOP + statement)
        assert not errors
        plain = words(printed.replace("|", " ").replace("null", " "))
        for line in shown.splitlines():
            for part in line.replace("|", " ").split("..."):
                assert words(part) in plain, line


def test_the_queries_of_statistics_have_the_columns_of_the_page():
    [block] = [block for block in blocks("observing.md") if "table_statistics" in block]
    examples = re.findall(r"^> (.*?;)\n\n(.*?)\n-", block, re.M | re.S)
    assert len(examples) == 3
    for statement, header in examples:
        printed, errors = shell("--data", ":memory:", "-e", SHOP + statement)
        assert not errors and words(header) == words(printed.strip().splitlines()[0]), statement


def test_the_transcripts_of_the_shell(tmp_path):
    typed, script, drawn = blocks("shell.md")
    (tmp_path / "films.cql").write_text(FILMS, encoding="utf-8")
    assert shell("--data", "data", "-f", "films.cql", folder=tmp_path) == ("", "")

    [statement, shown] = typed.removeprefix("sibyl:films> ").split("\n", 1)
    assert words(shell("--data", "data", "-k", "films", "-e", statement, folder=tmp_path)[1]) == words(shown)

    (tmp_path / "schema.cql").write_text("USE films;" + "\n" * 10 + "SELECT * FROM movies WHERE titl = 'x';", encoding="utf-8")
    command, shown = script.split("\n", 1)
    assert command == "$ sibyl shell -f schema.cql"
    assert words(shell("--data", "data", "-f", "schema.cql", folder=tmp_path)[1]) == words(shown)

    command, shown = drawn.split("\n", 1)
    assert command == "$ sibyl layout films.movies 'Pulp Fiction' --data ./data"
    done = subprocess.run([BINARY, "layout", "films.movies", "Pulp Fiction", "--data", "data"], capture_output=True, text=True,
                          timeout=60, cwd=tmp_path, check=True)
    times = re.compile(r"@\d+")
    assert times.sub("@", done.stdout) == times.sub("@", shown)
