"""Runs the same statements on two servers and compares their answers."""
import re

from known import explain
from tree import ProtocolBatch
from wire import Connection

MAX_PAGES = 200
HINT = re.compile(r" \[hint: .*\]$", re.S)
SIGNATURES = re.compile(r"(?<=known type signatures: ).*(?=\))|(?<=can be matched by following signatures: ).*(?=\))", re.S)
NAMES = re.compile(r"'[^']*'|\bdifferential_[\d_]+|\b[kvcstufa]\d+\b|-?\b\d+(\.\d+)?\b|0x[0-9a-f]*")
UNPREPARED = 0x2500


class Difference:
    def __init__(self, statement, cassandra, sibyl):
        self.statement, self.cassandra, self.sibyl = statement, cassandra, sibyl

    def signature(self):
        """A text that is equal for differences that probably have the same cause."""
        theirs, ours = self.cassandra, self.sibyl
        if theirs.kind != ours.kind or theirs.kind == "error":
            return f"{_sketch(theirs)} / {_sketch(ours)}"
        parts = [name for name in ("columns", "rows", "detail", "warnings") if getattr(theirs, name) != getattr(ours, name)]
        if (theirs.paging_state is None) != (ours.paging_state is None):
            parts.append("paging")
        return f"{theirs.kind} differ in {', '.join(parts)}"

    def changes_state(self):
        """True if the stored data may differ from now on."""
        kinds = {self.cassandra.kind, self.sibyl.kind}
        return kinds != {"error"} and not kinds & {"prepared"} and (self.statement.kind == "write" or kinds == {"rows"})


def _sketch(answer):
    if answer.kind == "error":
        return f"{answer.code:04X} " + SIGNATURES.sub("_", NAMES.sub("_", answer.message))
    return answer.kind + (" with warnings" if answer.warnings else "")


def sort_signatures(message):
    """Sorts a function's signatures, which Cassandra lists in the order of a hash table."""
    return SIGNATURES.sub(lambda match: ", ".join(sorted(re.split(r", (?=\w+\.\w+ :)", match.group()))), message)


class Side:
    """One server and its prepared statements."""

    def __init__(self, address, version):
        self.connection = Connection(address, version)
        self.prepared = {}

    def use(self, keyspace):
        self.prepared = {}
        return self.now(f"USE {keyspace}")

    def now(self, text):
        return self.connection.receive(self.connection.query(text))

    def texts_to_prepare(self, statement):
        parts = statement.parts if isinstance(statement, ProtocolBatch) else [statement]
        return [part.text()[0] for part in parts if part.prepare or (isinstance(statement, ProtocolBatch) and part.bind)]

    def has_prepared(self, statement):
        return all(text in self.prepared for text in self.texts_to_prepare(statement))

    def settle(self, statement, answer, paging_state=None):
        """Prepares again, as drivers do, if a schema change has made the prepared statement unknown."""
        if answer.kind != "error" or answer.code != UNPREPARED:
            return answer
        for text in self.texts_to_prepare(statement):
            again = self.connection.receive(self.connection.prepare(text))
            if again.kind != "prepared":
                return again
            self.prepared[text] = again.prepared_id
        return self.connection.receive(self.send(statement, paging_state))

    def send(self, statement, paging_state=None):
        """Sends the statement and returns a ticket. REQUIRES: has_prepared(statement)."""
        common = dict(timestamp=statement.timestamp, now=statement.now, serial=statement.serial)
        if isinstance(statement, ProtocolBatch):
            parts = []
            for part in statement.parts:
                text, bound = part.text()
                parts.append((self.prepared[text] if part.prepare or part.bind else text, bound or []))
            return self.connection.batch(statement.batch_kind, parts, **common)
        text, bound = statement.text()
        common.update(values=bound, page_size=statement.page_size, paging_state=paging_state)
        if not statement.prepare:
            return self.connection.query(text, **common)
        return self.connection.execute(self.prepared[text], **common)


