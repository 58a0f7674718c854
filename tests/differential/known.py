"""Intended differences (docs/differences.md), each with its reason. A difference without a row in this table is a bug."""
import re
import struct

DESCENDING = "a descending clustering column keeps its declared type"
ROUTING = "IN (?, ?) on the partition key gives drivers no routing markers"
BATCH_ROUTING = "all routing markers of a batch belong to one statement"
DELETED_STATIC = "a deleted element of a static collection is not found"
TO_JSON = "to_json keeps its name, even if another statement used its other name"
ORDER = "literals in messages are shown as written; Cassandra shows their fields in the order of a hash table"
USE = "Cassandra warns once per connection about USE with prepared statements"

# (reason, pattern for Cassandra's answer, pattern for Sibyl's answer), matched with describe(). {1} is the first group of
# Cassandra's match.
KNOWN = [
    ("bad input is the client's error, not a Java exception", r"^error 0000 (java\.|com\.|org\.|null)", r"^error (2200|1400) "),
    ("Cassandra has an internal failure", r"^error (1300|1500) Operation failed|^error 1100 Operation timed out|^error 0000 java\.lang\.", r""),
    ("an unset value in a tuple is reported with its column", r"^error 2200 Invalid unset value for tuple field number", r"^error 2200 Invalid unset value for"),
    ("Cassandra rejects its own paging state: groups of a table without clustering columns",
     r"^error 000A Invalid value for the paging state", r"^rows"),
    (DESCENDING, r"^error 2200 Cannot use CONTAINS( KEY)? on non-(collection|map) column c\d+", r""),
    (DESCENDING, r"^error 2200 Function system\.\w+ requires .*, but found argument c\d+", r""),
    (DESCENDING, r"^error 2200 .*\bc\d+\.f\d+", r""),
    (DESCENDING, r"^error 2200 Invalid call to function system\.cast_as_\w+, none of its type signatures match", r"^(rows|prepared)"),
    ("the error of an impossible cast names the column", r"^error 2200 \w+ cannot be cast to (\w+)$", r"^error 2200 .* cannot be cast to {1}$"),
    ("a null in IN is also refused in filters; Cassandra ignores the values after it", r"^(rows|error 2200 Unsupported null value for column|error 2200 Cannot page queries with both ORDER BY and a IN)",
     r"^error 2200 Invalid (null|unset) value (in condition )?for column"),
    ("a tuple column does not accept a value without parentheses", r"", r"^error 2200 cannot parse '.*' as frozen<tuple<"),
    (DESCENDING, r"^error 2200 Column c\d+ cannot be used as a map", r"^error 2200 Map-entry equality predicates on frozen map column c\d+"),
    ("bytes that are not a collection are refused with another text", r"^error 2200 Not enough bytes to read a", r"^error 2200 "),
    ("if the key of a conditional write has an IN and a null, the null is reported", r"^error 2200 IN on the clustering key columns is not supported with conditional",
     r"^error 2200 Invalid (null|unset) value"),
    ("with a condition on static columns Cassandra reads only the partition's first row and treats other rows' lists as null",
     r"^error 2200 Attempted to set an element on a list which is null", r"^(rows|error 2200 List index .* out of bound)"),
    ("an empty key is refused even if nothing can match", r"^rows", r"^error 2200 Key may not be empty"),
    ("Cassandra has evicted a prepared statement", r"^error 2500 ", r""),
    ("the size of numbers is limited", r"^rows", r"^error (2200|1400) .*scales are too far apart"),
    ("a slice over several clustering columns is supported", r"^error 2200 Multi-column slice restrictions cannot be used for filtering", r"^rows"),
    ("where Cassandra's parser has backtracked, ours points at the unexpected word", r"^error 2000 ", r"^error 2000 "),
    (DESCENDING, r"^error 2200 the '.' operation is not supported between .*\bc\d+", r""),
    ("an empty range deletes nothing", r"^error 2200 Range deletions are not supported for specific columns", r"^void"),
    ("Cassandra loses a column in the presence of an IN over several columns", r"^error 2200 Invalid unset value for column c\d+$", r"^rows"),
    ("a blob literal is not a tinyint", r"", r"^error 2200 Invalid HEX constant .* of type tinyint$"),
]


