"""dsbulk, the bulk loader, unmodified, from Maven's central repository. Skipped if it cannot be fetched."""
import csv
import json
import shutil
import ssl
import subprocess

import pytest
from cassandra.auth import PlainTextAuthProvider

from conftest import Server, connect
from harness import BUILD, HERE, Results, secured_server

SOURCES = HERE / "dsbulk"
MAIN = "com.datastax.oss.dsbulk.runner.DataStaxBulkLoader"


@pytest.fixture(scope="module")
def results():
    found = Results("dsbulk")
    yield found
    found.write()


@pytest.fixture(scope="module")
def jars(results):
    results.need("java", "mvn")
    folder = BUILD / "dsbulk"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(SOURCES / "pom.xml", folder)
    results.fetch(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"], folder,
                  (SOURCES / "pom.xml").read_text(encoding="utf-8"))
    results.version = next(folder.glob("jars/dsbulk-runner-*.jar")).stem.rsplit("-", 1)[1]
    return f"{folder}/jars/*"


def make_schema(session):
    for statement in (HERE / "schema.cql").read_text(encoding="utf-8").strip().split(";\n"):
        if "vector<" not in statement:  # its driver does not support vectors yet and would reject the whole schema
            session.execute(statement)


@pytest.fixture(scope="module")
def server():
    """A server with the schema that all clients use."""
    server = Server()
    cluster = connect(server)
    server.session = cluster.connect()
    make_schema(server.session)
    yield server
    cluster.shutdown()
    server.close()


