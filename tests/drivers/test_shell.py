"""`sibyl shell` and `sibyl layout` as people and scripts use them: on a pseudo-terminal, in pipes, with and without a
server."""
import signal
import socket
import subprocess
import uuid

import pytest

from conftest import BINARY
from terminal import Terminal, plain

KEYSPACE = "WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
MOVIES = """
CREATE TABLE movies (title varchar, rating int, time timestamp, PRIMARY KEY (title, time));
INSERT INTO movies (title, time, rating) VALUES ('Pulp Fiction', 1368284297711, 9);
INSERT INTO movies (title, time, rating) VALUES ('Pulp Fiction', 1368284468993, 10);
INSERT INTO movies (title, time, rating) VALUES ('Pulp Fiction', 1368284474188, 6);
INSERT INTO movies (title, time, rating) VALUES ('Futurama', 1368284605867, 5);
INSERT INTO movies (title, time, rating) VALUES ('Futurama', 1368284612339, 8);
INSERT INTO movies (title, time, rating) VALUES ('Futurama', 1368284617643, 10);
"""


def shell(*arguments, text="", code=0):
    """Runs a script; returns standard output and standard error."""
    result = subprocess.run([BINARY, "shell", *arguments], input=text, capture_output=True, text=True, timeout=60,
                            check=False)
    assert result.returncode == code, f"{result.returncode}\n{result.stdout}\n{result.stderr}"
    return result.stdout, result.stderr


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture
def address(server):
    return f"{server.host}:{server.port}"


@pytest.fixture
def keyspace(address):
    name = "shell" + uuid.uuid4().hex[:8]
    shell(address, "-e", f"CREATE KEYSPACE {name} {KEYSPACE}")
    yield name
    shell(address, "-e", f"DROP KEYSPACE {name}")


@pytest.fixture
def movies(address, keyspace):
    shell(address, "-k", keyspace, text=MOVIES)
    return keyspace


@pytest.fixture
def terminal(address, movies, tmp_path):
    """An interactive shell in the keyspace with the movies."""
    environment = {"SIBYL_HISTORY": str(tmp_path / "history"), "LC_ALL": "C.UTF-8"}
    with Terminal([BINARY, "shell", address, "-k", movies], environment) as started:
        started.prompt = f"sibyl:{movies}> "
        started.expect(started.prompt)
        yield started


# --- Scripts


def test_a_statement_on_the_command_line(address, movies):
    out, err = shell(address, "-k", movies, "-e", "SELECT title, rating FROM movies WHERE title = 'Futurama'")
    assert err == ""
    assert out == """
 title    | rating
----------+--------
 Futurama |      5
 Futurama |      8
 Futurama |     10

(3 rows)
"""


def test_several_statements_stop_at_the_first_that_fails(address, movies):
    out, err = shell(address, "-k", movies, "-e", "SELECT nothing FROM movies; SELECT rating FROM movies LIMIT 1", "-e",
                     "SELECT rating FROM movies LIMIT 1", code=1)
    assert out == ""
    assert "InvalidRequest: Undefined column name nothing in table" in err


def test_keep_going(address, movies):
    out, err = shell(address, "-k", movies, "--keep-going", text="SELEC;\nSELECT count(*) FROM movies;\n", code=1)
    assert "(1 rows)" in out
    assert "stdin:1: SyntaxException" in err


def test_errors_of_a_file_name_the_line_and_show_a_caret(address, movies, tmp_path):
    script = tmp_path / "broken.cql"
    script.write_text("-- one statement that works\nSELECT * FROM movies LIMIT 1;\n\nSELECT *\n  FORM movies;\nSELECT 1;")
    out, err = shell(address, "-k", movies, "-f", str(script), code=1)
    assert out.count("rows)") == 1
    assert err.startswith("    FORM movies\n    ^\n" + f"{script}:5: SyntaxException: line 2:2 "), err