def describe(answer):
    """One line: `error 2200 text`, `rows`, `void`..."""
    text = f"error {answer.code:04X} {answer.message}" if answer.kind == "error" else answer.kind
    return text + "".join(f" WARNING {warning}" for warning in answer.warnings)


def explain(statement, cassandra, sibyl):
    """The known reason for the difference of two answers, or None."""
    if cassandra.kind == sibyl.kind == "prepared":
        return explain_prepared(statement, cassandra, sibyl)
    if cassandra.kind == sibyl.kind == "rows":
        if not cassandra.rows and not sibyl.rows and sibyl.paging_state is None and " IN ()" in statement.text()[0]:
            return "if nothing can match, there is no next page"
        if re.search(r"\bs\d+ CONTAINS", statement.text()[0]) and len(cassandra.rows) > len(sibyl.rows) and all(row in cassandra.rows for row in sibyl.rows):
            return DELETED_STATIC
        if re.search(r"\bs\d+ CONTAINS", statement.text()[0]) and len(cassandra.rows) < len(sibyl.rows) and all(row in sibyl.rows for row in cassandra.rows):
            if statement.page_size or " LIMIT " in statement.text()[0]:
                return DELETED_STATIC
            if re.search(r"\bk\d+", statement.text()[0]):
                return "an index on a static column hides no row, even if clustering columns are restricted"
        if re.search(r"^SELECT (JSON )?(count|max|min|sum|avg)\(.*\bs\d+ CONTAINS", statement.text()[0], re.I) and cassandra.rows != sibyl.rows:
            return DELETED_STATIC
        reason = explain_columns(cassandra, sibyl)
        if cassandra.rows != sibyl.rows and (reason or cassandra.columns == sibyl.columns):
            reason = explain_rows(cassandra, sibyl)
        return reason
    refused = re.match(r"error 2200 (?:Invalid call to function system\.cast_as_(\w+), none|\w+ cannot be cast to (\w+))", describe(cassandra))
    if refused and re.search(rf"CAST\(c\d+(\.f\d+)? AS {refused.group(1) or refused.group(2)}\)", statement.text()[0]):
        return DESCENDING
    refused = re.match(r"error 2200 Invalid call to function (?:system\.)?(\w+), none of its type signatures match", describe(cassandra))
    if refused and re.search(r"-c\d+\b" if refused.group(1) == "_negate" else rf"{refused.group(1)}\(c\d+\.f\d+\b", statement.text()[0], re.I):
        return DESCENDING
    conditions = statement.text()[0].rpartition(" IF ")[2]
    refusal = "error 2200 Invalid (comparison with (null|an empty)|'unset' value in condition)"
    nulls = [bool(re.match(refusal, describe(answer))) for answer in (cassandra, sibyl)]
    differ = {cassandra.kind, sibyl.kind} == {"error", "rows"} or all(nulls)
    if any(nulls) and differ and (" AND " in conditions or statement.text()[0].count(" IF ") > 1):
        return "conditions are checked in the order of the statement, not in the order of a hash table"
    if cassandra.kind == sibyl.kind == "error" and sorted(cassandra.message) == sorted(sibyl.message):
        return ORDER
    for reason, theirs, ours in KNOWN:
        match = re.search(theirs, describe(cassandra))
        if match and re.search(ours.replace("{1}", re.escape(match.group(1))) if "{1}" in ours else ours, describe(sibyl)):
            return reason
    return None


