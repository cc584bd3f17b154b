package cluster

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// worker is one driftscope work, with its way to the servers.
type worker struct {
	process
	name string
	way  *way
}

// newWorker starts one, which may have all streams.
func (l *lab) newWorker() (*worker, error) {
	var to []string
	for _, m := range l.servers {
		to = append(to, m.address)
	}
	w := &worker{name: fmt.Sprint("w", len(l.workers))}
	var err error
	if w.way, err = newWay(to); err != nil {
		return nil, err
	}
	l.workers = append(l.workers, w)
	w.process = process{
		args: []string{"work", "--nats", strings.Join(w.way.addresses(), ","), "--name", w.name, "--cores", strconv.Itoa(max(l.c.Streams, 1)), "--site", siteName,
			"--store", filepath.Join(l.folder, w.name), "--replicas", strconv.Itoa(l.c.Replicas), "--ttl", l.c.TTL.String()},
		log: filepath.Join(l.folder, w.name+".log"),
	}
	return w, w.start()
}
