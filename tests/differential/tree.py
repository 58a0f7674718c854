"""Statements as trees, so that they can be reduced part by part.

A tree is a string, a Value, a list of trees, a Group (a list whose items may be omitted) or Pairs (names and values).
"""
from values import LITERAL_ONLY, Value


class Group:
    def __init__(self, items, separator=", ", prefix="", suffix="", least=1):
        self.items, self.separator, self.prefix, self.suffix, self.least = list(items), separator, prefix, suffix, least

    def with_items(self, items):
        return Group(items, self.separator, self.prefix, self.suffix, self.least)


class Pairs:
    """The columns and values of an INSERT."""

    def __init__(self, items):
        self.items = list(items)


def render(tree, bound):
    """Returns the text. Values become markers and are added to `bound`, unless it is None."""
    if isinstance(tree, str):
        return tree
    if isinstance(tree, Value):
        if bound is None or tree.raw is LITERAL_ONLY:
            return tree.literal if tree.literal is not None else "null"
        bound.append(tree.raw)
        return "?"
    if isinstance(tree, list):
        return "".join(render(item, bound) for item in tree)
    if isinstance(tree, Group):
        if not tree.items:
            return ""
        return tree.prefix + tree.separator.join(render(item, bound) for item in tree.items) + tree.suffix
    names = ", ".join(name for name, _ in tree.items)
    return f"({names}) VALUES ({', '.join(render(value, bound) for _, value in tree.items)})"


def smaller(tree):
    """Yields trees with one part removed, larger parts first."""
    if isinstance(tree, list):
        for i, item in enumerate(tree):
            for less in smaller(item):
                yield tree[:i] + [less] + tree[i + 1:]
    elif isinstance(tree, Group):
        if tree.least == 0 and len(tree.items) > 1:
            yield tree.with_items([])
        if len(tree.items) > tree.least:
            for i in range(len(tree.items)):
                yield tree.with_items(tree.items[:i] + tree.items[i + 1:])
        for i, item in enumerate(tree.items):
            for less in smaller(item):
                yield tree.with_items(tree.items[:i] + [less] + tree.items[i + 1:])
    elif isinstance(tree, Pairs) and len(tree.items) > 1:
        for i in range(len(tree.items)):
            yield Pairs(tree.items[:i] + tree.items[i + 1:])


class Statement:
    """One request. `ordered`: its effect depends on earlier statements, so it must not run concurrently with others."""

    def __init__(self, tree, kind, ordered=False):
        self.tree, self.kind, self.ordered = tree, kind, ordered
        self.bind = self.prepare = self.counter = False
        self.page_size = self.timestamp = self.now = self.serial = None

    def copy(self, **changes):
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **changes)
        return other

    def text(self):
        bound = [] if self.bind else None
        return render(self.tree, bound), bound

    def variants(self):
        """Simpler statements that may still show the same difference."""
        for name in ("now", "serial", "page_size", "timestamp"):
            if getattr(self, name) is not None:
                yield self.copy(**{name: None})
        if self.bind:
            yield self.copy(bind=False)
        elif self.prepare:
            yield self.copy(prepare=False)
        for less in smaller(self.tree):
            yield self.copy(tree=less)
        if self.ordered and self.kind == "write" and isinstance(self.tree, list) and str(self.tree[0]).startswith("BEGIN"):
            statements = next(part for part in self.tree if isinstance(part, Group) and part.separator == "; ")
            if len(statements.items) == 1:
                yield self.copy(tree=statements.items[0])

    def script(self):
        """The statement in the format of a script in tests/compat."""
        text, bound = self.text()
        lines = []
        if self.page_size:
            lines.append(f"--! pages {self.page_size}")
        if self.now is not None:
            lines.append(f"--! now {self.now}")
        if self.timestamp is not None:
            lines.append(f"-- timestamp {self.timestamp} by the protocol")
        if bound:
            words = ["null" if raw is None else "0x" + raw.hex() if isinstance(raw, bytes) else "unset" for raw in bound]
            lines.append("--! values " + ", ".join(words))
        return "\n".join([*lines, text + ";"])


class ProtocolBatch(Statement):
    """A BATCH message: `parts` are Statements, some of them prepared."""

    def __init__(self, parts, batch_kind):
        super().__init__("", "write", any(part.ordered for part in parts))
        self.parts, self.batch_kind = parts, batch_kind

    def variants(self):
        for name in ("now", "serial", "timestamp"):
            if getattr(self, name) is not None:
                yield self.copy(**{name: None})
        if len(self.parts) == 1:
            yield self.parts[0]
        for i in range(len(self.parts)):
            if len(self.parts) > 1:
                yield self.copy(parts=self.parts[:i] + self.parts[i + 1:])
        for i, part in enumerate(self.parts):
            for less in part.variants():
                yield self.copy(parts=self.parts[:i] + [less] + self.parts[i + 1:])

    def text(self):
        kind = ("", "UNLOGGED ", "COUNTER ")[self.batch_kind]
        return f"BEGIN {kind}BATCH {'; '.join(render(part.tree, None) for part in self.parts)}; APPLY BATCH", None

    def script(self):
        return "-- a BATCH message\n" + self.text()[0] + ";"