def test_batches_and_comments_of_a_script(address, movies):
    out, err = shell(address, "-k", movies, text="""
/* a comment; with a semicolon */
BEGIN BATCH
  INSERT INTO movies (title, time, rating) VALUES ('Alien', 1, 7);
  INSERT INTO movies (title, time, rating) VALUES ('Alien', 2, 8);
APPLY BATCH;
SELECT rating FROM movies WHERE title = 'Alien'  -- the last one needs no semicolon
""")
    assert err == ""
    assert "(2 rows)" in out


def test_formats(address, movies):
    query = "SELECT title, rating FROM movies WHERE title = 'Futurama' LIMIT 2"
    out, _ = shell(address, "-k", movies, "--format", "csv", "-e", query)
    assert out == "title,rating\nFuturama,5\nFuturama,8\n"
    out, _ = shell(address, "-k", movies, "--format", "json", "-e", query)
    assert out == '{"title": "Futurama", "rating": 5}\n{"title": "Futurama", "rating": 8}\n'
    out, _ = shell(address, "-k", movies, "--format", "expanded", "-e", query + ";")
    assert out.startswith("\n@ Row 1\n--------+----------\n title  | Futurama\n rating | 5\n\n@ Row 2\n")


def test_source_and_describe(address, movies, tmp_path):
    script = tmp_path / "it's here.cql"
    script.write_text("SELECT count(*) FROM movies;")
    out, err = shell(address, "-k", movies, text=f"SOURCE '{str(script).replace(chr(39), chr(39) * 2)}'\nDESC TABLES\nDESCRIBE TABLE movies;")
    assert err == ""
    assert " count\n-------\n     6\n\n(1 rows)\n" in out
    assert "\nmovies\n\n" in out
    assert f"\nCREATE TABLE {movies}.movies (\n    title text,\n    time timestamp,\n    rating int,\n" in out


def traced(out):
    assert out.count("Tracing session: ") == 1
    table = out[out.index("Tracing session: "):]
    assert " activity " in table and " source_elapsed " in table
    assert "Execute CQL3 query |" in table and "Parsing SELECT rating" in table and "Request complete |" in table


def test_tracing(address, movies, tmp_path):
    out, err = shell(address, "-k", movies, text="TRACING ON\nSELECT rating FROM movies LIMIT 1;TRACING OFF\nSELECT rating FROM movies;")
    assert err == ""
    traced(out)
    out, err = shell("--data", ":memory:", text="CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};"
                     "CREATE TABLE k.t (k int PRIMARY KEY, rating int);TRACING ON\nSELECT rating FROM k.t;")
    assert err == ""
    traced(out)


def test_results_larger_than_a_page(address, keyspace):
    inserts = "".join(f"INSERT INTO many (k, c) VALUES (1, {i});\n" for i in range(250))
    out, _ = shell(address, "-k", keyspace, text="CREATE TABLE many (k int, c int, PRIMARY KEY (k, c));" + inserts +
                   "PAGING 100\nSELECT c FROM many;")
    rows = [int(line) for line in out.splitlines() if line.strip().isdigit()]
    assert rows == list(range(250))
    assert out.endswith("\n(250 rows)\n")


def test_usage_and_connection_problems_are_status_2(address, tmp_path):
    port = free_port()
    out, err = shell(f"127.0.0.1:{port}", "-e", "SELECT 1", code=2)
    assert out == ""
    assert f"127.0.0.1:{port}" in err and "sibyl serve" in err
    _, err = shell("--no-such-option", code=2)
    assert "--no-such-option" in err
    _, err = shell("nonsense:port", code=2)
    assert "HOST:PORT" in err
    _, err = shell(address, "-f", str(tmp_path / "missing.cql"), code=2)
    assert "missing.cql" in err
    _, err = shell(address, "-k", "no_such_keyspace", "-e", "SELECT 1", code=2)
    assert "no_such_keyspace" in err


# --- At a terminal


