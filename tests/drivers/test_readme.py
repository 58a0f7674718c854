"""The first session of README.md: its statements in `sibyl shell`, its Python, and the drawing of its table."""
import re
import subprocess
import sys

from conftest import BINARY, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROMPT = re.compile(r"^sibyl(?::\w+)?> (.*)$")
CONTINUED = re.compile(r"^ +\.\.\.(.*)$")


def blocks(kind=""):
    return [text for found, text in re.findall(r"^```(\w*)\n(.*?)^```$", README, re.M | re.S) if found == kind]


def session():
    """(statement, printed) of each statement of the transcript."""
    steps = []
    [text] = [block for block in blocks() if "sibyl> CREATE KEYSPACE" in block]
    for line in text.splitlines():
        if begun := PROMPT.match(line):
            steps.append([begun[1], []])
        elif steps and (more := CONTINUED.match(line)):
            steps[-1][0] += "\n" + more[1]
        elif steps:
            steps[-1][1].append(line)
    return steps


def words(lines):
    return " ".join(" ".join(lines).split())


def test_the_session_python_and_layout(own_server):
    address, keyspace = f"{own_server.host}:{own_server.port}", []
    steps = session()
    assert len(steps) >= 8
    for statement, printed in steps:
        done = subprocess.run([BINARY, "shell", address, *keyspace, "-e", statement], capture_output=True, text=True,
                              timeout=60, check=False)
        assert words((done.stdout + done.stderr).splitlines()) == words(printed), statement
        if used := re.match(r"USE (\w+);", statement):
            keyspace = ["-k", used[1]]

    [program] = blocks("python")
    program = program.replace('Cluster(["127.0.0.1"])', f'Cluster(["{own_server.host}"], port={own_server.port})')
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout in blocks()

    drawn = subprocess.run([BINARY, "layout", "films.ratings", "--data", own_server.data], capture_output=True, text=True,
                           timeout=60, check=True).stdout
    [expected] = [block for block in blocks() if "sibyl layout films.ratings" in block]
    timestamps = re.compile(r"@\d+")
    assert timestamps.sub("@", drawn) == timestamps.sub("@", expected.split("\n", 1)[1])
