// The Go driver, unmodified. See harness.py for what it is told and what it prints.
package main

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
	"github.com/apache/cassandra-gocql-driver/v2/snappy"
)

var session *gocql.Session

func options(keyspace string) *gocql.ClusterConfig {
	config := gocql.NewCluster(os.Getenv("SIBYL_HOST"))
	config.Port, _ = strconv.Atoi(os.Getenv("SIBYL_PORT"))
	config.Keyspace = keyspace
	config.Timeout = 20 * time.Second
	config.ConnectTimeout = 20 * time.Second
	config.ReconnectInterval = 200 * time.Millisecond
	config.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 100, Interval: 100 * time.Millisecond}
	return config
}

func open(config *gocql.ClusterConfig) *gocql.Session {
	opened, err := config.CreateSession()
	must(err)
	return opened
}

func driverVersion() string {
	information, _ := debug.ReadBuildInfo()
	for _, module := range information.Deps {
		if strings.HasPrefix(module.Path, "github.com/apache/cassandra-gocql-driver") {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return ""
}

func main() {
	say(map[string]any{"version": driverVersion()})
	if os.Getenv("SIBYL_MODE") == "secured" {
		secured()
		return
	}
	check("connect", "without a keyspace", connect)
	makeSchema()
	session = open(options("clients"))
	defer session.Close()
	for _, value := range scalars() {
		check("scalars", value.kind+" "+value.literal, func() { bothWays(session, value) })
	}
	check("metadata", "keyspace, table, index, view, type, function, aggregate", metadata)
	check("token map", "the tokens of the host", tokenMap)
	check("routing", "composite and single keys", routing)
	check("prepared", "markers by position and name", prepared)
	check("paging", "pages of 7, and a paging state", paging)
	check("collections", "nested, frozen, empty", collections)
	check("user types", "fields, nested, tuples", userTypes)
	check("vector", "three floats", vector)
	check("absent values", "null, unset, empty", absent)
	check("batches", "logged and unlogged", batches)
	check("counters", "a batch of three", counters)
	check("conditions", "insert, update, batch", conditions)
	check("errors", "types and fields", serverErrors)
	check("events", "table created and dropped", events)
	check("tracing", "session and events", tracing)
	check("lz4", "v4", func() { compressed(lz4.LZ4Compressor{}, 4) })
	check("lz4", "v5", func() { compressed(lz4.LZ4Compressor{}, 5) })
	check("snappy", "v4", func() { compressed(snappy.SnappyCompressor{}, 4) })
	check("v5", "keyspace of one request", versionFive)
	schemaChanges(3, 4, 5)
	check("restart", "within 30 s", restarted)
}

func makeSchema() {
	text, err := os.ReadFile(os.Getenv("SIBYL_SCHEMA"))
	must(err)
	admin := open(options(""))
	defer admin.Close()
	for _, statement := range strings.Split(strings.TrimSuffix(string(text), ";\n"), ";\n") {
		must(admin.Query(statement).Exec())
	}
}

func connect() {
	one := open(options(""))
	defer one.Close()
	var name, version string
	must(one.Query("SELECT cluster_name, release_version FROM system.local").Scan(&name, &version))
	hosts := one.GetHosts()
	same(1, len(hosts))
	same(name, hosts[0].ClusterName())
	same("datacenter1", hosts[0].DataCenter())
	same(true, strings.HasPrefix(version, strings.TrimPrefix(hosts[0].Version().String(), "v")))
}

func names(columns []*gocql.ColumnMetadata) []string {
	found := []string{}
	for _, column := range columns {
		found = append(found, column.Name)
	}
	return found
}

func metadata() {
	keyspace, err := session.KeyspaceMetadata("clients")
	must(err)
	same(true, strings.HasSuffix(keyspace.StrategyClass, "SimpleStrategy"))
	table := keyspace.Tables["measurements"]
	same([]string{"site", "day"}, names(table.PartitionKey))
	same([]string{"at", "sensor"}, names(table.ClusteringColumns))
	same([]string{"desc", "asc"}, []string{table.ClusteringColumns[0].ClusteringOrder, table.ClusteringColumns[1].ClusteringOrder})
	same(gocql.ColumnStatic, table.Columns["note"].Kind)
	same(gocql.TypeSet, table.Columns["tags"].Type.Type())
	view := keyspace.MaterializedViews["by_sensor"]
	same("measurements", view.BaseTable.Name)
	same([]string{"street", "zip", "phones"}, keyspace.UserTypes["address"].FieldNames)
	same(gocql.TypeInt, keyspace.Functions["plus"].ReturnType.Type())
	same("plus", keyspace.Aggregates["total"].StateFunc.Name)
	same("0", keyspace.Aggregates["total"].InitCond)
	var total int
	must(session.Query("SELECT total(c) FROM pages WHERE p = 404").Scan(&total))
	same(0, total)
}

func tokenMap() {
	tokens := session.GetHosts()[0].Tokens()
	same(true, len(tokens) > 0)
	_, err := strconv.ParseInt(tokens[0], 10, 64)
	must(err)
	same(true, strings.HasSuffix(session.GetHosts()[0].Partitioner(), "Murmur3Partitioner"))
}

func prepared() {
	must(session.Query("INSERT INTO plain (k, a, b) VALUES (:k, :a, :b)", gocql.NamedValue("k", 1), gocql.NamedValue("a", 2),
		gocql.NamedValue("b", "three")).Exec())
	information, err := session.StatementMetadata(session.Query("").Context(), "SELECT * FROM plain WHERE k = ?", "clients")
	must(err)
	same([]int{0}, information.PKBindColumnIndexes)
	same("k", information.BindColumns[0].Name)
	same(gocql.TypeInt, information.BindColumns[0].TypeInfo.Type())
	same(3, len(information.ResultColumns))
	row := map[string]any{}
	must(session.Query("SELECT * FROM plain WHERE k = ?", 1).MapScan(row))
	same(map[string]any{"k": 1, "a": 2, "b": "three"}, row)
	must(session.Query("ALTER TABLE plain ADD extra int").Exec())
	must(session.Query("UPDATE plain SET extra = 9 WHERE k = 1").Exec())
	row = map[string]any{}
	must(session.Query("SELECT * FROM plain WHERE k = ?", 1).MapScan(row))
	same(9, row["extra"])
	must(session.Query("ALTER TABLE plain DROP extra").Exec())
}

func paging() {
	all := []int{}
	for c := 0; c < 50; c++ {
		must(session.Query("INSERT INTO pages (p, c, v) VALUES (?, ?, ?)", 1, c, "v").Exec())
		all = append(all, c)
	}
	numbers := func(iterator *gocql.Iter) []int {
		found := []int{}
		for c := 0; iterator.Scan(&c); {
			found = append(found, c)
		}
		must(iterator.Close())
		return found
	}
	same(all, numbers(session.Query("SELECT c FROM pages WHERE p = ?", 1).PageSize(7).Iter()))
	first := session.Query("SELECT c FROM pages WHERE p = ?", 1).PageSize(7).PageState(nil).Iter()
	state := first.PageState()
	same(all[:7], numbers(first))
	second := session.Query("SELECT c FROM pages WHERE p = ?", 1).PageSize(100).PageState(state).Iter()
	same(all[7:], numbers(second))
}

func collections() {
	insert := "INSERT INTO collections (k, l, s, m, fl, deep) VALUES (?, ?, ?, ?, ?, ?)"
	list, set, pairs := []int{3, 1, 3}, []string{"", "a", "b"}, map[string]int{"x": 1, "y": -2147483648}
	frozen := []map[int]string{{1: "a"}, {}, {2: "b"}}
	deep := map[string][][]int{"k": {{1, 2}, {}}}
	must(session.Query(insert, 1, list, set, pairs, frozen, deep).Exec())
	read := "SELECT l, s, m, fl, deep FROM collections WHERE k = ?"
	var l []int
	var s []string
	var m map[string]int
	var fl []map[int]string
	var d map[string][][]int
	must(session.Query(read, 1).Scan(&l, &s, &m, &fl, &d))
	same([]any{list, set, pairs, frozen, deep}, []any{l, s, m, fl, d})
	must(session.Query(insert, 2, []int{}, []string{}, map[string]int{}, []map[int]string{}, map[string][][]int{}).Exec())
	must(session.Query(read, 2).Scan(&l, &s, &m, &fl, &d))
	same([]any{0, 0, 0, true}, []any{len(l), len(s), len(m), fl != nil && len(fl) == 0})
	must(session.Query("UPDATE collections SET l = l + [9], m['z'] = 5, s = s - {'a'} WHERE k = 1").Exec())
	must(session.Query(read, 1).Scan(&l, &s, &m, &fl, &d))
	same([]any{[]int{3, 1, 3, 9}, []string{"", "b"}, 5}, []any{l, s, m["z"]})
}

type address struct {
	Street *string  `cql:"street"`
	Zip    *int     `cql:"zip"`
	Phones []string `cql:"phones"`
}

func userTypes() {
	street, zip := "Elm 1", 12345
	home := address{&street, &zip, []string{"+1", "+2"}}
	partial := address{&street, nil, nil}
	// This driver binds the elements of a tuple, not the tuple.
	must(session.Query("INSERT INTO people (name, home, others, pair) VALUES (?, ?, ?, (?, ?, ?))", "Ann", home,
		[]address{partial, home}, 1, "x", nil).Exec())
	var read address
	var others []address
	var number *int
	var text *string
	var real *float64
	must(session.Query("SELECT home, others, pair FROM people WHERE name = ?", "Ann").Scan(&read, &others, &number, &text, &real))
	same(home, read)
	same([]address{partial, home}, others)
	same([]any{1, "x", true}, []any{*number, *text, real == nil})
}

func vector() {
	must(session.Query("INSERT INTO vectors (k, v) VALUES (?, ?)", 1, []float32{1, 2.5, -3}).Exec())
	var read []float32
	must(session.Query("SELECT v FROM vectors WHERE k = ?", 1).Scan(&read))
	same([]float32{1, 2.5, -3}, read)
	var k int
	must(session.Query("SELECT k FROM vectors WHERE k = 1 AND v = [1, 2.5, -3] ALLOW FILTERING").Scan(&k))
}

func absent() {
	insert := "INSERT INTO plain (k, a, b) VALUES (?, ?, ?)"
	must(session.Query(insert, 10, 1, "").Exec())
	must(session.Query(insert, 10, gocql.UnsetValue, gocql.UnsetValue).Exec())
	var a *int
	var b *string
	must(session.Query("SELECT a, b FROM plain WHERE k = 10").Scan(&a, &b))
	same([]any{1, ""}, []any{*a, *b})
	must(session.Query(insert, 10, nil, nil).Exec())
	must(session.Query("SELECT a, b FROM plain WHERE k = 10").Scan(&a, &b))
	same([]bool{true, true}, []bool{a == nil, b == nil})
}

func batches() {
	for base, kind := range map[int]gocql.BatchType{100: gocql.LoggedBatch, 200: gocql.UnloggedBatch} {
		must(session.Batch(kind).Query("INSERT INTO plain (k, a) VALUES (?, ?)", base, 1).
			Query("INSERT INTO plain (k, a) VALUES (?, ?)", base+1, 2).
			Query("INSERT INTO plain (k, b) VALUES (?, 'text')", base+2).
			Query("DELETE FROM plain WHERE k = 1000").Exec())
		same(3, session.Query("SELECT k FROM plain WHERE k IN (?, ?, ?)", base, base+1, base+2).Iter().NumRows())
	}
}

func counters() {
	add := "UPDATE hits SET n = n + ? WHERE k = ?"
	must(session.Batch(gocql.CounterBatch).Query(add, int64(5), 1).Query(add, int64(-2), 1).Query(add, int64(10), 1).Exec())
	var n int64
	must(session.Query("SELECT n FROM hits WHERE k = 1").Scan(&n))
	same(int64(13), n)
	var invalid *gocql.RequestErrInvalid
	failsAs(session.Batch(gocql.LoggedBatch).Query(add, int64(1), 1).Exec(), &invalid)
}

func conditions() {
	insert := "INSERT INTO accounts (k, c, v) VALUES (?, ?, ?) IF NOT EXISTS"
	update := "UPDATE accounts SET v = ? WHERE k = ? AND c = ? IF v = ?"
	cas := func(query *gocql.Query) (bool, map[string]any) {
		row := map[string]any{}
		applied, err := query.MapScanCAS(row)
		must(err)
		return applied, row
	}
	applied, _ := cas(session.Query(insert, 1, 1, 7))
	same(true, applied)
	applied, row := cas(session.Query(insert, 1, 1, 8))
	same([]any{false, 7, 1}, []any{applied, row["v"], row["c"]})
	applied, _ = cas(session.Query(update, 9, 1, 1, 7))
	same(true, applied)
	applied, row = cas(session.Query(update, 9, 1, 1, 7).SerialConsistency(gocql.LocalSerial))
	same([]any{false, map[string]any{"v": 9}}, []any{applied, row})
	for _, expected := range []bool{true, false} {
		batch := session.Batch(gocql.LoggedBatch).Query(update, 10, 1, 1, 9).Query(insert, 1, 2, 2)
		applied, iterator, err := batch.MapExecCAS(map[string]any{})
		must(err)
		must(iterator.Close())
		same(expected, applied)
	}
	var v int
	must(session.Query("SELECT v FROM accounts WHERE k = 1 AND c = 1").Consistency(gocql.Serial).Scan(&v))
	same(10, v)
}

func serverErrors() {
	var syntax *gocql.RequestErrSyntax
	failsAs(session.Query("SELEC * FROM plain").Exec(), &syntax)
	var invalid *gocql.RequestErrInvalid
	failsAs(session.Query("SELECT nope FROM plain").Exec(), &invalid)
	var exists *gocql.RequestErrAlreadyExists
	failsAs(session.Query("CREATE TABLE plain (k int PRIMARY KEY)").Exec(), &exists)
	same([]string{"clients", "plain"}, []string{exists.Keyspace, exists.Table})
	var configuration *gocql.RequestErrConfig
	failsAs(session.Query("CREATE KEYSPACE x WITH replication = {'class': 'NoSuchStrategy'}").Exec(), &configuration)
	failsAs(session.Query("SELECT * FROM plain WHERE k = ?", nil).Exec(), &invalid)
	same(gocql.ErrNotFound, session.Query("SELECT a FROM plain WHERE k = 404").Scan(new(int)))
	iterator := session.Query("SELECT count(*) FROM plain").Iter()
	same(true, strings.Contains(iterator.Warnings()[0], "Aggregation query used without partition key"))
	must(iterator.Close())
}

type tables struct{ created, dropped atomic.Int32 }

func (t *tables) OnTableCreated(event gocql.OnTableCreatedEvent) {
	if event.Table.Name == "seen" {
		t.created.Add(1)
	}
}
func (t *tables) OnTableUpdated(gocql.OnTableUpdatedEvent) {}
func (t *tables) OnTableDropped(event gocql.OnTableDroppedEvent) {
	if event.Table.Name == "seen" {
		t.dropped.Add(1)
	}
}

func events() {
	listener := &tables{}
	config := options("clients")
	config.Metadata.SchemaListener.TableChangeListener = listener
	other := open(config)
	defer other.Close()
	must(session.Query("CREATE TABLE seen (k int PRIMARY KEY)").Exec())
	eventually(20*time.Second, func() bool { return listener.created.Load() == 1 })
	must(session.Query("DROP TABLE seen").Exec())
	eventually(20*time.Second, func() bool { return listener.dropped.Load() == 1 })
}

func tracing() {
	var written bytes.Buffer
	must(session.Query("SELECT * FROM plain WHERE k = 10").Trace(gocql.NewTraceWriter(session, &written)).Exec())
	same(true, strings.Contains(written.String(), "Tracing session"))
	same(true, strings.Count(written.String(), "\n") > 2)
}

func compressed(compressor gocql.Compressor, version int) {
	config := options("clients")
	config.Compressor = compressor
	config.ProtoVersion = version
	one := open(config)
	defer one.Close()
	large := strings.Repeat("abcdefgh", 50_000)
	must(one.Query("INSERT INTO plain (k, b) VALUES (?, ?)", 20, large).Exec())
	var read string
	must(one.Query("SELECT b FROM plain WHERE k = 20").Scan(&read))
	same(large, read)
}

func versionFive() {
	config := options("")
	config.ProtoVersion = 5
	none := open(config)
	defer none.Close()
	var k int
	must(none.Query("SELECT k FROM plain WHERE k = 10").SetKeyspace("clients").Scan(&k))
	must(none.Query("SELECT k FROM plain WHERE k = ?", 10).SetKeyspace("clients").Scan(&k))
	same(10, k)
}

func restarted() {
	var a int
	read := func() error { return session.Query("SELECT a FROM plain WHERE k = ?", 300).Scan(&a) }
	must(session.Query("INSERT INTO plain (k, a) VALUES (300, 42)").Exec())
	must(read())
	if !restart() {
		notOffered("re-prepared", "the server is not ours to restart")
		return
	}
	// The statement is prepared again by the way: the server no longer knows it, or must still.
	a = 0
	eventually(30*time.Second, func() bool { return read() == nil })
	check("re-prepared", "the same statement", func() { must(read()); same(42, a) })
}