def test_statements_of_several_lines(terminal):
    terminal.send("SELECT title, rating FROM movies\n")
    terminal.expect("... ")
    terminal.send("WHERE title = 'Pulp Fiction';\n")
    shown = plain(terminal.expect("(3 rows)"))
    assert " title        | rating\n--------------+--------\n Pulp Fiction |      9\n" in shown
    terminal.expect(terminal.prompt)


def test_values_and_headers_have_colours(terminal):
    terminal.send("SELECT * FROM movies WHERE title = 'Futurama' LIMIT 1;\n")
    shown = terminal.expect("(1 rows)")
    red, cyan, magenta, yellow, green = (f"\x1b[0;1;{code}m" for code in (31, 36, 35, 33, 32))
    for painted in (red + "title", cyan + "time", magenta + "rating", yellow + "Futurama", green + "5"):
        assert painted in shown


def test_no_color(address, movies, tmp_path):
    environment = {"SIBYL_HISTORY": str(tmp_path / "history")}
    with Terminal([BINARY, "shell", address, "-k", movies, "--no-color"], environment) as started:
        started.send("SELECT * FROM movies; exit\n")
        assert "\x1b[0;1;" not in started.expect("(6 rows)")
        assert started.wait() == 0


def test_tab_completes_keywords_tables_and_columns(terminal):
    for typed, added in (("sel", "ect "), ("* from mo", "vies "), ("whe", "re "), ("titl", "e ")):
        terminal.send(typed)
        terminal.expect(typed)
        terminal.send("\t")
        terminal.expect(added)
    terminal.send("= 'Futurama';\n")
    terminal.expect("(3 rows)")


def test_tab_lists_what_is_possible(terminal):
    terminal.send("SELECT * FROM movies WHERE ti")
    terminal.expect("WHERE ti")
    terminal.send("\t")
    assert "time  title" in plain(terminal.expect("title\r\n") + "title")
    terminal.send("\x03")
    terminal.expect(terminal.prompt)


def test_tables_made_in_the_session_are_completed(terminal):
    terminal.send("CREATE TABLE zebra (k int PRIMARY KEY);\n")
    terminal.expect(terminal.prompt)
    terminal.send("DROP TABLE ze")
    terminal.expect("ze")
    terminal.send("\t")
    terminal.expect("bra ")


def test_history_of_this_and_the_last_session(address, movies, tmp_path):
    environment = {"SIBYL_HISTORY": str(tmp_path / "deep" / "history")}
    (tmp_path / "deep").mkdir()
    prompt = f"sibyl:{movies}> "
    with Terminal([BINARY, "shell", address, "-k", movies], environment) as first:
        first.expect(prompt)
        first.send("SELECT rating\n")
        first.expect("... ")
        first.send("FROM movies LIMIT 2;\n")
        first.expect("(2 rows)")
        first.expect(prompt)
        first.send("\x1b[A")
        first.expect("SELECT rating FROM movies LIMIT 2;")
        first.send("\n")
        first.expect("(2 rows)")
        first.expect(prompt)
        first.send("\x04")
        assert first.wait() == 0
    with Terminal([BINARY, "shell", address, "-k", movies], environment) as second:
        second.expect(prompt)
        second.send("\x1b[A")
        second.expect("SELECT rating FROM movies LIMIT 2;")
        second.send("\n")
        second.expect("(2 rows)")


def test_errors_show_a_caret(terminal):
    terminal.send("SELECT * FORM movies;\n")
    shown = plain(terminal.expect(terminal.prompt))
    assert "\n  SELECT * FORM movies\n           ^\nSyntaxException: line 1:9 " in shown


def test_control_c_drops_the_input_and_control_d_leaves(terminal):
    terminal.send("SELECT nonsense\n")
    terminal.expect("... ")
    terminal.send("more nonsense\x03")
    terminal.expect("^C")
    terminal.expect(terminal.prompt)
    terminal.send("SELECT count(*) FROM movies;\n")
    terminal.expect("(1 rows)")
    terminal.expect(terminal.prompt)
    terminal.send("\x04")
    assert terminal.wait() == 0


