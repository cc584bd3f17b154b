package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"driftscope/internal/kit/system"
	"driftscope/internal/suite"
)

// machine is one nats-server.
type machine struct {
	process
	name    string
	address string        // of clients
	monitor string        // of its HTTP pages
	routes  []*suite.Link // to and from every other server
}

// cut cuts the server off from the others, or mends the routes. Clients still reach it.
func (m *machine) cut(off bool) {
	for _, r := range m.routes {
		turn(r, off)
	}
}

// turn cuts a way, so that nothing passes and connections stay, or mends it.
func turn(l *suite.Link, off bool) {
	if off {
		l.Turn(suite.Held)
	} else {
		l.Turn(suite.Whole)
	}
}

// nowhere is an address without a server: gossip leads there, so each server uses only the routes of its own configuration, which the trial can cut.
const nowhere = "127.0.0.1:1"

// newServers writes the configuration of n servers that are one cluster, and starts them. Their ports are reserved for as long as they run.
func newServers(folder string, n int, ports *suite.ReservedPorts) ([]*machine, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	free := make([]string, 3*n)
	for i := range free {
		number, err := ports.Next()
		if err != nil {
			return nil, err
		}
		free[i] = fmt.Sprintf("127.0.0.1:%d", number)
	}
	servers := make([]*machine, n)
	for i := range servers {
		servers[i] = &machine{name: fmt.Sprint("s", i), address: free[3*i+1], monitor: free[3*i+2]}
	}
	for i, m := range servers {
		var routes []string
		for j, other := range servers {
			if j == i {
				continue
			}
			r, err := suite.NewLink(free[3*j])
			if err != nil {
				return servers, err
			}
			m.routes, other.routes = append(m.routes, r), append(other.routes, r)
			routes = append(routes, fmt.Sprintf("%q", r.Addresses()[0]))
		}
		own := filepath.Join(folder, m.name)
		if err := os.MkdirAll(own, 0o700); err != nil {
			return servers, err
		}
		text := fmt.Sprintf("server_name: %s\nlogtime: true\nlisten: %q\nhttp: %q\nlog_file: %q\nmax_payload: 8MB\njetstream: {store_dir: %q, max_file_store: 1TB, max_memory_store: 256MB}\n",
			m.name, m.address, m.monitor, filepath.Join(own, "log"), filepath.Join(own, "store"))
		if n > 1 {
			text += fmt.Sprintf("cluster: {name: bench, listen: %q, advertise: %q, routes: [%s], no_advertise: true}\n", free[3*i], nowhere, strings.Join(routes, ", "))
		}
		file := filepath.Join(own, "conf")
		if err := system.WriteFile(file, []byte(text)); err != nil {
			return servers, err
		}
		m.process = process{program: self, args: []string{"bench", "cluster", "--serve", file}, log: filepath.Join(own, "out")}
		if err := m.start(); err != nil {
			return servers, err
		}
	}
	return servers, nil
}

// asking leaves no connection open: servers are killed.
var asking = http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// page reads one of a server's pages into dst.
func (m *machine) page(ctx context.Context, path string, dst any) error {
	ctx, done := context.WithTimeout(ctx, time.Second)
	defer done()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.monitor+path, nil)
	if err != nil {
		return err
	}
	answer, err := asking.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(dst)
}

// healthy waits until every server has all its data.
func healthy(ctx context.Context, servers []*machine) error {
	for _, m := range servers {
		var err error
		for end := time.Now().Add(settling); ; {
			var health struct{ Status string }
			if err = m.page(ctx, "/healthz", &health); err == nil && health.Status == "ok" {
				break
			}
			if time.Now().After(end) || ctx.Err() != nil {
				return fmt.Errorf("server %s is not well after %v: %w", m.name, settling, errors.Join(err, ctx.Err()))
			}
			pause(ctx, 100*time.Millisecond)
		}
	}
	return nil
}

// leader returns the server that leads the cluster's own records, or nil if there is none.
func leader(ctx context.Context, servers []*machine) *machine {
	for _, m := range servers {
		var page struct {
			Meta struct {
				Leader string `json:"leader"`
			} `json:"meta_cluster"`
		}
		if m.page(ctx, "/jsz", &page) != nil {
			continue
		}
		for _, l := range servers {
			if l.name == page.Meta.Leader {
				return l
			}
		}
	}
	return nil
}

// traffic returns the messages that clients have sent to a server.
type traffic struct {
	Messages int64 `json:"in_msgs"`
	Bytes    int64 `json:"in_bytes"`
	Out      int64 `json:"out_msgs"`
	OutBytes int64 `json:"out_bytes"`
}

// trafficOf returns the sum of the traffic of all servers, including routes.
func trafficOf(ctx context.Context, servers []*machine) (sum traffic, err error) {
	for _, m := range servers {
		var t traffic
		if err := m.page(ctx, "/varz", &t); err != nil {
			return sum, fmt.Errorf("server %s: %w", m.name, err)
		}
		sum.Messages, sum.Bytes, sum.Out, sum.OutBytes = sum.Messages+t.Messages, sum.Bytes+t.Bytes, sum.Out+t.Out, sum.OutBytes+t.OutBytes
	}
	return sum, nil
}

// addresses returns the addresses at which clients find the servers.
func addresses(servers []*machine) string {
	all := make([]string, len(servers))
	for i, m := range servers {
		all[i] = "nats://" + m.address
	}
	return strings.Join(all, ",")
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