def bulk(jars, server, folder, command, *arguments, code=0):
    run = subprocess.run(["java", "-Xmx512m", "-cp", jars, MAIN, command, "-h", server.host, "-port", str(server.port),
                          "-logDir", str(folder / "logs"), "-verbosity", "normal", "--engine.maxConcurrentQueries", "64",
                          "-k", "clients", *arguments], capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == code, run.stdout + run.stderr
    return run.stdout + run.stderr


def written(folder):
    """Returns the unloaded lines, sorted, without the header."""
    rows = []
    for path in sorted(folder.glob("*.csv")):
        with open(path, encoding="utf-8", newline="") as file:
            rows += list(csv.reader(file))[1:]
    return sorted(rows)


@pytest.mark.features("connect", "prepared", "batches", "paging", "token map")
def test_load_and_unload(jars, server, tmp_path):
    rows = [[str(n % 40), str(n), f"value {n}"] for n in range(4000)]
    with open(tmp_path / "rows.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["p", "c", "v"], *rows])
    bulk(jars, server, tmp_path, "load", "-t", "pages", "-url", str(tmp_path / "rows.csv"), "--batch.mode", "PARTITION_KEY")
    assert server.session.execute("SELECT count(*) FROM clients.pages").one().count == 4000
    bulk(jars, server, tmp_path, "unload", "-t", "pages", "-url", str(tmp_path / "out"), "--schema.splits", "8",
         "--driver.basic.request.page-size", "300")
    assert written(tmp_path / "out") == sorted(rows)


@pytest.mark.features("scalars", "absent values")
def test_every_type_goes_out_and_comes_back(jars, server, tmp_path):
    server.session.execute("""INSERT INTO clients.scalars (k, c_ascii, c_bigint, c_blob, c_boolean, c_date, c_decimal,
        c_double, c_duration, c_float, c_inet, c_int, c_smallint, c_text, c_time, c_timestamp, c_timeuuid, c_tinyint, c_uuid,
        c_varint) VALUES ('row', 'a', -9223372036854775808, 0x00ff, true, '1969-07-20', -123.4500, 1.7976931348623157E308,
        1y2mo3d4h5m6s7ns, 0.5, '::1', 2147483647, -32768, 'žluťoučký, "🐎"', '23:59:59.999999999',
        '2011-02-03 04:05:06.789+0000', 50554d6e-29bb-11e5-b345-feff819cdc9f, -128, ffffffff-ffff-ffff-ffff-ffffffffffff,
        -10000000000000000000000000000000000000000)""")
    server.session.execute("INSERT INTO clients.scalars (k, c_int) VALUES ('nearly empty', 1)")
    before = sorted(map(tuple, server.session.execute("SELECT * FROM clients.scalars")))
    bulk(jars, server, tmp_path, "unload", "-t", "scalars", "-url", str(tmp_path / "out"))
    server.session.execute("TRUNCATE clients.scalars")
    bulk(jars, server, tmp_path, "load", "-t", "scalars", "-url", str(tmp_path / "out"))
    assert sorted(map(tuple, server.session.execute("SELECT * FROM clients.scalars"))) == before


@pytest.mark.features("collections", "user types")
def test_json_with_collections_and_user_types(jars, server, tmp_path):
    rows = [{"name": "Ann", "home": {"street": "Elm 1", "zip": 9, "phones": ["+1", "+2"]},
             "others": [{"street": "x", "zip": None, "phones": None}], "pair": [1, "x", None]}]
    (tmp_path / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    bulk(jars, server, tmp_path, "load", "-c", "json", "-t", "people", "-url", str(tmp_path / "rows.json"))
    row = server.session.execute("SELECT home, others, pair FROM clients.people WHERE name = 'Ann'").one()
    assert (row.home.street, row.home.zip, set(row.home.phones)) == ("Elm 1", 9, {"+1", "+2"})
    assert row.others[0].street == "x" and row.pair == (1, "x", None)
    bulk(jars, server, tmp_path, "unload", "-c", "json", "-t", "people", "-url", str(tmp_path / "out"))
    found = [json.loads(line) for path in (tmp_path / "out").glob("*.json") for line in path.read_text("utf-8").splitlines()]
    rows[0]["others"][0]["phones"] = []  # its driver reads a null collection as an empty one
    assert found == rows


@pytest.mark.features("prepared")
def test_times_of_writing_and_to_live(jars, server, tmp_path):
    (tmp_path / "rows.csv").write_text("k,a,t,l\n1,7,2020-09-13T12:26:40Z,5000\n", encoding="utf-8")
    bulk(jars, server, tmp_path, "load", "-url", str(tmp_path / "rows.csv"), "-query",
         "INSERT INTO plain (k, a) VALUES (:k, :a) USING TIMESTAMP :t AND TTL :l")
    bulk(jars, server, tmp_path, "unload", "-url", str(tmp_path / "out"), "-query",
         "SELECT k, writetime(a) AS w, ttl(a) AS l FROM plain WHERE token(k) > :start AND token(k) <= :end")
    [[key, wrote, left]] = written(tmp_path / "out")
    assert key == "1" and wrote == "2020-09-13T12:26:40Z" and 4000 < int(left) <= 5000


@pytest.mark.features("errors")
def test_rows_that_cannot_be_loaded_are_told(jars, server, tmp_path):
    (tmp_path / "rows.csv").write_text("k,a\n1,notanumber\n2,3\n", encoding="utf-8")
    said = bulk(jars, server, tmp_path, "load", "-t", "plain", "-url", str(tmp_path / "rows.csv"),
                "--schema.allowMissingFields", "true", code=1)
    assert "1 errors" in said or "completed with 1" in said, said
    assert server.session.execute("SELECT a FROM clients.plain WHERE k = 2").one().a == 3
    said = bulk(jars, server, tmp_path, "unload", "-query", "SELECT nope FROM plain", "-url", str(tmp_path / "none"), code=3)
    assert "Undefined column name nope" in said, said


@pytest.mark.features("login", "tls")
def test_login_over_tls(jars, tmp_path):
    with secured_server() as (server, known):
        trust = tmp_path / "trust.p12"
        subprocess.run(["keytool", "-importcert", "-noprompt", "-alias", "authority", "-file", known["SIBYL_CA"], "-keystore",
                        str(trust), "-storetype", "PKCS12", "-storepass", "sibyl-test"], check=True, capture_output=True)
        tls = ["--driver.advanced.ssl-engine-factory.class", "DefaultSslEngineFactory",
               "--driver.advanced.ssl-engine-factory.truststore-path", str(trust),
               "--driver.advanced.ssl-engine-factory.truststore-password", "sibyl-test"]
        with connect(server, ssl_context=ssl.create_default_context(cafile=known["SIBYL_CA"]),
                     ssl_options={"server_hostname": server.host},
                     auth_provider=PlainTextAuthProvider(known["SIBYL_USER"], known["SIBYL_PASSWORD"])) as cluster:
            make_schema(cluster.connect())
        user = ["-u", known["SIBYL_USER"], "-p"]
        (tmp_path / "rows.csv").write_text("k,v\na,1\n", encoding="utf-8")
        query = ["-t", "routes_one", "-url", str(tmp_path / "rows.csv")]
        bulk(jars, server, tmp_path, "load", *tls, *user, known["SIBYL_PASSWORD"], *query)
        said = bulk(jars, server, tmp_path, "load", *tls, *user, "wrong", *query, code=3)
        assert "and/or password are incorrect" in said, said
