package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"driftscope/internal/kit/console"
	"driftscope/internal/site"
)

// allFaults lists the available faults.
var allFaults = []string{faultKill, faultFreeze, faultServer, faultMeta, faultPartition, faultLeases, faultStreams, faultWorkers, faultForge, faultRoute, faultClock, faultTwin}

// Command measures a site of many workers.
type Command struct {
	Study      string        `enum:"faults,join,steady,scale,load" default:"faults" help:"Study: ${enum}."`
	Trials     int           `default:"10" help:"Number of faults, one after the other." placeholder:"N"`
	Faults     []string      `default:"kill,freeze,server,meta,partition" help:"Of these, and leases, streams, workers (a bucket is deleted), forge, route, clock, twin." placeholder:"FAULT"`
	Workers    int           `default:"4" help:"Number of workers; for the study load, the largest number." placeholder:"N"`
	Streams    int           `default:"12" help:"Streams." placeholder:"N"`
	FPS        float64       `name:"fps" default:"10" help:"Frames a second of each stream."`
	Replicas   int           `default:"3" help:"Number of servers; each has all data." placeholder:"N"`
	TTL        time.Duration `name:"ttl" default:"5s" help:"Of the leases."`
	Seed       uint64        `default:"1" help:"Seed of the faults, their targets and times."`
	For        time.Duration `name:"for" default:"1h" help:"Duration of the study steady; the study of faults begins no new fault after it." placeholder:"1h"`
	Folder     string        `help:"Folder for the servers' data and for logs (default: a temporary one)." placeholder:"DIR"`
	Driftscope string        `help:"Program whose workers are measured (default: the one beside this program)." placeholder:"FILE" type:"path"`
	JSON       bool          `name:"json" help:"Print one JSON object instead of a table."`
	Serve      string        `hidden:"" help:"Be a server with this configuration."`
}

// Help describes the measurement, under the command's own help.
func (c *Command) Help() string {
	return "Servers and workers are processes on this machine; workers reach the servers through proxies that can be cut. The same simulated film is kept on every stream. " +
		"The benchmark reads every kept result again: each frame once and in order, epochs that never fall, no epoch of two workers. " +
		"A takeover lasts from the fault to the first result that is kept under a new epoch. At the end the law of every stream is compared with an unbroken run's."
}

// check rejects impossible options.
func (c *Command) check() error {
	for _, f := range c.Faults {
		if !slices.Contains(allFaults, f) {
			return fmt.Errorf("--faults: found %s, expected some of %s", f, strings.Join(allFaults, ","))
		}
	}
	switch {
	case c.Trials < 1 || c.Trials > 10_000 || len(c.Faults) == 0:
		return fmt.Errorf("--trials, --faults: found %d of %d kinds, expected 1 to 10000 of one at least", c.Trials, len(c.Faults))
	case c.Workers < 2 || c.Workers > 1000 || c.Streams < 1 || c.Streams > 1000:
		return fmt.Errorf("--workers, --streams: found %d and %d, expected 2 to 1000 and 1 to 1000", c.Workers, c.Streams)
	case !(c.FPS > 0 && c.FPS <= 1000):
		return fmt.Errorf("--fps: found %g, expected more than 0 and at most 1000", c.FPS)
	case c.Replicas != 1 && c.Replicas != 3 && c.Replicas != 5:
		return fmt.Errorf("--replicas: found %d, expected 1, 3 or 5 servers", c.Replicas)
	case c.TTL < site.LeastTTL || c.TTL > time.Minute:
		return fmt.Errorf("--ttl: found %v, expected %v to a minute", c.TTL, site.LeastTTL)
	case c.For < time.Second:
		return fmt.Errorf("--for: found %v, expected a second at least", c.For)
	case c.Replicas == 1 && c.Study == "faults" && slices.ContainsFunc(c.Faults, func(f string) bool { return f == faultServer || f == faultMeta || f == faultRoute }):
		return errors.New("--replicas 1: the only server cannot be killed or cut off: leave server, meta and route out of --faults")
	}
	return nil
}

// found is the result of a study.
type found interface{ print(w io.Writer) }

// Run measures and prints.
func (c *Command) Run(ctx context.Context) error {
	if c.Serve != "" {
		return serve(ctx, c.Serve)
	}
	if err := c.check(); err != nil {
		return console.Usage(err)
	}
	study := map[string]func(context.Context) (found, error){"faults": c.faults, "join": c.join, "steady": c.steady, "scale": c.scale, "load": c.load}[c.Study]
	f, err := study(ctx)
	if ctx.Err() != nil {
		err = errors.New("interrupted before everything was measured")
	}
	if f != nil {
		if c.JSON {
			err = errors.Join(err, json.NewEncoder(os.Stdout).Encode(f))
		} else {
			f.print(os.Stdout)
		}
	}
	return err
}

// faults runs the study of faults. On failure it still reports the results so far.
func (c *Command) faults(ctx context.Context) (found, error) {
	l, err := staffed(ctx, c, c.Workers)
	if err != nil {
		return nil, err
	}
	defer l.close()
	f := &findings{origin: c.origin()}
	all, err := l.trials(ctx)
	if err == nil {
		err = l.complete(ctx)
	}
	f.sum(all)
	f.audit = l.audit(l.film.frames.Load())
	if err == nil {
		var books map[string]*book
		books, err = l.readAgain(ctx)
		f.Again = againOf(books)
	}
	if err == nil && f.Again != (again{f.Results, f.Lost, f.Doubled}) {
		err = fmt.Errorf("read again, there are %d results, %d lost, %d doubled; on arrival there were %d, %d and %d", f.Again.Results, f.Again.Lost, f.Again.Doubled, f.Results, f.Lost, f.Doubled)
	}
	if err == nil {
		f.Law, err = l.compare(ctx)
	}
	if err != nil {
		f.Problem = err.Error()
	}
	if err == nil && (f.Lost > 0 || f.Doubled > 0 || f.Fell > 0 || f.Shared > 0) {
		err = fmt.Errorf("%d results are lost, %d doubled; epochs: %d fell, %d belong to two workers", f.Lost, f.Doubled, f.Fell, f.Shared)
	}
	return f, err
}
