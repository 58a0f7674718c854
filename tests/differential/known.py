"""Differences that are meant (docs/differences.md), each with its reason. What is in no row of this table is a bug."""
import re

# (reason, what Cassandra's answer looks like, what Sibyl's answer looks like): patterns searched in `describe()`.
KNOWN = [
]


def describe(answer):
    """One line: `error 2200 text`, `rows`, `void`..."""
    return f"error {answer.code:04X} {answer.message}" if answer.kind == "error" else answer.kind


def explain(statement, cassandra, sibyl):
    """The reason why these two differ, or None."""
    for reason, theirs, ours in KNOWN:
        if re.search(theirs, describe(cassandra)) and re.search(ours, describe(sibyl)):
            return reason
    return None
