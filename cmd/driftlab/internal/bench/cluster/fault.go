package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"driftscope/internal/suite"
)

// Faults.
const (
	faultKill      = "kill"      // kills a worker with SIGKILL
	faultFreeze    = "freeze"    // stops a worker with SIGSTOP, for three TTLs
	faultPartition = "partition" // cuts a worker off from the servers, for three TTLs
	faultServer    = "server"    // kills a server that does not lead the cluster's records
	faultMeta      = "meta"      // kills the server that leads them
	faultLeases    = "leases"    // deletes the bucket of leases
	faultStreams   = "streams"   // deletes the bucket of streams, which are added again
	faultWorkers   = "workers"   // deletes the bucket of workers
	faultForge     = "forge"     // overwrites a stream's lease in the name of an unknown worker
	faultRoute     = "route"     // cuts a server's routes to the others, for three TTLs; its clients stay connected
	faultClock     = "clock"     // moves the wall clock of a server or a worker by an hour, for three TTLs
	faultTwin      = "twin"      // freezes a worker, starts another of its name, and thaws the first
)

// wound is a fault in effect.
type wound struct {
	at       time.Time
	who      string
	affected map[string]bool // streams of the struck worker; nil for none in particular
	least    time.Duration   // shortest time before healing
	heal     func(ctx context.Context) error
}

// strike causes a fault.
func (l *lab) strike(ctx context.Context, fault string, random *rand.Rand) (w wound, err error) {
	nothing := func(context.Context) error { return nil }
	w = wound{at: time.Now(), heal: nothing}
	switch fault {
	case faultKill, faultFreeze, faultPartition:
		return l.strikeWorker(fault, l.workers[random.IntN(len(l.workers))]), nil
	case faultServer, faultMeta:
		return l.strikeServer(ctx, fault, random)
	case faultRoute:
		m := l.servers[random.IntN(len(l.servers))]
		m.cut(true)
		w.who, w.least = m.name, 3*l.c.TTL
		w.heal = func(ctx context.Context) error { m.cut(false); return healthy(ctx, l.servers) }
		return w, nil
	case faultClock:
		return l.strikeClock(random)
	case faultTwin:
		return l.strikeTwin(random)
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

// strikeWorker causes a fault of a worker.
func (l *lab) strikeWorker(fault string, x *worker) wound {
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
		turn(x.way, true)
		w.heal = func(context.Context) error { turn(x.way, false); return nil }
	}
	return w
}

// strikeClock sets the wall clock of one process an hour ahead or back.
func (l *lab) strikeClock(random *rand.Rand) (w wound, err error) {
	off := time.Hour
	if random.IntN(2) == 0 {
		off = -off
	}
	struck, name := &process{}, ""
	if i := random.IntN(len(l.servers) + len(l.workers)); i < len(l.servers) {
		struck, name = &l.servers[i].process, l.servers[i].name
	} else {
		struck, name = &l.workers[i-len(l.servers)].process, l.workers[i-len(l.servers)].name
	}
	w = wound{at: time.Now(), who: fmt.Sprintf("%s, %+v", name, off), least: 3 * l.c.TTL}
	w.heal = func(context.Context) error { return suite.StepClock(struck.run.Process.Pid, 0) }
	return w, suite.StepClock(struck.run.Process.Pid, off)
}

// strikeTwin freezes a worker, starts another of its name, and thaws the first, which must then end by itself.
func (l *lab) strikeTwin(random *rand.Rand) (w wound, err error) {
	i := random.IntN(len(l.workers))
	x := l.workers[i]
	w = l.strikeWorker(faultFreeze, x)
	l.twins++
	twin, err := l.startWorker(x.name, fmt.Sprint("-", l.twins))
	if twin == nil {
		return w, err
	}
	l.workers[i] = twin
	w.heal = func(ctx context.Context) error {
		defer x.way.Close()
		defer x.kill()
		x.signal(syscall.SIGCONT)
		for end := time.Now().Add(patience * l.c.TTL); !x.gone(); pause(ctx, 100*time.Millisecond) {
			if time.Now().After(end) || ctx.Err() != nil {
				return fmt.Errorf("two workers are called %s, and the one that was away was not refused within %v: see %s", x.name, patience*l.c.TTL, x.log)
			}
		}
		if twin.gone() {
			return fmt.Errorf("both workers called %s have ended: see %s and %s", x.name, x.log, twin.log)
		}
		return nil
	}
	return w, err
}

// strikeServer kills a server.
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

// desireAgain adds the streams that vanished with their bucket, as an operator would.
func (l *lab) desireAgain(ctx context.Context) error {
	for _, name := range l.streams {
		if err := l.desire(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// forge overwrites a lease, with its current epoch and an unknown name.
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
