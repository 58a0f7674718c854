package main

import (
	_ "unsafe" // for the name below

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// The driver's own hash, which it keeps to itself.
//
//go:linkname driverToken github.com/apache/cassandra-gocql-driver/v2/internal/murmur.Murmur3H1
func driverToken(data []byte) int64

// watchedPolicy is the driver's token-aware policy; it tells the routing key of the last statement.
type watchedPolicy struct {
	gocql.HostSelectionPolicy
	last []byte
}

func (p *watchedPolicy) Pick(query gocql.ExecutableQuery) gocql.NextHost {
	if key, err := query.GetRoutingKey(); err == nil && key != nil {
		p.last = key
	}
	return p.HostSelectionPolicy.Pick(query)
}

func routing() {
	policy := &watchedPolicy{HostSelectionPolicy: gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy())}
	config := options("clients")
	config.PoolConfig.HostSelectionPolicy = policy
	session, err := config.CreateSession()
	must(err)
	defer session.Close()
	var token int64
	for _, a := range []int{7, -1, 2147483647} {
		must(session.Query("INSERT INTO routes (v, b, a) VALUES (?, ?, ?)", 1, "x", a).Exec())
		key := policy.last
		same(11, len(key)) // 2 + 4 + 1 and 2 + 1 + 1
		must(session.Query("SELECT token(a, b) FROM routes WHERE a = ? AND b = ?", a, "x").Scan(&token))
		same(driverToken(key), token)
	}
	for _, k := range []string{"a", "žluťoučký", "a key of more than sixteen bytes"} {
		must(session.Query("INSERT INTO routes_one (k, v) VALUES (?, ?)", k, 1).Exec())
		same([]byte(k), policy.last)
		must(session.Query("SELECT token(k) FROM routes_one WHERE k = ?", k).Scan(&token))
		same(driverToken([]byte(k)), token)
	}
}
