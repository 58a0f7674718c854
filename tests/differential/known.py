"""Differences that are meant (docs/differences.md), each with its reason. What is in no row of this table is a bug."""
import re

# (reason, what Cassandra answers, what Sibyl answers): patterns for `describe()`. In the second, {1} is what the first caught.
KNOWN = [
    ("Cassandra warns once per connection of USE with prepared statements", r"^prepared WARNING `USE <keyspace>` with", r"^prepared$"),
    ("bad input is the client's error, not a Java exception", r"^error 0000 (java\.|com\.|org\.|null)", r"^error (2200|1400) "),
    ("Cassandra fails inside itself", r"^error (1300|1500) Operation failed", r""),
    ("a collection in a descending clustering column is a collection", r"^error 2200 Cannot use CONTAINS( KEY)? on non-collection column", r""),
    ("a collection in a descending clustering column is a collection", r"^error 2200 Function system\.collection_\w+ requires .* but found argument c\d",
     r""),
    ("a tuple column takes no plain value", r"^error 2200 (Unable to make|Invalid|Unable to coerce|Cannot|unable) ?.*", r"^error 2200 cannot parse '.*' as frozen<tuple<"),
    ("a cast that cannot be names the column that is cast", r"^error 2200 \w+ cannot be cast to (\w+)$", r"^error 2200 .* cannot be cast to {1}$"),
]


def describe(answer):
    """One line: `error 2200 text`, `rows`, `void`..."""
    text = f"error {answer.code:04X} {answer.message}" if answer.kind == "error" else answer.kind
    return text + "".join(f" WARNING {warning}" for warning in answer.warnings)


def explain(statement, cassandra, sibyl):
    """The reason why these two differ, or None."""
    if cassandra.kind == sibyl.kind == "prepared":
        return explain_prepared(cassandra, sibyl)
    if cassandra.kind == sibyl.kind == "rows" and cassandra.rows == sibyl.rows and json_names(cassandra) == json_names(sibyl):
        return "to_json keeps its name, whatever name another statement called it by"
    refused_cast = re.match(r"^error 2200 Invalid call to function system\.cast_as_(\w+), none", describe(cassandra))
    if refused_cast and re.search(rf"CAST\(c\d AS {refused_cast.group(1)}\)", statement.text()[0]):
        return "a cast of a descending clustering column to its own type is nothing"
    if cassandra.kind == sibyl.kind == "error" and sorted(cassandra.message) == sorted(sibyl.message):
        return "a literal in an error text stands as it was written, Cassandra has its fields in the order of a hash table"
    for reason, theirs, ours in KNOWN:
        match = re.search(theirs, describe(cassandra))
        if match and re.search(ours.replace("{1}", re.escape(match.group(1))) if "{1}" in ours else ours, describe(sibyl)):
            return reason
    return None


def json_names(answer):
    return [(*column[:2], column[2].replace("to_json(", "tojson("), column[3]) for column in answer.columns]


def explain_prepared(cassandra, sibyl):
    if cassandra.columns != sibyl.columns and json_names(cassandra) == json_names(sibyl):
        return "to_json keeps its name, whatever name another statement called it by"
    if cassandra.columns != sibyl.columns or cassandra.detail[0] != sibyl.detail[0] or cassandra.detail[2] != sibyl.detail[2]:
        return None
    if cassandra.detail[1] != sibyl.detail[1]:
        # One of several IN values, or of several statements' keys, does not say where a request belongs.
        return "IN (?, ?) on the partition key gives drivers no routing markers" if not sibyl.detail[1] else None
    if any(warning.startswith("`USE <keyspace>`") for warning in cassandra.warnings) and not sibyl.warnings:
        return "Cassandra warns once per connection of USE with prepared statements"
    return None
