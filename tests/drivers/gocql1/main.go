// The Go driver of major version 1, unmodified. See harness.py for what it is told and what it prints.
package main

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/gocql/gocql"
)

func options(keyspace string) *gocql.ClusterConfig {
	config := gocql.NewCluster(os.Getenv("SIBYL_HOST"))
	config.Port, _ = strconv.Atoi(os.Getenv("SIBYL_PORT"))
	config.Keyspace = keyspace
	config.Consistency = gocql.One
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
		if module.Path == "github.com/gocql/gocql" {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return ""
}

func main() {
	say(map[string]any{"version": driverVersion()})
	if os.Getenv("SIBYL_MODE") == "secured" {
		return // ../gocql checks it
	}
	check("connect", "without a keyspace", connect)
	makeSchema()
	check("prepared", "markers by position and name", prepared)
	schemaChanges(3, 4)
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
	same(true, name != "" && strings.HasPrefix(version, "5."))
}

func prepared() {
	session := open(options("clients"))
	defer session.Close()
	must(session.Query("INSERT INTO plain (k, a, b) VALUES (:k, :a, :b)", gocql.NamedValue("k", 1), gocql.NamedValue("a", 2),
		gocql.NamedValue("b", "three")).Exec())
	same(map[string]any{"k": 1, "a": 2, "b": "three"}, row(session, "SELECT * FROM plain WHERE k = ?", 1))
}

func restarted() {
	session := open(options("clients"))
	defer session.Close()
	var a int
	read := func() error { return session.Query("SELECT a FROM plain WHERE k = ?", 300).Scan(&a) }
	must(session.Query("INSERT INTO plain (k, a) VALUES (300, 42)").Exec())
	must(read())
	if !restart() {
		notOffered("re-prepared", "the server is not ours to restart")
		return
	}
	a = 0
	eventually(30*time.Second, func() bool { return read() == nil })
	check("re-prepared", "the same statement", func() { must(read()); same(42, a) })
}
