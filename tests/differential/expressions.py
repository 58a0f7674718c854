"""Random selectors on columns: functions, casts, arithmetic, elements, aggregates."""
from values import NUMBERS, SCALARS, Type

CASTS = ("ascii", "bigint", "boolean", "date", "decimal", "double", "float", "int", "smallint", "text", "timestamp", "tinyint",
         "varint", "uuid", "timeuuid", "blob")
NUMBER_FUNCTIONS = ("abs", "exp", "log", "log10", "round")
TIME_FUNCTIONS = ("to_date", "to_timestamp", "to_unix_timestamp", "toDate", "toTimestamp", "toUnixTimestamp", "min_timeuuid",
                  "max_timeuuid", "minTimeuuid", "maxTimeuuid")
COLLECTION_FUNCTIONS = ("collection_count", "collection_min", "collection_max", "collection_sum", "collection_avg")


def of_type(rng, text, type):
    """An expression over `text`, which has that type."""
    roll = rng.random()
    if roll < 0.15:
        return f"CAST({text} AS {rng.choice(CASTS)})"
    if roll < 0.22 and type.is_scalar:
        return rng.choice((f"{type.kind}_as_blob({text})", f"{type.kind}AsBlob({text})", f"to_json({text})", f"toJson({text})"))
    if type.kind in NUMBERS:
        return number(rng, text, type)
    if type.kind in ("timestamp", "date", "timeuuid"):
        return rng.choice((f"{rng.choice(TIME_FUNCTIONS)}({text})", f"{text} + {rng.choice(('1d', '1mo', '2h'))}", f"{text} - 1d"))
    if type.kind in ("text", "ascii"):
        return rng.choice((f"{text} + 'x'", f"{text} + {text}", f"blob_as_{type.kind}({type.kind}_as_blob({text}))"))
    if type.kind == "map":
        key = type.parts[0].value(rng).literal
        return rng.choice((f"{text}[{key}]", f"map_keys({text})", f"map_values({text})", f"{text}[{key}..{type.parts[0].value(rng).literal}]",
                           f"{text}[{key}..]", f"{text}[..{key}]", f"{rng.choice(COLLECTION_FUNCTIONS)}({text})"))
    if type.kind == "set":
        key = type.parts[0].value(rng).literal
        return rng.choice((f"{text}[{key}]", f"{text}[{key}..{type.parts[0].value(rng).literal}]", f"{text}[..{key}]",
                           f"{rng.choice(COLLECTION_FUNCTIONS)}({text})"))
    if type.kind == "list":
        return rng.choice((f"{rng.choice(COLLECTION_FUNCTIONS)}({text})", f"{text}[0]"))
    if type.kind == "udt":
        at = rng.randrange(len(type.fields))
        inner = f"{text}.{type.fields[at]}"
        return inner if rng.random() < 0.7 else of_type(rng, inner, type.parts[at])
    if type.kind == "vector":
        other = type.value(rng).literal
        return rng.choice((f"similarity_cosine({text}, {other})", f"similarity_euclidean({text}, {other})",
                           f"similarity_dot_product({text}, {other})"))
    return f"to_json({text})" if rng.random() < 0.5 else f"CAST({text} AS text)"


def number(rng, text, type):
    operand = rng.choice((text, rng.choice(SCALARS[rng.choice((type.kind, "int"))]).literal, "2", "0", "3"))
    return rng.choice((f"{text} {rng.choice('+-*/%')} {operand}", f"-{text}", f"{rng.choice(NUMBER_FUNCTIONS)}({text})",
                       f"({text} + 1) * 2", f"-({text} - {operand})"))


def selector(rng, table):
    column = rng.choice(table.columns)
    name = column.name
    roll = rng.random()
    if roll < 0.45:
        return name
    if roll < 0.60 and column.role in ("regular", "static"):
        return f"{rng.choice(('writetime', 'ttl', 'writetime', 'maxwritetime'))}({meta_target(rng, column)})"
    if roll < 0.85:
        return of_type(rng, name, column.type)
    if roll < 0.88:
        return f"token({', '.join(c.name for c in table.partition)})"
    if roll < 0.92:
        literal = Type(rng.choice(list(SCALARS)))
        return f"({literal.kind}){literal.value(rng).literal}"
    if roll < 0.96:
        return f"{name} AS a{rng.randint(0, 1)}"
    return rng.choice((f"{name}.f0", f"{name}[0]", f"nothing({name})", "nothing", f"count({name})", f"writetime({name})"))


def meta_target(rng, column):
    if column.type.is_multi_cell and rng.random() < 0.6:
        if column.type.kind == "udt":
            return f"{column.name}.{rng.choice(column.type.fields)}"
        if column.type.kind in ("map", "set"):
            key = column.type.parts[0].value(rng).literal
            return rng.choice((f"{column.name}[{key}]", f"{column.name}[{key}..]"))
    return column.name


def aggregate(rng, table):
    column = rng.choice(table.columns)
    roll = rng.random()
    if roll < 0.2:
        return rng.choice(("count(*)", "count(1)", "COUNT(*) AS n"))
    function = rng.choice(("count", "min", "max", "sum", "avg"))
    if roll < 0.3 and column.type.kind in NUMBERS:
        return f"{function}({number(rng, column.name, column.type)})"
    return f"{function}({column.name})"
