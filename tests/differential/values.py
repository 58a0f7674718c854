"""Types and values. Every value has two forms: a CQL literal, and the bytes that a driver would bind."""
import datetime
import ipaddress
import struct
import uuid

from wire import UNSET


# Bytes that must not be bound: Cassandra keeps the order of a bound frozen set or map, Sibyl sorts it.
LITERAL_ONLY = object()


class Value:
    """`literal` is None for values that can only be bound (unset, empty)."""

    __slots__ = ("literal", "raw")

    def __init__(self, literal, raw):
        self.literal, self.raw = literal, raw

    def __repr__(self):
        return f"Value({self.literal})"


NULL = Value("null", None)
NOT_SET = Value(None, UNSET)
EMPTY = Value(None, b"")


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def varint_bytes(number):
    return number.to_bytes((number + (number < 0)).bit_length() // 8 + 1, "big", signed=True)


def vint(number):
    """Zigzag, then Cassandra's variable length: the first byte's leading ones count the bytes that follow."""
    value = (number << 1) ^ (number >> 63) if number < 0 else number << 1
    extra = next(n for n in range(9) if n == 8 or value < 1 << (7 * (n + 1)))
    if extra == 8:
        return b"\xff" + value.to_bytes(8, "big")
    raw = bytearray(value.to_bytes(extra + 1, "big"))
    raw[0] |= (0xFF << (8 - extra)) & 0xFF
    return bytes(raw)


def integers(size, numbers):
    return [Value(str(n), n.to_bytes(size, "big", signed=True)) for n in numbers]


def decimal(text, unscaled, scale):
    return Value(text, struct.pack(">i", scale) + varint_bytes(unscaled))


def time_of(text, nanos):
    return Value(quote(text), struct.pack(">q", nanos))


def date_of(text):
    days = (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days
    return Value(quote(text), struct.pack(">I", days + 2**31))


def duration(text, months, days, nanos):
    return Value(text, vint(months) + vint(days) + vint(nanos))


def timestamp(text, millis):
    return Value(text, struct.pack(">q", millis))


def uuid_of(text):
    return Value(text, uuid.UUID(text).bytes)


def inet(text):
    return Value(quote(text), ipaddress.ip_address(text).packed)


def texts(words, encoding="utf-8"):
    return [Value(quote(word), word.encode(encoding)) for word in words]


# Few values of each type, so that they repeat: limits, neighbours, and spellings that compare equal.
SCALARS = {
    "ascii": texts(["a", "b", "", "Zz", "a b", "~"], "ascii"),
    "bigint": integers(8, [0, 1, 2, -1, 3, 10**12, 2**63 - 1, -2**63]),
    "blob": [Value("0x" + raw.hex(), raw) for raw in (b"\x00", b"\x01", b"", b"\xff\x00", b"ab")],
    "boolean": [Value("true", b"\x01"), Value("false", b"\x00")],
    "date": [date_of(t) for t in ("1970-01-01", "1969-12-31", "2024-02-29", "0001-01-01")],
    # No two are equal with different spellings: Cassandra distinguishes 1.0 from 1.00 in sets and CONTAINS, but not elsewhere.
    "decimal": [decimal("0", 0, 0), decimal("1.0", 10, 1), decimal("-2.5", -25, 1),
                decimal("1e3", 1, -3), decimal("3", 3, 0), decimal("0.1", 1, 1)],
    "double": [Value(t, struct.pack(">d", float(t))) for t in ("0.0", "1.5", "-1.5", "2.0", "1e10", "NaN", "Infinity", "-0.0")],
    "duration": [duration("1d", 0, 1, 0), duration("1mo", 1, 0, 0), duration("2h", 0, 0, 7200 * 10**9), duration("-1d", 0, -1, 0),
                 duration("1y2mo3d4h5m6s7ms8us9ns", 14, 3, 14706007008009)],
    "float": [Value(t, struct.pack(">f", float(t))) for t in ("0.0", "1.5", "-1.5", "2.0", "3.25", "NaN", "-Infinity")],
    "inet": [inet(t) for t in ("127.0.0.1", "10.0.0.1", "::1", "fe80::1", "255.255.255.255")],
    "int": integers(4, [0, 1, 2, 3, -1, 7, 2**31 - 1, -2**31]),
    "smallint": integers(2, [0, 1, 2, -1, 32767, -32768]),
    "text": texts(["", "a", "b", "ab", "B", "é", "it's", "日本", "\U0001f600"]),
    "time": [time_of("00:00:00", 0), time_of("12:30:00.5", 45000500000000), time_of("23:59:59.999999999", 86399999999999)],
    "timestamp": [timestamp("0", 0), timestamp("1000", 1000), timestamp("-1", -1), timestamp("'2024-02-29T12:00:00Z'", 1709208000000),
                  timestamp("'2020-01-01 00:00:00.123+0000'", 1577836800123)],
    "timeuuid": [uuid_of(t) for t in ("d2177dd0-eaa2-11de-a572-001b779c76e3", "d2177dd0-eaa2-11de-a572-001b779c76e4",
                                      "13814000-1dd2-11b2-8080-808080808080", "0e3e8f60-1dd2-11b2-be3f-cc3ff1ab27b5")],
    "tinyint": integers(1, [0, 1, 2, -1, 127, -128]),
    "uuid": [uuid_of(t) for t in ("00000000-0000-0000-0000-000000000000", "123e4567-e89b-42d3-a456-426614174000",
                                  "d2177dd0-eaa2-11de-a572-001b779c76e3", "ffffffff-ffff-4fff-bfff-ffffffffffff")],
    "varint": [Value(str(n), varint_bytes(n)) for n in (0, 1, -1, 128, 10**30, -10**20, 255)],
}
NUMBERS = ("bigint", "decimal", "double", "float", "int", "smallint", "tinyint", "varint")
KEY_SCALARS = [name for name in SCALARS if name != "duration"]


class Type:
    """A CQL type; `parts` are element types (list, set), key and value (map), components (tuple) or fields (udt)."""

    def __init__(self, kind, parts=(), frozen=False, name=None, fields=(), size=0):
        self.kind, self.parts, self.frozen, self.name, self.fields, self.size = kind, tuple(parts), frozen, name, tuple(fields), size

    def cql(self):
        if self.kind in SCALARS or self.kind == "counter":
            return self.kind
        if self.kind == "udt":
            text = self.name
        elif self.kind == "vector":
            return f"vector<{self.parts[0].cql()}, {self.size}>"
        else:
            text = f"{self.kind}<{', '.join(part.cql() for part in self.parts)}>"
        return f"frozen<{text}>" if self.frozen and self.kind != "tuple" else text

    @property
    def is_scalar(self):
        return self.kind in SCALARS

    @property
    def is_collection(self):
        return self.kind in ("list", "set", "map")

    @property
    def is_multi_cell(self):
        return not self.frozen and self.kind in ("list", "set", "map", "udt")

    def value(self, rng):
        if self.kind == "counter":
            return rng.choice(SCALARS["bigint"])
        if self.kind in SCALARS:
            return rng.choice(SCALARS[self.kind])
        return getattr(self, "_" + self.kind)(rng)

    def _elements(self, rng, part, least=0, most=3):
        return [part.value(rng) for _ in range(rng.randint(least, most))]

    def _list(self, rng):
        return collection("[", self._elements(rng, self.parts[0]), "]")

    def _set(self, rng):
        elements = self._elements(rng, self.parts[0])
        return collection("{", elements, "}", self.frozen and len(elements) > 1)

    def _map(self, rng):
        # Keys are unique: Cassandra keeps either value of a repeated key, and {'a', 'a'} is {'a'}.
        keys = list({key.literal: key for key in self._elements(rng, self.parts[0], most=1 if self.parts[0].is_collection else 3)}.values())
        values = [self.parts[1].value(rng) for _ in keys]
        literal = "{" + ", ".join(f"{k.literal}: {v.literal}" for k, v in zip(keys, values)) + "}"
        if (self.frozen and len(keys) > 1) or not can_bind(keys + values):
            return Value(literal, LITERAL_ONLY)
        return Value(literal, struct.pack(">i", len(keys)) + b"".join(sized(k.raw) + sized(v.raw) for k, v in zip(keys, values)))

    def _tuple(self, rng):
        values = [part.value(rng) if rng.random() < 0.9 else NULL for part in self.parts]
        raw = b"".join(sized(v.raw) for v in values) if can_bind(values) else LITERAL_ONLY
        return Value("(" + ", ".join(v.literal for v in values) + ")", raw)

    def _udt(self, rng):
        values = [part.value(rng) if rng.random() < 0.9 else NULL for part in self.parts]
        literal = "{" + ", ".join(f"{name}: {v.literal}" for name, v in zip(self.fields, values)) + "}"
        return Value(literal, b"".join(sized(v.raw) for v in values) if can_bind(values) else LITERAL_ONLY)

    def _vector(self, rng):
        numbers = [rng.choice(("0.0", "1.0", "-1.5", "2.5")) for _ in range(self.size)]
        return Value("[" + ", ".join(numbers) + "]", b"".join(struct.pack(">f", float(n)) for n in numbers))


def sized(raw):
    return b"\xff\xff\xff\xff" if raw is None else struct.pack(">i", len(raw)) + raw


def can_bind(values):
    return all(value.raw is not LITERAL_ONLY for value in values)


def collection(opening, values, closing, literal_only=False):
    literal = opening + ", ".join(v.literal for v in values) + closing
    if literal_only or not can_bind(values):
        return Value(literal, LITERAL_ONLY)
    return Value(literal, struct.pack(">i", len(values)) + b"".join(sized(v.raw) for v in values))


def scalar(rng, names=None):
    return Type(rng.choice(names or list(SCALARS)))


def random_type(rng, udts=(), frozen=False, depth=0):
    """Any type; `frozen`: one that is allowed inside another type or in a key."""
    roll = rng.random()
    if depth > 1 or roll < (0.6 if depth == 0 else 0.8):
        return scalar(rng, KEY_SCALARS if frozen else None)
    still = frozen or rng.random() < 0.3
    inner = lambda: random_type(rng, udts, True, depth + 1)
    kind = rng.choice(("list", "set", "map", "tuple", "udt", "vector"))
    if kind == "map":
        return Type("map", (inner(), inner()), still)
    if kind == "tuple":
        return Type("tuple", [inner() for _ in range(rng.randint(1, 3))], True)
    if kind == "udt" and udts:
        chosen = rng.choice(udts)
        return Type("udt", chosen.parts, still, chosen.name, chosen.fields)
    if kind == "vector":
        return Type("vector", (Type("float"),), True, size=rng.choice((1, 2, 3)))
    return Type("set" if kind == "set" else "list", (inner(),), still)