def explain_rows(cassandra, sibyl):
    """The known reason for different values, or None."""
    if len(cassandra.columns) != len(sibyl.columns) or len(cassandra.rows) != len(sibyl.rows):
        return None
    if (cassandra.paging_state is None) != (sibyl.paging_state is None):
        return None
    names = [column[2] for column in cassandra.columns]
    reason = None
    for theirs, ours, name in ((a, b, n) for left, right in zip(cassandra.rows, sibyl.rows) for a, b, n in zip(left, right, names)):
        if theirs == ours:
            continue
        if theirs is None or ours is None:
            return None
        if is_nan(theirs) and is_nan(ours):
            reason = "NaN has no sign"
        elif "similarity_" in name and is_near(theirs, ours):
            reason = "similarities are summed in another order"
        elif "log10(" in name and ours[4:].strip(b"\0") and is_same_decimal(theirs, ours):
            reason = "log10 of a power of ten has all its digits"
        elif name == "[json]" and b"log10(" in theirs and re.sub(rb"\.0+(?=[,}])", b"", ours) == re.sub(rb"\.0+(?=[,}])", b"", theirs):
            reason = "log10 of a power of ten has all its digits"
        elif name.startswith(("[json]", "cast(", "system.to")) and shorter_floats(theirs) == shorter_floats(ours):
            reason = "floats are written with the fewest digits that identify them"
        elif name == "[json]" and b"similarity_" in theirs and re.sub(rb"[\d.]+", b"", theirs) == re.sub(rb"[\d.]+", b"", ours):
            reason = "similarities are summed in another order"
        elif name == "[json]" and theirs.replace(b"to_json(", b"tojson(") == ours.replace(b"to_json(", b"tojson("):
            reason = TO_JSON
        elif name.startswith(("[json]", "cast(", "system.to")) and in_years_of_the_era(ours) == theirs:
            reason = "a year before year 1 has a sign"
        elif name == "[json]" and sorted(theirs) == sorted(ours):
            reason = ORDER
        elif name == "[json]" and re.sub(rb"cast\((c\d+) as \w+\)", rb"\1", theirs) == ours:
            reason = DESCENDING
        else:
            return None
    return reason


def is_nan(raw):
    return len(raw) in (4, 8) and struct.unpack(">f" if len(raw) == 4 else ">d", raw)[0] != struct.unpack(">f" if len(raw) == 4 else ">d", raw)[0]


def shorter_floats(text):
    """Rounds floats: Java 17 writes some of them with one digit too many."""
    return re.sub(rb"-?\d\.\d{6,}E-?\d+", lambda match: b"%.6e" % float(match.group()), text)


def in_years_of_the_era(text):
    """Converts years as Cassandra prints them: a year before year 1 without its sign."""
    def era(match):
        year = int(match.group(1))
        return (b"+%d" if year <= -9999 else b"%04d") % (1 - year) + match.group(2) if year <= 0 else match.group()
    return re.sub(rb"(?<![\d-])(-?\d{4,9})(-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d{3}Z)", era, text)


def is_same_decimal(theirs, ours):
    left, right = (int.from_bytes(raw[4:], "big", signed=True) * 10 ** (100 - int.from_bytes(raw[:4], "big", signed=True)) for raw in (theirs, ours))
    return left == right


def is_near(theirs, ours):
    left, right = struct.unpack(">f", theirs)[0], struct.unpack(">f", ours)[0]
    return abs(left - right) <= 1e-5 * max(1, abs(left))


def explain_columns(cassandra, sibyl):
    """The known reason for different columns of equal rows, or None."""
    reason = None
    for theirs, ours in zip(cassandra.columns, sibyl.columns):
        if theirs == ours:
            continue
        if b"LegacyTimeUUIDType" in theirs[3]:
            reason = "the maximum of timeuuids is a timeuuid"
        elif theirs[2].replace("to_json(", "tojson(") == ours[2].replace("to_json(", "tojson(") and theirs[3] == ours[3]:
            reason = TO_JSON
        elif re.fullmatch(rf"cast\({re.escape(ours[2])} as \w+\)", theirs[2]) and theirs[3] == ours[3]:
            reason = DESCENDING
        elif sorted(theirs[2]) == sorted(ours[2]) and theirs[3] == ours[3]:
            reason = ORDER
        else:
            return None
    return reason if len(cassandra.columns) == len(sibyl.columns) else None


def explain_prepared(statement, cassandra, sibyl):
    if cassandra.columns != sibyl.columns:
        return explain_columns(cassandra, sibyl)
    if cassandra.detail[0] != sibyl.detail[0] or cassandra.detail[2] != sibyl.detail[2]:
        return None
    if cassandra.detail[1] != sibyl.detail[1]:
        text = statement.text()[0]
        return ROUTING if not sibyl.detail[1] or " IN (" in text else BATCH_ROUTING if "APPLY BATCH" in text else None
    if any(warning.startswith("`USE <keyspace>`") for warning in cassandra.warnings) and not sibyl.warnings:
        return USE
    return None
