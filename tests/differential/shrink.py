"""Reduces a difference: first the statements before it, then the parts of each statement."""
import itertools
import re
import time

from schema import Schema

SECONDS = 90  # time limit for one difference
_numbers = itertools.count()


class Shrinker:
    """REQUIRES: `pair` uses a keyspace in which the difference occurs."""

    def __init__(self, pair, schema, keyspace):
        self.pair, self.schema, self.keyspace = pair, schema, keyspace
        self.deadline = time.monotonic() + SECONDS

    def shrink(self, history, difference):
        """Returns (statements, difference), as small as the time allows. Returns (None, difference) if it cannot be
        reproduced, or if `history`, the writes before it, is None."""
        wanted = difference.signature()
        last = difference.statement
        if last.kind == "read":
            difference = self.simpler_read(difference)
            last = difference.statement
        if history is None:
            return None, difference
        self._keep_one_table(last)
        history = [statement for statement in history if self._mentions(statement)]
        holds = lambda statements: self._holds(statements, wanted)
        if holds([last]):
            statements = [last]
        elif holds(history + [last]):
            statements = self._fewer(history, last, holds) + [last]
        else:
            return None, difference
        return self._simpler(statements, holds), difference

    def _keep_one_table(self, last):
        """Removes unused tables: most differences need one table, and definitions take most of the time."""
        used = [table for table in self.schema.tables if re.search(rf"\b{table.name}\b", last.text()[0])]
        if used:
            self.schema = Schema(self.schema.udts, used, self.schema.indexes)

    def _mentions(self, statement):
        return any(re.search(rf"\b{table.name}\b", statement.text()[0]) for table in self.schema.tables)

    def replay(self, statements):
        """Runs the statements one by one in a new keyspace. Returns the difference of the last one, or None."""
        name = f"{self.keyspace}_{next(_numbers)}"
        create(self.pair, name, self.schema)
        try:
            for statement in statements[:-1]:
                self.pair.run([statement])
            found = self.pair.run(statements[-1:])
            return found[0] if found else None
        finally:
            self.pair.definition(f"DROP KEYSPACE {name}")

    def _holds(self, statements, wanted):
        if time.monotonic() > self.deadline:
            return False
        found = self.replay(statements)
        return found is not None and found.signature() == wanted

    def simpler_read(self, difference):
        """Reduces a read without replaying: it changes nothing, so it can run again in the same keyspace."""
        wanted, progress = difference.signature(), True
        while progress:
            progress = False
            for less in difference.statement.variants():
                found = self.pair.run([less])
                if found and found[0].signature() == wanted:
                    difference, progress = found[0], True
                    break
        return difference

    def _fewer(self, history, last, holds):
        size = max(1, len(history) // 2)
        while history:
            at = 0
            while at < len(history):
                rest = history[:at] + history[at + size:]
                if holds(rest + [last]):
                    history = rest
                else:
                    at += size
            if size == 1:
                break
            size //= 2
        return history

    def _simpler(self, statements, holds):
        at = len(statements) - 1
        if statements[at].kind == "read":
            at -= 1
        while at >= 0:
            for less in statements[at].variants():
                candidate = statements[:at] + [less] + statements[at + 1:]
                if holds(candidate):
                    statements = candidate
                    break
            else:
                at -= 1
        return statements


def create(pair, keyspace, schema):
    """Creates the same keyspace on both sides. Returns the definitions that failed or gave different answers."""
    pair.definition(f"DROP KEYSPACE IF EXISTS {keyspace}")
    pair.definition(f"CREATE KEYSPACE {keyspace} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}")
    pair.use(keyspace)
    differing = []
    for text in schema.create():
        answers = pair.definition(text)
        if answers[0].key() != answers[1].key() or answers[0].kind == "error":
            differing.append((text, answers))
    return differing
