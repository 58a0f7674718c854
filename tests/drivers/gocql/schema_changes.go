package main

import (
	"encoding/json"
	"fmt"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// changes are prepared statements while the schema changes: the driver prepares them again, and reads and writes by the
// new definition. gocql 1 is checked by the same file: see test_gocql_1.py.
type changes struct{ session, another *gocql.Session }

func schemaChanges(versions ...int) {
	for _, version := range versions {
		config := options("clients")
		config.ProtoVersion = version
		c := changes{open(config), open(config)}
		c.run("CREATE TYPE changing (a int)")
		c.run("CREATE TABLE changes (k int, c int, z text, PRIMARY KEY (k, c))")
		c.run("CREATE TABLE changed_types (k int PRIMARY KEY, x frozen<changing>)")
		for _, one := range []struct {
			name string
			body func()
		}{{"columns", c.columns}, {"columns of another", c.columnsOfAnother}, {"fields", c.fields},
			{"written fields", c.writtenFields}, {"created again", c.createdAgain}} {
			check("schema changes", fmt.Sprintf("v%d, %s", version, one.name), one.body)
		}
		for _, what := range []string{"TABLE changes", "TABLE changed_types", "TYPE changing"} {
			c.run("DROP " + what)
		}
		c.session.Close()
		c.another.Close()
	}
}

func (c changes) run(statement string, values ...any) {
	must(c.session.Query(statement, values...).Exec())
}

func row(session *gocql.Session, statement string, values ...any) map[string]any {
	found := map[string]any{}
	must(session.Query(statement, values...).MapScan(found))
	return found
}

func (c changes) columns() {
	read := "SELECT * FROM changes WHERE k = ?"
	c.run("INSERT INTO changes (k, c, z) VALUES (1, 2, 'z')")
	same(map[string]any{"k": 1, "c": 2, "z": "z"}, row(c.session, read, 1))
	c.run("ALTER TABLE changes ADD a text")
	c.run("UPDATE changes SET a = 'a' WHERE k = 1 AND c = 2")
	for i := 0; i < 3; i++ {
		same(map[string]any{"k": 1, "c": 2, "a": "a", "z": "z"}, row(c.session, read, 1))
	}
	c.run("ALTER TABLE changes DROP z")
	same(map[string]any{"k": 1, "c": 2, "a": "a"}, row(c.session, read, 1))
}

// Another client has prepared the statement again before.
func (c changes) columnsOfAnother() {
	read := "SELECT * FROM changes WHERE k = ? AND c = ?"
	row(c.session, read, 1, 2)
	c.run("ALTER TABLE changes ADD a0 int")
	c.run("UPDATE changes SET a0 = 7 WHERE k = 1 AND c = 2")
	for _, session := range []*gocql.Session{c.another, c.session} {
		same(map[string]any{"k": 1, "c": 2, "a": "a", "a0": 7}, row(session, read, 1, 2))
	}
}

func (c changes) fields() {
	read := "SELECT x FROM changed_types WHERE k = ?"
	c.run("INSERT INTO changed_types (k, x) VALUES (1, {a: 5})")
	same(map[string]any{"x": map[string]any{"a": 5}}, row(c.session, read, 1))
	c.run("ALTER TYPE changing ADD b text")
	c.run("INSERT INTO changed_types (k, x) VALUES (1, {a: 5, b: 'new'})")
	same(map[string]any{"x": map[string]any{"a": 5, "b": "new"}}, row(c.session, read, 1))
	c.run("ALTER TYPE changing RENAME b TO bb")
	same(map[string]any{"x": map[string]any{"a": 5, "bb": "new"}}, row(c.session, read, 1))
	c.run("ALTER TYPE changing RENAME bb TO b")
}

func (c changes) writtenFields() {
	insert := "INSERT INTO changed_types (k, x) VALUES (?, ?)"
	c.run(insert, 2, map[string]any{"a": 5})
	c.run("ALTER TYPE changing ADD c text")
	c.run(insert, 2, map[string]any{"a": 5, "b": "b", "c": "c"})
	var text string
	must(c.session.Query("SELECT toJson(x) FROM changed_types WHERE k = 2").Scan(&text))
	found := map[string]any{}
	must(json.Unmarshal([]byte(text), &found))
	same(map[string]any{"a": 5.0, "b": "b", "c": "c"}, found)
}

func (c changes) createdAgain() {
	insert := "INSERT INTO changes (k, c) VALUES (?, ?)"
	c.run(insert, 1, 2)
	c.run("DROP TABLE changes")
	c.run("CREATE TABLE changes (k int PRIMARY KEY, c bigint)")
	c.run(insert, 1, 3) // encoded as before, refused, and encoded again
	c.run(insert, 1, int64(1)<<40)
	same(map[string]any{"k": 1, "c": int64(1) << 40}, row(c.session, "SELECT k, c FROM changes"))
}
