package bustest

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/suite"
)

// TestCluster: after the leader of three servers is killed, the other two still have the stored message, and so does the third after its restart.
func TestCluster(t *testing.T) {
	suite.Long(t)
	c := Cluster(t, 3)
	conn, err := nats.Connect(c.URL(), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "kept", Subjects: []string{"kept"}, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "kept", []byte("a")); err != nil {
		t.Fatal(err)
	}
	first := c.Leader("kept")
	if first < 0 {
		t.Fatal("a stream of three replicas has no leader")
	}
	c.Each()[first].Kill()
	c.Ready(1)
	second := first
	for second == first || second < 0 {
		second = c.Leader("kept")
	}
	c.Each()[first].Run()
	c.Ready(3)
	stream, err := js.Stream(t.Context(), "kept")
	if err != nil {
		t.Fatal(err)
	}
	if m, err := stream.GetMsg(t.Context(), 1); err != nil || string(m.Data) != "a" {
		t.Errorf("found %v (%v), expected what was kept before", m, err)
	}
}