def test_expand_and_other_settings(terminal):
    for typed, answer in (("expand on", "EXPAND set to ON"), ("consistency quorum;", "Consistency level set to QUORUM."),
                          ("tracing on", "TRACING set to ON"), ("paging 2", "Page size: 2"), ("show host", "Connected to")):
        terminal.send(typed + "\n")
        terminal.expect(answer)
        terminal.expect(terminal.prompt)
    terminal.send("SELECT title FROM movies WHERE title = 'Futurama';\n")
    assert "@ Row 1\n-------+----------\n title | Futurama\n" in plain(terminal.expect("---MORE---"))
    terminal.send(" ")
    assert "@ Row 3\n" in plain(terminal.expect("(3 rows)"))


def test_pages_wait_and_stop(terminal):
    terminal.send("PAGING 2\n")
    terminal.expect("Page size: 2")
    terminal.send("SELECT rating FROM movies;\n")
    terminal.expect("---MORE---")
    terminal.send(" ")
    terminal.expect("---MORE---")
    terminal.send("q")
    assert "rows)" not in terminal.expect(terminal.prompt)


def test_use_changes_the_prompt(terminal):
    terminal.send("USE system;\n")
    terminal.expect("sibyl:system> ")


def test_wide_and_combining_characters_are_aligned(terminal):
    terminal.send("INSERT INTO movies (title, time, rating) VALUES ('東京物語', 1, 9);\n")
    terminal.expect(terminal.prompt)
    terminal.send("INSERT INTO movies (title, time, rating) VALUES ('Ame\u0301lie', 1, 8);\n")
    terminal.expect(terminal.prompt)
    terminal.send("SELECT title, rating FROM movies WHERE title IN ('東京物語', 'Ame\u0301lie');\n")
    shown = plain(terminal.expect("(2 rows)"))
    assert "\n 東京物語 |      9\n" in shown
    assert "\n   Ame\u0301lie |      8\n" in shown


def test_control_characters_of_data_do_not_reach_the_terminal(address, movies, terminal):
    shell(address, "-k", movies, text="INSERT INTO movies (title, time, rating) VALUES ('\x1b[41m', 1, 9);")
    terminal.send("SELECT title FROM movies;\n")
    shown = terminal.expect("rows)")
    assert "\x1b[41m" not in shown and "\\x1b[41m" in plain(shown)


def interrupt(terminal, answer, attempts=4):
    """Sends Ctrl-C. It is only noticed once the shell waits for the response, which is not visible on the screen. The wait for the
    answer is long, because a second signal would end the shell."""
    terminal.wait_until_released()
    for _ in range(attempts):
        terminal.send("\x03")
        try:
            return terminal.expect(answer, seconds=20)
        except AssertionError:
            pass
    raise AssertionError(f"no {answer!r}")


def test_control_c_twice_leaves_a_statement_without_an_answer(own_server, tmp_path):
    address = f"{own_server.host}:{own_server.port}"
    with Terminal([BINARY, "shell", address], {"SIBYL_HISTORY": str(tmp_path / "history")}) as started:
        started.expect("sibyl> ")
        own_server.process.send_signal(signal.SIGSTOP)
        try:
            started.send("SELECT * FROM system.local;\n")
            started.expect("SELECT * FROM system.local;\r\n")
            interrupt(started, "Ctrl-C again leaves the shell.")
            started.send("\x03")
            assert started.wait() == -signal.SIGINT
        finally:
            own_server.process.send_signal(signal.SIGCONT)


