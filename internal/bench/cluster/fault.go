package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"
)

// Faults.
const (
	faultKill      = "kill"      // a worker, with SIGKILL
	faultFreeze    = "freeze"    // a worker, with SIGSTOP, for three TTLs
	faultPartition = "partition" // a worker's way to the servers, for three TTLs
	faultServer    = "server"    // a server that does not lead the cluster's records
	faultMeta      = "meta"      // the one that does
	faultLeases    = "leases"    // the bucket of leases is deleted
	faultStreams   = "streams"   // that of streams, which are added again
	faultWorkers   = "workers"   // that of workers
	faultForge     = "forge"     // a lease of one stream is written over, as of a worker that nobody knows
)

// wound is a fault that was done.
type wound struct {
	at       time.Time
	who      string
	affected map[string]bool // streams of the worker that is struck; nil: none in particular
	least    time.Duration   // before it is healed
	heal     func(ctx context.Context) error
}

// strike does a fault.
func (l *lab) strike(ctx context.Context, fault string, random *rand.Rand) (w wound, err error) {
	nothing := func(context.Context) error { return nil }
	w = wound{at: time.Now(), heal: nothing}
	switch fault {
	case faultKill, faultFreeze, faultPartition:
		return l.strikeWorker(fault, random), nil
	case faultServer, faultMeta:
		return l.strikeServer(ctx, fault, random)
	case faultLeases, faultStreams, faultWorkers:
		w.who, w.least = "bucket of "+fault, 2*l.c.TTL
		if fault == faultStreams {
			w.heal = l.desireAgain
		}
		names, err := l.conn.Subject("any")
		if err != nil {
			return w, err
		}
		return w, l.js.DeleteKeyValue(ctx, names.BucketOf(fault))
	case faultForge:
		name := l.streams[random.IntN(len(l.streams))]
		w.who, w.affected, w.least = "lease of "+name, map[string]bool{name: true}, 2*l.c.TTL
		return w, l.forge(ctx, name)
	}
	return w, fmt.Errorf("fault: found %s, expected one of %v", fault, allFaults)
}

// strikeWorker does one to a worker.
func (l *lab) strikeWorker(fault string, random *rand.Rand) wound {
	x := l.workers[random.IntN(len(l.workers))]
	w := wound{who: x.name, affected: map[string]bool{}, least: 3 * l.c.TTL}
	for name, holder := range l.running() {
		if holder == x.name {
			w.affected[name] = true
		}
	}
	w.at = time.Now()
	switch fault {
	case faultKill:
		x.kill()
		w.least, w.heal = 0, func(context.Context) error { return x.start() }
	case faultFreeze:
		x.signal(syscall.SIGSTOP)
		w.heal = func(context.Context) error { x.signal(syscall.SIGCONT); return nil }
	case faultPartition:
		x.way.cut(true)
		w.heal = func(context.Context) error { x.way.cut(false); return nil }
	}
	return w
}

// strikeServer kills one.
func (l *lab) strikeServer(ctx context.Context, fault string, random *rand.Rand) (w wound, err error) {
	leads := leader(ctx, l.servers)
	if leads == nil {
		return w, fmt.Errorf("no server leads the cluster")
	}
	struck := leads
	for fault == faultServer && struck == leads && len(l.servers) > 1 {
		struck = l.servers[random.IntN(len(l.servers))]
	}
	w = wound{at: time.Now(), who: struck.name, least: 2 * l.c.TTL}
	struck.kill()
	w.heal = func(ctx context.Context) error {
		if err := struck.start(); err != nil {
			return err
		}
		return healthy(ctx, l.servers)
	}
	return w, nil
}

// desireAgain adds the streams that vanished with their bucket, as a person does.
func (l *lab) desireAgain(ctx context.Context) error {
	for _, name := range l.streams {
		if err := l.desire(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// forge writes a lease over, with the epoch of the one that is there and a stranger's name.
func (l *lab) forge(ctx context.Context, name string) error {
	for _, x := range l.site.Leases() {
		if x.Stream != name {
			continue
		}
		names, err := l.conn.Subject("any")
		if err != nil {
			return err
		}
		kv, err := l.js.KeyValue(ctx, names.BucketOf("leases"))
		if err != nil {
			return err
		}
		_, err = kv.Put(ctx, name, fmt.Appendf(nil, `{"worker":"mallory","id":"MALLORY","epoch":%d,"since":"2031-01-01T00:00:00Z","version":"v99"}`, x.Record.Epoch+1))
		return err
	}
	return fmt.Errorf("stream %s has no lease to be forged", name)
}
