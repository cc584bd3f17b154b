package cluster

import (
	"driftscope/internal/suite"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// worker is one driftscope work, with its link to the servers.
type worker struct {
	process
	name string
	way  *suite.Link
}

// newWorker starts a worker that may take all streams.
func (l *lab) newWorker() (*worker, error) {
	w, err := l.startWorker(fmt.Sprint("w", len(l.workers)), "")
	if w != nil {
		l.workers = append(l.workers, w)
	}
	return w, err
}

// startWorker starts a worker of a name; which distinguishes its log and folder from another worker of that name.
func (l *lab) startWorker(name, which string) (*worker, error) {
	var to []string
	for _, m := range l.servers {
		to = append(to, m.address)
	}
	w := &worker{name: name}
	var err error
	if w.way, err = suite.NewLink(to...); err != nil {
		return nil, err
	}
	w.process = process{
		program: l.driftscope,
		args: []string{"work", "--nats", strings.Join(w.way.Addresses(), ","), "--name", w.name, "--cores", strconv.Itoa(max(l.c.Streams, 1)), "--site", siteName,
			"--store", filepath.Join(l.folder, w.name+which), "--replicas", strconv.Itoa(l.c.Replicas), "--ttl", l.c.TTL.String()},
		log: filepath.Join(l.folder, w.name+which+".log"),
	}
	return w, w.start()
}
