package main

import (
	"os"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

func login(user, password string) *gocql.ClusterConfig {
	config := options("")
	config.Authenticator = gocql.PasswordAuthenticator{Username: user, Password: password}
	config.SslOpts = &gocql.SslOptions{CaPath: os.Getenv("SIBYL_CA"), EnableHostVerification: true}
	return config
}

// secured checks login and TLS.
func secured() {
	user, password := os.Getenv("SIBYL_USER"), os.Getenv("SIBYL_PASSWORD")
	check("tls", "the certificate is checked", func() {
		one := open(login(user, password))
		defer one.Close()
		var key string
		must(one.Query("SELECT key FROM system.local").Scan(&key))
		same("local", key)
		config := login(user, password)
		config.SslOpts = &gocql.SslOptions{EnableHostVerification: true}
		_, err := config.CreateSession()
		same(true, err != nil && strings.Contains(err.Error(), "certificate"))
	})
	check("login", "a role of its own, what it may and may not", func() {
		one := open(login(user, password))
		defer one.Close()
		for _, statement := range []string{
			"CREATE KEYSPACE secrets WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
			"CREATE TABLE secrets.t (k int PRIMARY KEY)",
			"CREATE ROLE reader WITH PASSWORD = 'paper' AND LOGIN = true",
			"GRANT SELECT ON secrets.t TO reader",
		} {
			must(one.Query(statement).Exec())
		}
		reader := open(login("reader", "paper"))
		defer reader.Close()
		must(reader.Query("SELECT * FROM secrets.t").Exec())
		var unauthorized *gocql.RequestErrUnauthorized
		failsAs(reader.Query("INSERT INTO secrets.t (k) VALUES (1)").Exec(), &unauthorized)
	})
	check("login", "a wrong password", func() {
		_, err := login(user, password+"x").CreateSession()
		same(true, err != nil && strings.Contains(err.Error(), "Provided username"))
	})
}
