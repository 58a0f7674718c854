"""Random statements on a schema: most are valid, some slightly wrong, a few plainly wrong."""
from expressions import aggregate, selector
from schema import Column
from tree import Group, Pairs, ProtocolBatch, Statement
from values import EMPTY, NOT_SET, NULL, SCALARS, Type, Value, random_type

COMPARISONS = ("=", "<", ">", "<=", ">=")
TOKENS = ("-9223372036854775808", "0", "9223372036854775807", "-4069959284402364209", "-3485513579396041028")
# In seconds. Every request sets a time near this one. It is in the future, because data that has expired by the real
# clock may already be removed.
NOW = 2_000_000_000


class Generator:
    def __init__(self, rng, schema, features):
        self.rng, self.schema, self.features = rng, schema, features
        self.clock = 1000  # the default timestamp of the next write
        self.added = 10  # columns have numbers; those of alterations are larger
        self.prepared = []  # reads that were prepared, to run again after alterations
        # Cassandra misses a row with an expired marker if the read does not select the column that keeps the row alive.
        self.markers_expire = "ttl" in features and rng.random() < 0.3
        # Conditional writes use the server's clock. So with them all writes use it, and run one after another.
        self.is_conditional = "lwt" in features and rng.random() < 0.35

    def chance(self, share):
        return self.rng.random() < share

    # --- Values.
    def value(self, type, bind=False):
        roll = self.rng.random()
        if roll < 0.02:
            return NULL
        if roll < 0.03 and bind:
            return NOT_SET
        if roll < 0.04 and bind:
            return EMPTY
        # Cassandra accepts any value for a tuple and stores bytes that it cannot read.
        if roll < 0.05 and "tuple" not in type.cql() and (type.is_scalar or not bind):
            return Type(self.rng.choice(list(SCALARS))).value(self.rng)
        return type.value(self.rng)

    def key(self, column, bind=False):
        return self.value(column.type, bind) if self.chance(0.04) else self.rng.choice(column.domain)

    def any(self, column, bind=False):
        return self.key(column, bind) if column.domain and self.chance(0.9) else self.value(column.type, bind)

    # --- WHERE.
    def relation(self, column, bind):
        """Any restriction that the column's type allows."""
        name, kind = column.name, column.type.kind
        roll = self.rng.random()
        if column.type.is_collection and roll < 0.7:
            element = column.type.parts[-1].value(self.rng)
            if kind == "map" and roll < 0.4:
                key = column.type.parts[0].value(self.rng)
                return self.rng.choice(([name, " CONTAINS KEY ", key], [name, "[", key, "] = ", element]))
            return [name, " CONTAINS ", element]
        if roll < 0.55:
            return [name, " = ", self.any(column, bind)]
        if roll < 0.85:
            return [name, f" {self.rng.choice(COMPARISONS)} ", self.any(column, bind)]
        if roll < 0.95:
            return [name, " IN (", Group([self.any(column, bind) for _ in range(self.rng.randint(0, 3))], least=0), ")"]
        return self.rng.choice(([name, " CONTAINS ", self.any(column, bind)], [name, " CONTAINS KEY ", self.any(column, bind)],
                                [name, " LIKE 'a%'"], [name, " IS NOT NULL"], [name, " != ", self.any(column, bind)]))

    def exact(self, column, bind, in_share=0.12):
        if self.chance(in_share):
            return [column.name, " IN (", Group([self.key(column, bind) for _ in range(self.rng.randint(1, 3))]), ")"]
        return [column.name, " = ", self.key(column, bind)]

    def clustering_prefix(self, table, bind, in_share=0.12):
        """= on some columns, then perhaps a range, an IN or a comparison of several columns."""
        columns = table.clustering
        depth = self.rng.randint(0, len(columns))
        relations = [self.exact(c, bind, in_share) for c in columns[:depth]]
        rest = columns[depth:]
        if not rest or self.chance(0.35):
            return relations
        if self.chance(0.3):
            return relations + self.multi_column(rest, bind)
        relations.append([rest[0].name, f" {self.rng.choice(COMPARISONS[1:])} ", self.key(rest[0], bind)])
        if self.chance(0.5):
            relations.append([rest[0].name, f" {self.rng.choice(COMPARISONS[1:])} ", self.key(rest[0], bind)])
        return relations

    def multi_column(self, columns, bind):
        columns = columns[:self.rng.randint(1, len(columns))]
        names = "(" + ", ".join(c.name for c in columns) + ")"
        row = lambda: ["(", Group([self.key(c, bind) for c in columns]), ")"]
        if self.chance(0.3):
            return [[names, " IN (", Group([row() for _ in range(self.rng.randint(1, 3))]), ")"]]
        relations = [[names, f" {self.rng.choice(COMPARISONS)} ", row()]]
        if self.chance(0.3):
            relations.append([names, f" {self.rng.choice(COMPARISONS)} ", row()])
        return relations

    def token_relations(self, table, bind):
        names = ", ".join(c.name for c in table.partition)
        def bound():
            if self.chance(0.5):
                return self.rng.choice(TOKENS)
            return ["token(", Group([self.key(c, bind) for c in table.partition]), ")"]
        relations = [[f"token({names}) {self.rng.choice(COMPARISONS)} ", bound()]]
        if self.chance(0.4):
            relations.append([f"token({names}) {self.rng.choice(COMPARISONS)} ", bound()])
        return relations

    def select_where(self, table, bind):
        """(relations, whether filtering is likely to be needed)"""
        roll = self.rng.random()
        if roll < 0.5:
            relations = [self.exact(c, bind) for c in table.partition] + self.clustering_prefix(table, bind)
            filtering = False
        elif roll < 0.62:
            return [], False
        elif roll < 0.72:
            relations, filtering = self.token_relations(table, bind), False
        else:
            relations = [self.relation(self.rng.choice(table.columns), bind) for _ in range(self.rng.randint(1, 3))]
            filtering = True
        if self.chance(0.15):
            relations.append(self.relation(self.rng.choice(table.columns), bind))
            filtering = True
        if relations and self.chance(0.04):
            relations.pop(self.rng.randrange(len(relations)))
        if self.chance(0.01):
            relations.append(["nothing = ", Value("1", b"\0\0\0\1")])
        return relations, filtering

    # --- SELECT.
    def read(self):
        """A SELECT. Write times are compared only if the statements set them."""
        while True:
            statement = self.select()
            if "writetime" not in statement.text()[0] or not (self.is_conditional or statement.counter):
                return statement

    def select(self):
        rng = self.rng
        table = rng.choice(self.schema.tables)
        bind = self.chance(0.3)
        relations, filtering = self.select_where(table, bind)
        group = order = ""
        head = ""
        roll = rng.random()
        if roll < 0.4 or self.markers_expire:
            columns = "*"
        elif roll < 0.7:
            columns = Group([selector(rng, table) for _ in range(rng.randint(1, 4))])
        elif roll < 0.78:
            head = "DISTINCT "
            columns = Group([c.name for c in table.partition] + [c.name for c in table.of("static") if self.chance(0.5)])
            # Cassandra ignores restrictions on static columns here.
            unwanted = ("c", "s") if self.chance(0.8) else ("s",)
            relations = [r for r in relations if not str(r[0]).startswith(unwanted)]
        elif roll < 0.84:
            head, columns = "JSON ", rng.choice(("*", Group([selector(rng, table) for _ in range(2)])))
        else:
            items = [aggregate(rng, table) for _ in range(rng.randint(1, 3))]
            if self.chance(0.6):
                keys = table.keys[:rng.randint(1, len(table.keys))]
                if self.chance(0.1):
                    rng.shuffle(keys)
                group = Group([c.name for c in keys], prefix=" GROUP BY ", least=0)
            if self.chance(0.5):
                items.insert(0, selector(rng, table))
            columns = Group(items)
        # Cassandra does not sort the JSON of several partitions.
        if table.clustering and head != "JSON " and self.chance(0.25):
            order = self.order(table)
        tail = Group([], separator=" ", prefix=" ", least=0)
        if self.chance(0.12):
            tail.items.append(["PER PARTITION LIMIT ", self.limit()])
        if self.chance(0.25):
            tail.items.append(["LIMIT ", self.limit()])
        if self.chance(0.9 if filtering else 0.1):
            tail.items.append("ALLOW FILTERING")
        tree = ["SELECT ", head, columns, f" FROM {table.name}", Group(relations, " AND ", " WHERE ", least=0), group, order, tail]
        statement = Statement(tree, "read")
        statement.counter = table.is_counter
        # Cassandra loses its position between pages of groups if there are no clustering columns.
        if self.chance(0.35) and (table.clustering or not group):
            statement.page_size = rng.choice((1, 2, 3, 5, 7, 100))
        return self.dress(statement, bind)

    def order(self, table):
        """All columns in clustering order or all reversed; rarely mixed."""
        backward, columns = self.chance(0.5), table.clustering[:self.rng.randint(1, len(table.clustering))]
        down = [c.descending != (backward != self.chance(0.05)) for c in columns]
        return Group([f"{c.name} {'DESC' if d else 'ASC'}" for c, d in zip(columns, down)], prefix=" ORDER BY ", least=0)

    def limit(self):
        number = self.rng.choice((1, 2, 3, 5, 10)) if self.chance(0.97) else self.rng.choice((0, -1))
        return Value(str(number), number.to_bytes(4, "big", signed=True))

    # --- Writes.
    def using(self, counter=False, ttl=True):
        parts = []
        if not counter or self.chance(0.005):
            if self.chance(0.02 if self.is_conditional else 0.5):
                parts.append(f"TIMESTAMP {self.rng.randint(1, 30)}")
            # In Cassandra an entry of an index on a key column disappears with its newest cell, even if older cells are live.
            if ttl and "ttl" in self.features and not self.schema.indexes and self.chance(0.2):
                parts.append(f"TTL {self.rng.choice((0, 1, 10, 100, 1000))}")
        self.rng.shuffle(parts)
        return Group(parts, " AND ", " USING ", least=0)

    def write(self):
        table = self.rng.choice(self.schema.tables)
        bind = self.chance(0.3)
        statement = self.write_on(table, bind)
        statement.counter = table.is_counter
        return self.dress(statement, bind)

    def write_on(self, table, bind):
        roll = self.rng.random()
        if not table.values:
            return self.insert(table, bind) if roll < 0.6 else self.delete(table, bind)
        if table.is_counter:
            # Cassandra does not support counters after a deletion, so nothing is deleted here.
            return self.update(table, bind) if roll < 0.97 else self.insert(table, bind)
        if roll < 0.4:
            return self.insert(table, bind)
        return self.update(table, bind) if roll < 0.75 else self.delete(table, bind)

    def insert(self, table, bind):
        static_only = table.of("static") and self.chance(0.1)
        keys = table.partition if static_only else self.row_keys(table)
        columns = [c for c in (table.of("static") if static_only else table.values) if self.chance(0.7)]
        pairs = [(c.name, self.key(c, bind)) for c in keys] + [(c.name, self.value(c.type, bind)) for c in columns]
        if self.chance(0.02):
            pairs.pop(self.rng.randrange(len(pairs)))
        if self.chance(0.01) and pairs:
            pairs.append(self.rng.choice(pairs))
        if not pairs:
            pairs = [("nothing", NULL)]
        condition = Group([" IF NOT EXISTS"] if self.conditional(0.08) else [], "", least=0)
        ordered = bool(condition.items) or any(c.type.kind == "list" and not c.type.frozen for c in columns)
        tree = [f"INSERT INTO {table.name} ", Pairs(pairs), condition, self.using(ttl=self.markers_expire)]
        return Statement(tree, "write", ordered)

    def row_keys(self, table):
        """The key columns that name a row. The last clustering columns of a compact table may be missing."""
        missing = self.rng.randint(1, len(table.clustering)) if table.compact and table.clustering and self.chance(0.2) else 0
        return table.keys[:len(table.keys) - missing]

    def conditional(self, share):
        return self.is_conditional and self.chance(share * 3)

    def update(self, table, bind):
        rng = self.rng
        columns = [c for c in table.values if self.chance(0.4)] or [rng.choice(table.values)]
        statics = all(c.role == "static" for c in columns)
        assignments = [self.assignment(c, bind) for c in columns]
        if self.chance(0.01):
            assignments.append([rng.choice(table.columns).name, " = ", Value("1", b"\0\0\0\1")])
        keys = table.partition if statics and self.chance(0.9) else self.row_keys(table)
        # Cassandra writes static columns once per named row, which is visible in counters and lists.
        repeats = any(c.role == "static" and c.type.kind in ("counter", "list") for c in columns)
        relations = [self.exact(c, bind, 0 if repeats else 0.05) for c in keys]
        if self.chance(0.03) and not repeats:
            relations[-1] = self.relation(keys[-1], bind)
        if self.chance(0.02):
            relations.pop()
        condition = self.condition(table, bind) if self.conditional(0.1) else Group([], least=0)
        ordered = bool(condition.items) or any(c.type.kind in ("list", "counter") for c in columns)
        tree = [f"UPDATE {table.name}", self.using(table.is_counter), Group(assignments, prefix=" SET "),
                Group(relations, " AND ", " WHERE ", least=0), condition]
        return Statement(tree, "write", ordered)

    def assignment(self, column, bind):
        rng, name, type = self.rng, column.name, column.type
        if type.kind == "counter":
            number = Value("3", (3).to_bytes(8, "big"))
            return rng.choice(([f"{name} = {name} + ", number], [f"{name} = {name} - ", number], [f"{name} += ", number], [f"{name} -= ", number]))
        if self.chance(0.02):
            return rng.choice(([f"{name} = {name} + ", self.value(type, bind)], [f"{name}[0] = ", self.value(type, bind)],
                               [f"{name}.f0 = ", self.value(type, bind)], [f"{name} -= ", self.value(type, bind)]))
        if not type.is_multi_cell or self.chance(0.3):
            return [f"{name} = ", self.value(type, bind)]
        if type.kind == "udt":
            at = rng.randrange(len(type.fields))
            return [f"{name}.{type.fields[at]} = ", self.value(type.parts[at], bind)]
        add, some = [f"{name} = {name} + ", self.value(type, bind)], self.value(type, bind)
        if type.kind == "list":
            index = rng.choice(("0", "0", "1", "2", "-1"))
            return rng.choice((add, [f"{name} = ", some, f" + {name}"], [f"{name} = {name} - ", some],
                               [f"{name}[{index}] = ", self.value(type.parts[0], bind)], [f"{name} += ", some], [f"{name} -= ", some]))
        gone = self.value(Type("set", (type.parts[0],), True), bind)
        if type.kind == "set":
            return rng.choice((add, [f"{name} = {name} - ", gone], [f"{name} += ", some], [f"{name} -= ", gone]))
        return rng.choice((add, [f"{name} = {name} - ", gone], [f"{name}[", self.value(type.parts[0], bind), "] = ", self.value(type.parts[1], bind)],
                           [f"{name} += ", some], [f"{name} -= ", gone]))

    def delete(self, table, bind):
        rng = self.rng
        chosen = [c for c in table.values if self.chance(0.4)] if self.chance(0.5) else []
        columns = [self.deletion(c, bind) for c in chosen]
        roll = rng.random()
        if columns and roll < 0.9:
            relations = [self.exact(c, bind, 0.08) for c in (table.keys if self.chance(0.85) else table.partition)]
        elif roll < 0.55:
            relations = [self.exact(c, bind, 0.08) for c in table.keys]
        else:
            relations = [self.exact(c, bind, 0.08) for c in table.partition] + self.clustering_prefix(table, bind, 0.08)
        if self.chance(0.02):
            relations.append(self.relation(rng.choice(table.columns), bind))
        if self.chance(0.02):
            relations.pop()
        condition = self.condition(table, bind) if self.conditional(0.1) else Group([], least=0)
        ordered = bool(condition.items) or table.is_counter or any(c.type.kind == "list" for c in chosen)
        tree = ["DELETE ", Group(columns, suffix=" ", least=0), f"FROM {table.name}", self.using(table.is_counter, ttl=False),
                Group(relations, " AND ", " WHERE ", least=0), condition]
        return Statement(tree, "write", ordered)

    def deletion(self, column, bind):
        type = column.type
        if type.is_multi_cell and self.chance(0.6):
            if type.kind == "udt":
                return f"{column.name}.{self.rng.choice(type.fields)}"
            if type.kind == "list":
                return f"{column.name}[{self.rng.choice((0, 0, 1, -1))}]"
            return [f"{column.name}[", self.value(type.parts[0], bind), "]"]
        return column.name

    def condition(self, table, bind):
        if self.chance(0.3):
            return Group([" IF EXISTS"], "", least=0)
        conditions = []
        for _ in range(self.rng.randint(1, 2)):
            column = self.rng.choice(table.columns if self.chance(0.1) or not table.values else table.values)
            conditions.append(self.one_condition(column, bind))
        return Group(conditions, " AND ", " IF ", least=0)

    def one_condition(self, column, bind):
        rng, name, type = self.rng, column.name, column.type
        roll = rng.random()
        # Cassandra compares a map's values as if they had the type of its keys.
        same_types = type.is_collection and type.parts[0].cql() == type.parts[-1].cql()
        if type.kind in ("map", "list") and type.is_multi_cell and same_types and roll < 0.3:
            key = type.parts[0].value(rng) if type.kind == "map" else Value("0", b"\0\0\0\0")
            return [f"{name}[", key, f"] {rng.choice((*COMPARISONS, '!='))} ", self.value(type.parts[-1], bind)]
        if type.kind == "udt" and roll < 0.3:
            at = rng.randrange(len(type.fields))
            return [f"{name}.{type.fields[at]} {rng.choice((*COMPARISONS, '!='))} ", self.value(type.parts[at], bind)]
        if type.is_collection and roll < 0.5:
            return [f"{name} CONTAINS {'KEY ' if type.kind == 'map' and self.chance(0.4) else ''}", self.value(type.parts[0], bind)]
        if roll < 0.65:
            return [f"{name} IN (", Group([self.value(type, bind) for _ in range(rng.randint(0, 3))], least=0), ")"]
        return [f"{name} {rng.choice(('=', '=', '=', *COMPARISONS, '!='))} ", NULL if self.chance(0.2) else self.value(type, bind)]

    # --- Batches.
    def batch(self):
        rng = self.rng
        tables = [t for t in self.schema.tables if not t.is_counter] or self.schema.tables
        counters = [t for t in self.schema.tables if t.is_counter]
        counter = bool(counters) and self.chance(0.15)
        chosen = counters if counter else tables
        bind = self.chance(0.3)
        parts = [self.write_on(rng.choice(chosen if self.chance(0.97) else self.schema.tables), bind) for _ in range(rng.randint(1, 4))]
        kind = 2 if counter and self.chance(0.95) else rng.choice((0, 0, 1))
        if self.chance(0.5):
            for part in parts:
                part.bind = part.prepare = bind and self.chance(0.7)
            batch = ProtocolBatch(parts, kind)
            batch.counter = counter
            return self.dress(batch, False)
        tree = [f"BEGIN {('', 'UNLOGGED ', 'COUNTER ')[kind]}BATCH", Group([" USING TIMESTAMP 5"] if self.chance(0.1) else [], least=0),
                Group([part.tree for part in parts], "; ", " ", "; ", least=0), "APPLY BATCH"]
        batch = Statement(tree, "write", any(part.ordered for part in parts))
        batch.counter = counter
        return self.dress(batch, bind)

    def dress(self, statement, bind):
        """Chooses how it is sent: prepared or not, its default timestamp and its current time."""
        if statement.kind == "write":
            self.clock += self.rng.randint(0, 3)
            by_server = self.is_conditional or statement.counter
            statement.timestamp = None if by_server else self.clock
            statement.ordered = statement.ordered or by_server
        statement.bind = bind
        statement.prepare = bind and self.chance(0.8) or self.chance(0.1)
        if "ttl" in self.features:
            statement.now = NOW + self.rng.choice((0, 0, 1, 5, 50, 500, 5000))
        return statement

    # --- Alterations.
    def alteration(self):
        """Changes a table, then runs statements again that were prepared before."""
        table = self.rng.choice(self.schema.tables)
        text = self.rng.choice((self.add_column, self.drop_column, self.rename_key, self.other_alteration))(table)
        yield Statement([f"ALTER TABLE {table.name} {text}"], "write", True)
        for statement in self.rng.sample(self.prepared, min(len(self.prepared), 12)):
            yield statement.copy()

    def add_column(self, table):
        self.added += 1
        name, kind = f"v{self.added}", Type("counter") if table.is_counter else random_type(self.rng, ())
        static = bool(table.clustering) and self.chance(0.3)
        if table.compact:
            return f"ADD {name} {kind.cql()}"
        if not table.values:  # Cassandra takes a table that has lost its counters for one without
            return "ADD nothing nosuch"
        table.columns.append(Column(name, kind, "static" if static else "regular"))
        return f"ADD {name} {kind.cql()}{' STATIC' if static else ''}"

    def drop_column(self, table):
        # Cassandra fails if a compact table loses its only column, and keeps an index on a column in memory.
        indexed = [column for other, column in self.schema.indexes if other is table]
        if len(table.values) < 2 or table.is_counter or (table.compact and table.clustering):
            return "DROP nothing"
        column = self.rng.choice(table.values)
        if column not in indexed and not (column.type.kind == "udt" and column.type.is_multi_cell):
            table.columns.remove(column)
        return f"DROP {column.name}"

    def rename_key(self, table):
        if any(other is table for other, _ in self.schema.indexes):
            return "RENAME nothing TO nothing2"
        column = self.rng.choice(table.keys)
        self.added += 1
        old, column.name = column.name, f"{column.role[0].replace('p', 'k')}{self.added}"
        return f"RENAME {old} TO {column.name}"

    def other_alteration(self, table):
        if not table.compact or not table.values or any(other is table for other, _ in self.schema.indexes):
            return self.rng.choice(("WITH comment = 'altered'", "WITH gc_grace_seconds = 864001", "ALTER v0 TYPE blob"))
        table.drop_compact_storage()
        return "DROP COMPACT STORAGE"

    def statements(self, count):
        """Alternates between series of writes and of reads."""
        made = 0
        while made < count:
            if "alter" in self.features and self.chance(0.25):
                for statement in self.alteration():
                    made += 1
                    yield statement
            for _ in range(self.rng.randint(4, 16)):
                made += 1
                yield self.batch() if self.chance(0.12) else self.write()
            for _ in range(self.rng.randint(8, 40)):
                made += 1
                statement = self.read()
                if statement.prepare:
                    self.prepared = self.prepared[-60:] + [statement]
                yield statement
