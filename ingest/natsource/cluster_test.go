package natsource

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/ingest/ingesttest"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/frame"
	"driftscope/internal/suite"
)

// threeServers starts a cluster with JetStream. It returns the servers by name, and a URL with all addresses.
func threeServers(t *testing.T) (servers map[string]*bustest.Server, url string) {
	var routes []string
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		routes = append(routes, l.Addr().String())
		l.Close()
	}
	servers = map[string]*bustest.Server{}
	var urls []string
	for i, route := range routes {
		name := fmt.Sprint("s", i)
		servers[name] = bustest.Start(t, fmt.Sprintf("server_name: %s\njetstream {store_dir: %q}\ncluster {name: lab, listen: %q, routes: [%s]}",
			name, t.TempDir(), route, `"nats://`+strings.Join(routes, `", "nats://`)+`"`))
		urls = append(urls, servers[name].URL())
	}
	return servers, strings.Join(urls, ",")
}

// TestDurableCluster kills the stream's leader while frames are published and read. The other two servers have all frames, once and in order.
func TestDurableCluster(t *testing.T) {
	suite.Long(t)
	servers, url := threeServers(t)
	conn := dialled(t, url)
	js, err := jetstream.New(conn.NATS())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	keep := small
	keep.Replicas = 3
	again(ctx, t, func(asking context.Context) (jetstream.Stream, error) { return keep.streamOf(asking, js, "cam") }) // until the servers have formed a cluster
	p, s := durablePublisher(t, conn), durable(t, url, 0, 0)
	const frames = 600
	published := make(chan error, 1)
	go func() {
		for seq := range uint64(frames) {
			if err := p.Publish(ctx, ingesttest.Noisy(t, seq, 40, 30, frame.MatTypeCV16UC1), true); err != nil {
				published <- err
				return
			}
			time.Sleep(time.Millisecond)
		}
		published <- nil
	}()
	killed := ""
	for seq := range uint64(frames) {
		f, err := s.Read(ctx)
		if err != nil {
			t.Fatalf("frame %d: %v (%s)", seq, err, p.Problem())
		}
		if f.Seq != seq || f.Meta.Dropped != 0 || f.Meta.Place != seq+1 || len(f.Meta.Events) != 0 {
			t.Fatalf("frame %d: %+v", f.Seq, f.Meta)
		}
		f.Close()
		switch seq {
		case 200:
			killed = asked(ctx, t, js).Cluster.Leader
			servers[killed].Kill()
		case 400:
			servers[killed].Run()
		}
	}
	if err := <-published; err != nil {
		t.Fatal(err)
	}
	kept(t, p)
	if last := asked(ctx, t, js).State.LastSeq; last != frames || p.Delivered().Frames != frames {
		t.Errorf("the last frame kept is %d: %+v", last, p.Delivered())
	}
}

// asked returns the servers' information about the stream.
func asked(ctx context.Context, t *testing.T, js jetstream.JetStream) *jetstream.StreamInfo {
	t.Helper()
	return again(ctx, t, func(asking context.Context) (jetstream.Stream, error) {
		return js.Stream(asking, bus.FramesName("cam"))
	}).CachedInfo()
}

// again repeats a request until it is answered, because requests are lost while servers elect a leader.
func again[T any](ctx context.Context, t *testing.T, ask func(asking context.Context) (T, error)) T {
	t.Helper()
	for {
		asking, done := context.WithTimeout(ctx, answering)
		answer, err := ask(asking)
		done()
		if err == nil {
			return answer
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		pause(ctx, tryAgain)
	}
}