def test_a_restarted_server_is_connected_again(own_server, tmp_path):
    address = f"{own_server.host}:{own_server.port}"
    shell(address, "-e", f"CREATE KEYSPACE films {KEYSPACE}")
    shell(address, "-k", "films", text=MOVIES)
    with Terminal([BINARY, "shell", address, "-k", "films"], {"SIBYL_HISTORY": str(tmp_path / "history")}) as started:
        started.expect("sibyl:films> ")
        own_server.stop()
        own_server.start()  # on the same port
        started.send("SELECT count(*) FROM movies;\n")
        started.expect("(1 rows)")
        started.expect("sibyl:films> ")
        own_server.stop()
        started.send("SELECT count(*) FROM movies;\n")
        refused = plain(started.expect("sibyl:films> "))
        assert address in refused and "sibyl serve" in refused
        own_server.start()
        started.send("SELECT count(*) FROM movies;\n")
        started.expect("(1 rows)")


# --- Without a server


def test_embedded_on_a_directory(tmp_path):
    data = str(tmp_path / "data")
    shell("--data", data, text=f"CREATE KEYSPACE films {KEYSPACE}; USE films; {MOVIES}")
    out, err = shell("--data", data, "-k", "films", "-e", "SELECT count(*) FROM movies; DESCRIBE KEYSPACES")
    assert err == ""
    assert " count\n-------\n     6\n" in out
    assert "films" in out


def test_embedded_in_memory(tmp_path):
    environment = {"SIBYL_HISTORY": str(tmp_path / "history")}
    with Terminal([BINARY, "shell", "--data", ":memory:"], environment) as started:
        started.expect("sibyl> ")
        started.send(f"CREATE KEYSPACE films {KEYSPACE};\n")
        started.expect("sibyl> ")
        started.send("USE films;\n")
        started.expect("sibyl:films> ")
        started.send("SELECT * FORM t;\n")
        assert "  SELECT * FORM t\n           ^\n" in plain(started.expect("sibyl:films> "))
        started.send("exit\n")
        assert started.wait() == 0


def test_a_directory_in_use_is_refused(own_server):
    _, err = shell("--data", own_server.data, "-e", "SELECT 1", code=2)
    assert own_server.data in err
    assert "sibyl shell HOST:PORT" in err


# --- The layout on disk


