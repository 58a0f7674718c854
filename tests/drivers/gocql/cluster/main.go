// The Go driver, unmodified, over the servers of a cluster. See tests/ceph/drivers.py for what it is told and what it prints.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// hosts is the driver's token-aware policy, and counts the hosts that the driver takes to be up.
type hosts struct {
	gocql.HostSelectionPolicy
	mutex  sync.Mutex
	up     map[string]bool
	tokens map[string]int
}

func (h *hosts) set(host *gocql.HostInfo, up bool) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.up[host.HostID()] = up
	h.tokens[host.HostID()] = len(host.Tokens())
}

func (h *hosts) AddHost(host *gocql.HostInfo) {
	h.set(host, true)
	h.HostSelectionPolicy.AddHost(host)
}

func (h *hosts) RemoveHost(host *gocql.HostInfo) {
	h.set(host, false)
	h.HostSelectionPolicy.RemoveHost(host)
}

func (h *hosts) HostUp(host *gocql.HostInfo) {
	h.set(host, true)
	h.HostSelectionPolicy.HostUp(host)
}

func (h *hosts) HostDown(host *gocql.HostInfo) {
	h.set(host, false)
	h.HostSelectionPolicy.HostDown(host)
}

// count returns the hosts that are up and have tokens.
func (h *hosts) count() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	count := 0
	for id, up := range h.up {
		if up && h.tokens[id] > 0 {
			count++
		}
	}
	return count
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func execute(session *gocql.Session, count int) {
	var found string
	for key := 0; key < count; key++ {
		must(session.Query("INSERT INTO t (k, v) VALUES (?, ?)", key, "gocql").Exec())
		must(session.Query("SELECT v FROM t WHERE k = ?", key).Scan(&found))
		if found != "gocql" {
			must(fmt.Errorf("partition %d has %s", key, found))
		}
	}
	fmt.Println("executed", 2*count)
}

// load writes with four clients until stopping is set. It must not be retried by the driver.
func load(session *gocql.Session, count int, stopping *atomic.Bool, done *sync.WaitGroup, good, failed *atomic.Int64) {
	for client := 0; client < 4; client++ {
		done.Add(1)
		go func(first int) {
			defer done.Done()
			for number := first; !stopping.Load(); number += 4 {
				if err := session.Query("INSERT INTO t (k, v) VALUES (?, ?)", number%count, "load").Exec(); err != nil {
					fmt.Fprintln(os.Stderr, err)
					failed.Add(1)
				} else {
					good.Add(1)
				}
			}
		}(client)
	}
}

func main() {
	count, _ := strconv.Atoi(os.Getenv("SIBYL_COUNT"))
	policy := &hosts{HostSelectionPolicy: gocql.TokenAwareHostPolicy(gocql.RoundRobinHostPolicy()), up: map[string]bool{}, tokens: map[string]int{}}
	config := gocql.NewCluster(os.Getenv("SIBYL_HOST"))
	config.Port, _ = strconv.Atoi(os.Getenv("SIBYL_PORT"))
	config.Keyspace = "ks"
	config.Timeout = 20 * time.Second
	config.ReconnectInterval = 200 * time.Millisecond
	config.PoolConfig.HostSelectionPolicy = policy
	session, err := config.CreateSession()
	must(err)
	defer session.Close()
	fmt.Println("hosts", policy.count())
	execute(session, count)

	var stopping atomic.Bool
	var good, failed atomic.Int64
	var done sync.WaitGroup
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		switch input.Text() {
		case "load":
			load(session, count, &stopping, &done, &good, &failed)
		case "done":
			fmt.Println("done", good.Load())
		case "hosts":
			fmt.Println("hosts", policy.count())
		case "stop":
			stopping.Store(true)
			done.Wait()
			fmt.Println("stopped", good.Load(), failed.Load())
			return
		}
	}
}
