"""Random tables and user types."""
import random

from values import KEY_SCALARS, NUMBERS, Type, random_type, scalar


class Column:
    def __init__(self, name, type, role, domain=()):
        self.name, self.type, self.role, self.domain = name, type, role, domain
        self.descending = False


class Table:
    def __init__(self, name, columns, compact=False):
        self.name, self.columns, self.compact = name, columns, compact

    def of(self, *roles):
        return [column for column in self.columns if column.role in roles]

    @property
    def partition(self):
        return self.of("partition")

    @property
    def clustering(self):
        return self.of("clustering")

    @property
    def keys(self):
        return self.of("partition", "clustering")

    @property
    def values(self):
        return self.of("regular", "static")

    @property
    def is_counter(self):
        return any(column.type.kind == "counter" for column in self.columns)

    def create(self):
        columns = [f"{c.name} {c.type.cql()}{' STATIC' if c.role == 'static' else ''}" for c in self.columns]
        key = f"({', '.join(c.name for c in self.partition)})"
        key = ", ".join([key, *(c.name for c in self.clustering)])
        text = f"CREATE TABLE {self.name} ({', '.join(columns)}, PRIMARY KEY ({key}))"
        options = ["COMPACT STORAGE"] if self.compact else []
        if any(c.descending for c in self.clustering):
            orders = ", ".join(f"{c.name} {'DESC' if c.descending else 'ASC'}" for c in self.clustering)
            options.append(f"CLUSTERING ORDER BY ({orders})")
        return text + (" WITH " + " AND ".join(options) if options else "")

    def drop_compact_storage(self):
        """Makes the columns visible that the compact table hides."""
        self.compact = False
        if not self.clustering:
            for column in self.values:
                column.role = "static"
            is_counter = self.is_counter
            key = Column("column1", Type("text"), "clustering", [Type("text").value(random.Random(i)) for i in range(3)])
            self.columns = self.partition + [key] + self.values
            self.columns.append(Column("value", Type("counter" if is_counter else "blob"), "regular"))


class Schema:
    """The definitions of a keyspace; `udts` come before the tables that use them."""

    def __init__(self, udts, tables, indexes=()):
        self.udts, self.tables, self.indexes = udts, tables, indexes
        self.definitions = list(self._create())

    def create(self):
        """The definitions as they were before any alteration."""
        return self.definitions

    def _create(self):
        for udt in self.udts:
            fields = ", ".join(f"{name} {part.cql()}" for name, part in zip(udt.fields, udt.parts))
            yield f"CREATE TYPE {udt.name} ({fields})"
        for table in self.tables:
            yield table.create()
        for table, column in self.indexes:
            if table in self.tables:
                yield f"CREATE INDEX ON {table.name} ({column.name})"


def key_column(rng, name, role, udts):
    type = random_type(rng, udts, frozen=True) if rng.random() < 0.25 else scalar(rng, rng.choice((KEY_SCALARS, ["int", "text"])))
    # Few keys, so that statements hit the same rows. Keys are distinct, because an empty or repeated domain tests little.
    domain = {}
    for _ in range(12):
        value = type.value(rng)
        if value.literal != "{}" and (value.raw != b"" or role == "clustering"):
            domain.setdefault(value.literal, value)
    limit = rng.randint(2, 3) if role == "partition" else rng.randint(2, 4)
    return Column(name, type, role, list(domain.values())[:limit])


def compact_table(rng, name, udts):
    """A table WITH COMPACT STORAGE: without clustering columns, or with at most one other column."""
    columns = [key_column(rng, f"k{i}", "partition", udts) for i in range(rng.choice((1, 1, 2)))]
    clustering = [key_column(rng, f"c{i}", "clustering", udts) for i in range(rng.choice((0, 1, 2, 3)))]
    for column in clustering:
        column.descending = rng.random() < 0.4
    counter = rng.random() < 0.12
    values = rng.randint(1, 3) if not clustering else 1 if counter else rng.randint(0, 1)
    for i in range(values):
        kind = Type("counter") if counter else value_type(rng, udts)
        while kind.is_multi_cell:
            kind = value_type(rng, udts)
        columns.append(Column(f"v{i}", kind, "regular"))
    at = len(columns) - values
    return Table(name, columns[:at] + clustering + columns[at:], True)


def random_table(rng, name, udts):
    columns = [key_column(rng, f"k{i}", "partition", udts) for i in range(rng.choice((1, 1, 1, 2, 2, 3)))]
    clustering = [key_column(rng, f"c{i}", "clustering", udts) for i in range(rng.choice((0, 1, 1, 2, 2, 3)))]
    for column in clustering:
        column.descending = rng.random() < 0.4
    columns += clustering
    counter = rng.random() < 0.12
    for i in range(rng.randint(1, 5) if not counter else rng.randint(1, 2)):
        kind = Type("counter") if counter else value_type(rng, udts)
        columns.append(Column(f"v{i}", kind, "regular"))
    if clustering and rng.random() < 0.5:
        for i in range(rng.randint(1, 2)):
            columns.append(Column(f"s{i}", Type("counter") if counter else value_type(rng, udts), "static"))
    return Table(name, columns)


def value_type(rng, udts):
    roll = rng.random()
    if roll < 0.3:
        return scalar(rng, NUMBERS)
    if roll < 0.55:
        inner = scalar(rng, ("int", "text", "int", "text", *KEY_SCALARS))
        kind = rng.choice(("list", "set", "map"))
        return Type(kind, (inner, scalar(rng)) if kind == "map" else (inner,))
    if roll < 0.65 and udts:
        chosen = rng.choice(udts)
        return Type("udt", chosen.parts, False, chosen.name, chosen.fields)
    return random_type(rng, udts)


def can_be_indexed(table, column):
    """True if Cassandra's default index accepts the column without a special target."""
    if table.compact and (column.role != "regular" or table.clustering):
        return False
    if column.type.kind in ("ascii", "blob", "text"):
        return False  # Cassandra's index does not contain empty values, so it does not find them
    sole_key = column.role == "partition" and len(table.partition) == 1
    return not sole_key and (column.type.is_scalar and column.type.kind != "duration" or column.type.is_collection and not column.type.frozen)


def random_schema(rng, features=()):
    udts = []
    for i in range(rng.choice((0, 1, 1, 2))):
        parts = [random_type(rng, udts, frozen=True) for _ in range(rng.randint(1, 3))]
        udts.append(Type("udt", parts, True, f"u{i}", [f"f{n}" for n in range(len(parts))]))
    compact = 0.3 if "compact" in features else 0
    tables = [(compact_table if rng.random() < compact else random_table)(rng, f"t{i}", udts) for i in range(3)]
    indexes = []
    if "index" in features:
        for table in tables:
            columns = [c for c in table.columns if can_be_indexed(table, c) and not table.is_counter and "duration" not in c.type.cql()]
            indexes += [(table, column) for column in columns if rng.random() < 0.25]
    return Schema(udts, tables, indexes)
