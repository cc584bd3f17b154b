package bustest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// electing is the longest time for a cluster to elect a leader, on a busy machine.
const electing = 60 * time.Second

// Servers are the servers of a cluster with JetStream, each in its own process.
type Servers struct {
	t   testing.TB
	all []*Server
}

// Cluster runs n servers with JetStream as one cluster until the test ends, and returns when they can store streams. Server i is called si.
func Cluster(t testing.TB, n int) *Servers {
	t.Helper()
	routes := make([]string, n)
	for i := range routes {
		routes[i] = fmt.Sprintf("nats://127.0.0.1:%d", FreePort(t))
	}
	c := &Servers{t: t}
	for i, route := range routes {
		c.all = append(c.all, Start(t, fmt.Sprintf("server_name: s%d\njetstream: {store_dir: %q, max_file_store: 1GB, max_memory_store: 64MB}\ncluster: {name: test, listen: %q, routes: [%s]}\n",
			i, t.TempDir(), strings.TrimPrefix(route, "nats://"), strings.Join(routes, ", "))))
	}
	c.Ready(n)
	return c
}

// Each returns every server, for tests that kill, freeze or restart it.
func (c *Servers) Each() []*Server { return c.all }

// URL returns the addresses of all servers, separated by commas.
func (c *Servers) URL() string {
	urls := make([]string, len(c.all))
	for i, s := range c.all {
		urls[i] = s.URL()
	}
	return strings.Join(urls, ",")
}

// Leader returns the index of the server that leads a stream, or -1 if none does.
func (c *Servers) Leader(stream string) int {
	c.t.Helper()
	leader := -1
	c.ask(func(ctx context.Context, js jetstream.JetStream) error {
		s, err := js.Stream(ctx, stream)
		if err != nil {
			return err
		}
		if of := s.CachedInfo().Cluster; of != nil && of.Leader != "" {
			_, err = fmt.Sscanf(of.Leader, "s%d", &leader)
		}
		return err
	})
	return leader
}

// Ready waits until the cluster can create a stream with the given number of replicas.
func (c *Servers) Ready(replicas int) {
	c.t.Helper()
	const name = "bustest_ready"
	c.ask(func(ctx context.Context, js jetstream.JetStream) error {
		_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: name, Subjects: []string{name}, Replicas: replicas, Storage: jetstream.MemoryStorage})
		if err == nil {
			err = js.DeleteStream(ctx, name)
		}
		return err
	})
}

// ask repeats a request until a server answers.
func (c *Servers) ask(question func(context.Context, jetstream.JetStream) error) {
	c.t.Helper()
	conn, err := nats.Connect(c.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		c.t.Fatal(err)
	}
	for end := time.Now().Add(electing); ; time.Sleep(50 * time.Millisecond) {
		ctx, done := context.WithTimeout(c.t.Context(), 2*time.Second)
		err := question(ctx, js)
		done()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("the cluster has no answer within %v: %v", electing, err)
		}
	}
}