def layout(*arguments, code=0):
    result = subprocess.run([BINARY, "layout", *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == code, f"{result.returncode}\n{result.stdout}\n{result.stderr}"
    return result.stdout + result.stderr


@pytest.fixture
def wide_rows(tmp_path):
    """The movie ratings and the phone book of the data modelling guide."""
    data = str(tmp_path / "data")
    shell("--data", data, text=f"CREATE KEYSPACE films {KEYSPACE}; USE films; {MOVIES}" + """
CREATE TABLE people (company text, name text, field_name text, field_value text,
                     PRIMARY KEY (company, name, field_name));
INSERT INTO people (company, name, field_name, field_value) VALUES ('Company A', 'John Smith', 'phone', '+1 123 456 789');
INSERT INTO people (company, name, field_name, field_value) VALUES ('Company A', 'John Smith', 'address', 'Sunny Boulevard 154');
INSERT INTO people (company, name, field_name, field_value) VALUES ('Company A', 'Jane Anderson', 'phone', '+1 675 434 44 55');
INSERT INTO people (company, name, field_name, field_value) VALUES ('Company B', 'Nick Jumbo', 'phone', '+1 314 568 133');
INSERT INTO people (company, name, field_name, field_value) VALUES ('Company B', 'Andrew Hoe', 'phone', '+1 853 235 382');
INSERT INTO people (company, name, field_name, field_value) VALUES ('Company B', 'Jeffrey May', 'address', 'Strange Loop 382');
""")
    return data


def in_order(text, *parts):
    at = 0
    for part in parts:
        found = text.find(part, at)
        assert found >= 0, f"{part!r} is not where it should be in\n{text}"
        at = found + len(part)


def test_layout_of_the_movie_ratings(wide_rows):
    drawn = layout("films.movies", "--data", wide_rows, "--width", "120")
    pulp = drawn[drawn.find('1368284297711:"rating"'):]
    in_order(pulp, '1368284297711:"rating"', '1368284468993:"rating"', '1368284474188:"rating"', "Pulp Fiction", "9", "10", "6")
    futurama = drawn[drawn.find('1368284605867:"rating"'):]
    in_order(futurama, '1368284605867:"rating"', '1368284612339:"rating"', '1368284617643:"rating"', "Futurama", "5", "8", "10")
    in_order(drawn, "row key", "columns")


def test_layout_of_one_partition(wide_rows):
    drawn = layout("films.movies", "Futurama", "--data", wide_rows)
    assert "Futurama" in drawn and "Pulp Fiction" not in drawn


def test_layout_of_the_phone_book(wide_rows):
    drawn = layout("films.people", "--data", wide_rows, "--width", "160")
    # The clustering columns sort the cells: Jane before John, address before phone.
    company_a = drawn[drawn.find('"Jane Anderson"'):]
    in_order(company_a, '"Jane Anderson":"phone"', '"John Smith":"address"', '"John Smith":"phone"', "Company A",
             "+1 675 434 44 55", "Sunny Boulevard 154", "+1 123 456 789")
    company_b = drawn[drawn.find('"Andrew Hoe"'):]
    in_order(company_b, '"Andrew Hoe":"phone"', '"Jeffrey May":"address"', '"Nick Jumbo":"phone"', "Company B",
             "+1 853 235 382", "Strange Loop 382", "+1 314 568 133")


def test_layout_refusals(wide_rows, own_server, tmp_path):
    assert "KEYSPACE.TABLE" in layout("movies", "--data", wide_rows, code=2)
    assert "nothing" in layout("films.nothing", "--data", wide_rows, code=1)
    assert "there is no data" in layout("films.movies", "--data", str(tmp_path / "nowhere"), code=2)


def test_layout_on_a_running_server(own_server):
    address = f"{own_server.host}:{own_server.port}"
    shell("--host", address, text=f"CREATE KEYSPACE films {KEYSPACE}; USE films;" + """
CREATE TABLE visits (site text, day int, at int, who text, PRIMARY KEY ((site, day), at));
INSERT INTO visits (site, day, at, who) VALUES ('a, b', 1, 10, 'Ann');
INSERT INTO visits (site, day, at, who) VALUES ('a, b', 2, 11, 'Ben');
""")
    whole = layout("films.visits", "--data", own_server.data)
    assert "Ann" in whole and "Ben" in whole
    one = layout("films.visits", "'a, b', 2", "--data", own_server.data)
    assert "Ann" not in one
    in_order(one, '11:"who"', "Ben")
    assert "nothing" in layout("films.nothing", "--data", own_server.data, code=1)
    assert "has 2 components" in layout("films.visits", "'a'", "--data", own_server.data, code=1)


# --- Errors and COPY over the network


def test_carets_of_refused_statements(address, movies):
    _, err = shell("--host", address, "-k", movies, "-e", "SELECT title,\n  stars FROM movies", code=1)
    in_order(err, "  stars FROM movies", "^", "Undefined column name stars")


def test_copy_in_the_shell(address, movies, tmp_path):
    file = tmp_path / "it's.csv"
    quoted = str(file).replace("'", "''")
    shell(address, "-k", movies, text=f"COPY movies (title, time, rating) TO '{quoted}' WITH HEADER = true;")
    lines = file.read_text().splitlines()
    assert lines[0] == "title,time,rating" and len(lines) == 7
    shell(address, "-k", movies, text=f"TRUNCATE movies; COPY movies (title, time, rating) FROM '{quoted}' WITH HEADER = true;")
    out, _ = shell(address, "-k", movies, "--format", "csv", "-e", "SELECT count(*) FROM movies")
    assert "6" in out
    _, err = shell(address, "-k", movies, text="COPY movies FROM '/nowhere.csv';", code=1)
    assert "/nowhere.csv" in err