class Pair:
    """A Cassandra and a Sibyl that run the same statements."""

    def __init__(self, cassandra, sibyl, version):
        self.sides = (Side(cassandra, version), Side(sibyl, version))
        self.asked = self.refused = 0
        self.diverged = False  # only one side accepted a write, for a known reason: the stored data differs from now on
        self.explained = {}

    def close(self):
        for side in self.sides:
            side.connection.close()

    def definition(self, text):
        answers = [side.now(text) for side in self.sides]
        return answers

    def use(self, keyspace):
        for side in self.sides:
            answer = side.use(keyspace)
            assert answer.kind == "keyspace", answer.message

    def without_indexes(self, difference, keyspace):
        """Drops all indexes of Cassandra's keyspace, then returns its answer to a read."""
        side = self.sides[0]
        names = side.now(f"SELECT index_name FROM system_schema.indexes WHERE keyspace_name = '{keyspace}'")
        for (name,) in names.rows:
            side.now(f'DROP INDEX {keyspace}."{name.decode()}"')
        side.use(keyspace)
        text = difference.statement.text()[0]
        text = text if "ALLOW FILTERING" in text else text + " ALLOW FILTERING"
        bound = difference.statement.text()[1]
        return side.connection.receive(side.connection.query(text, values=bound, now=difference.statement.now))

    def run(self, statements):
        """Runs all statements on both servers concurrently. Returns the first difference of each statement that has one."""
        differences = {}
        self._prepare(statements, differences)
        todo = {i: [None, None] for i, statement in enumerate(statements)
                if i not in differences and all(side.has_prepared(statement) for side in self.sides)}
        self.asked += len(statements)
        for page in range(MAX_PAGES):
            tickets = {i: [side.send(statements[i], state) for side, state in zip(self.sides, states)] for i, states in todo.items()}
            for side in self.sides:
                side.connection.flush()
            following, received = {}, {}
            for i, pair in tickets.items():
                answers = [side.connection.receive(ticket) for side, ticket in zip(self.sides, pair)]
                received[i] = answers
            for i, answers in received.items():
                answers = [side.settle(statements[i], answer, state) for side, answer, state in zip(self.sides, answers, todo[i])]
                self.refused += page == 0 and answers[0].kind == "error"
                if self._differ(statements[i], answers):
                    differences[i] = Difference(statements[i], *answers)
                elif all(answer.paging_state is not None for answer in answers):
                    following[i] = [answer.paging_state for answer in answers]
            todo = following
            if not todo:
                break
        return [differences[i] for i in sorted(differences)]

    def _prepare(self, statements, differences):
        wanted = {}
        for i, statement in enumerate(statements):
            for text in self.sides[0].texts_to_prepare(statement):
                if text not in self.sides[0].prepared:
                    wanted.setdefault(text, []).append(i)
        tickets = {text: [side.connection.prepare(text) for side in self.sides] for text in wanted}
        for text, pair in tickets.items():
            answers = [side.connection.receive(ticket) for side, ticket in zip(self.sides, pair)]
            for side, answer in zip(self.sides, answers):
                if answer.kind == "prepared":
                    side.prepared[text] = answer.prepared_id
                self.refused += side is self.sides[0] and answer.kind == "error"
            if self._differ(statements[wanted[text][0]], answers):
                differences[wanted[text][0]] = Difference(statements[wanted[text][0]], *answers)

    def _differ(self, statement, answers):
        cassandra, sibyl = answers
        if sibyl.kind == "error":
            sibyl.message = sort_signatures(HINT.sub("", sibyl.message))
        if cassandra.kind == "error":
            cassandra.message = sort_signatures(cassandra.message)
        if cassandra.kind == sibyl.kind == "error":
            cassandra.warnings = sibyl.warnings = ()  # only the error counts; Cassandra may add a warning, even twice
        if cassandra.key() == sibyl.key():
            return False
        reason = explain(statement, cassandra, sibyl)
        if reason is None:
            return True
        self.explained[reason] = self.explained.get(reason, 0) + 1
        kinds = {cassandra.kind, sibyl.kind}
        self.diverged = self.diverged or statement.kind == "write" and "error" in kinds and kinds & {"void", "rows"} != set()
        return False
