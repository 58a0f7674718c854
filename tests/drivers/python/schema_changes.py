"""Prepared statements while the schema changes: the driver prepares them again, and reads and writes with the new definition."""
import collections

from checks import check, same

FIELDS = collections.namedtuple("fields", "a b")


def run(open_cluster):
    for version in (3, 4, 5):
        with open_cluster(protocol_version=version) as cluster, open_cluster(protocol_version=version) as another:
            changes = SchemaChanges(cluster.connect("clients"), another.connect("clients"))
            for body in (changes.columns, changes.columns_of_another, changes.fields, changes.written_fields, changes.created_again):
                check("schema changes", f"v{version}, {body.__name__}", body)
            changes.clean()


class SchemaChanges:
    def __init__(self, session, another):
        self.session, self.another = session, another
        self.execute("CREATE TYPE changing (a int)")
        self.execute("CREATE TABLE changes (k int, c int, z text, PRIMARY KEY (k, c))")
        self.execute("CREATE TABLE changed_types (k int PRIMARY KEY, x frozen<changing>)")

    def execute(self, statement):
        return [tuple(row) for row in self.session.execute(statement)]

    def clean(self):
        for what in ("TABLE changes", "TABLE changed_types", "TYPE changing"):
            self.execute(f"DROP {what}")

    def columns(self):
        self.execute("INSERT INTO changes (k, c, z) VALUES (1, 2, 'z')")
        read = self.session.prepare("SELECT * FROM changes WHERE k = ?")
        same((1, 2, "z"), tuple(self.session.execute(read, (1,)).one()))
        self.execute("ALTER TABLE changes ADD a text")
        self.execute("UPDATE changes SET a = 'a' WHERE k = 1 AND c = 2")
        for _ in range(3):
            same((1, 2, "a", "z"), tuple(self.session.execute(read, (1,)).one()))
        self.execute("ALTER TABLE changes DROP z")
        same((1, 2, "a"), tuple(self.session.execute(read, (1,)).one()))

    def columns_of_another(self):
        """Another client has already prepared the statement again."""
        text = "SELECT * FROM changes WHERE k = ? AND c = ?"
        read = self.session.prepare(text)
        self.session.execute(read, (1, 2))
        self.execute("ALTER TABLE changes ADD a0 int")
        self.execute("UPDATE changes SET a0 = 7 WHERE k = 1 AND c = 2")
        for session, statement in ((self.another, self.another.prepare(text)), (self.session, read)):
            row = session.execute(statement, (1, 2)).one()
            same((2, "a", 7), (row.c, row.a, row.a0))

    def fields(self):
        self.execute("INSERT INTO changed_types (k, x) VALUES (1, {a: 5})")
        read = self.session.prepare("SELECT x FROM changed_types WHERE k = ?")
        same(5, self.session.execute(read, (1,)).one().x.a)
        self.execute("ALTER TYPE changing ADD b text")
        self.execute("INSERT INTO changed_types (k, x) VALUES (1, {a: 5, b: 'new'})")
        same((5, "new"), tuple(self.session.execute(read, (1,)).one().x))
        self.execute("ALTER TYPE changing RENAME b TO bb")
        same("new", self.session.execute(read, (1,)).one().x.bb)
        self.execute("ALTER TYPE changing RENAME bb TO b")

    def written_fields(self):
        insert = self.session.prepare("INSERT INTO changed_types (k, x) VALUES (?, ?)")
        self.session.execute(insert, (2, FIELDS(5, None)))
        self.execute("ALTER TYPE changing ADD c text")
        # This driver encodes values for the first definition until it must prepare again.
        insert = self.session.prepare("INSERT INTO changed_types (k, x) VALUES (?, ?)")
        self.session.execute(insert, (2, (5, "b", "c")))
        same([('{"a": 5, "b": "b", "c": "c"}',)], self.execute("SELECT toJson(x) FROM changed_types WHERE k = 2"))

    def created_again(self):
        insert = self.session.prepare("INSERT INTO changes (k, c) VALUES (?, ?)")
        self.session.execute(insert, (1, 2))
        self.execute("DROP TABLE changes")
        self.execute("CREATE TABLE changes (k int PRIMARY KEY, c bigint)")
        insert = self.session.prepare("INSERT INTO changes (k, c) VALUES (?, ?)")
        self.session.execute(insert, (1, 2**40))
        same([(1, 2**40)], self.execute("SELECT k, c FROM changes"))
