package soak

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// share is a range of the time between warm-up and cool-down, from 0 to 1.
type share struct{ from, to float64 }

var (
	early      = share{0, 0.48} // for kills of programs that must then run for long
	throughout = share{0, 1}
)

// fault is a kind of fault.
type fault struct {
	name   string
	hits   []string // targets of the fault; a target has at most one fault at a time
	when   share
	happen func(ctx context.Context, rng *rand.Rand)
	left   string // reason for leaving it out; empty if it is included
}

// injection is one fault at one time.
type injection struct {
	fault *fault
	at    time.Duration
	rng   *rand.Rand
}

// plan is the sequence of faults, which follows from the seed.
type plan struct {
	faults     []*fault
	injections []injection
	length     time.Duration

	mu   sync.Mutex
	done map[string]int
}

// newPlan chooses random times. Each kind of fault occurs once in five minutes and at least twice, or once if the duration is below two minutes.
func newPlan(faults []*fault, seed uint64, duration time.Duration) *plan {
	p := &plan{faults: faults, done: map[string]int{}, length: duration - duration/cooling}
	rng := rand.New(rand.NewPCG(seed, 1))
	times := max(2, int(duration/(5*time.Minute)))
	if duration < 2*time.Minute {
		times = 1
	}
	begin := min(10*time.Second, duration/20)
	for i, f := range faults {
		if f.left != "" {
			continue
		}
		for k := range times {
			at := f.when.from + (f.when.to-f.when.from)*(float64(k)+rng.Float64())/float64(times)
			p.injections = append(p.injections, injection{f, begin + time.Duration(at*float64(p.length-begin)), rand.New(rand.NewPCG(seed, uint64(i*times+k+2)))})
		}
	}
	slices.SortStableFunc(p.injections, func(a, b injection) int { return cmp.Compare(a.at, b.at) })
	return p
}

// carryOut injects every fault at its time, and returns after the last one. A fault waits until an earlier fault of its target is over. carryOut drops faults
// that would begin after the plan's end.
func (p *plan) carryOut(ctx context.Context, begun time.Time, say func(format string, args ...any)) {
	ctx, cancel := context.WithDeadline(ctx, begun.Add(p.length))
	defer cancel()
	locks := map[string]*sync.Mutex{}
	for _, f := range p.faults {
		for _, thing := range f.hits {
			if locks[thing] == nil {
				locks[thing] = &sync.Mutex{}
			}
		}
	}
	var going sync.WaitGroup
	defer going.Wait()
	for _, i := range p.injections {
		if !pause(ctx, time.Until(begun.Add(i.at))) {
			return
		}
		going.Go(func() {
			for _, thing := range slices.Sorted(slices.Values(i.fault.hits)) {
				locks[thing].Lock()
				defer locks[thing].Unlock()
			}
			if ctx.Err() != nil {
				return
			}
			say("%s", i.fault.name)
			i.fault.happen(ctx, i.rng)
			p.mu.Lock()
			p.done[i.fault.name]++
			p.mu.Unlock()
		})
	}
}

// pause waits and reports whether ctx is still active.
func pause(ctx context.Context, long time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(long):
		return ctx.Err() == nil
	}
}

// between returns a random duration between least and most.
func between(rng *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(rng.Int64N(int64(most-least)))
}
