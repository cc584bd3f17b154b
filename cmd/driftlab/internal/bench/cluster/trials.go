package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"driftscope/internal/kit/console"
)

// patience is how many TTLs a trial waits for a stream to run again.
const patience = 8

// trial is one fault and its effects.
type trial struct {
	Fault     string    `json:"fault"`
	Who       string    `json:"who"`
	Takeover  []float64 `json:"takeover_s,omitempty"`  // per stream of the struck worker
	Claimed   []float64 `json:"claimed_s,omitempty"`   // until each of these had a lease again
	Pause     float64   `json:"pause_s"`               // longest between two results of a stream that was not struck
	Disturbed int       `json:"disturbed"`             // streams that changed their epoch without being struck
	Never     int       `json:"never_taken,omitempty"` // struck streams that did not recover in time
	Settle    float64   `json:"settle_s"`              // from healing until the site is settled
	Problem   string    `json:"problem,omitempty"`
}

// trials runs all trials.
func (l *lab) trials(ctx context.Context) (all []trial, err error) {
	random := rand.New(rand.NewPCG(l.c.Seed, 0))
	order := make([]string, l.c.Trials)
	for i := range order {
		order[i] = l.c.Faults[i%len(l.c.Faults)]
	}
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	if err := l.settle(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	for i, fault := range order {
		if time.Since(began) > l.c.For {
			return all, nil
		}
		t, err := l.trial(ctx, fault, random)
		if err != nil {
			return all, fmt.Errorf("trial %d, %s of %s: %w", i+1, fault, t.Who, err)
		}
		all = append(all, t)
		console.Say("trial %d of %d: %s of %s: claimed after %.1f s, taken over after %.1f s at most, %d never; others: pause %.1f s, %d disturbed; at rest after %.1f s; %d frames%s",
			i+1, len(order), fault, t.Who, slices.Max(append(t.Claimed, 0)), slices.Max(append(t.Takeover, 0)), t.Never, t.Pause, t.Disturbed, t.Settle, l.film.frames.Load(), t.Problem)
	}
	return all, nil
}

// trial causes one fault, measures it, heals it, and waits until the site is settled.
func (l *lab) trial(ctx context.Context, fault string, random *rand.Rand) (t trial, err error) {
	pause(ctx, time.Duration(random.Float64()*float64(l.c.TTL)/3)) // renewals come every third of a TTL
	before := map[string]stand{}
	for name, b := range l.books {
		b.mark()
		before[name] = b.stand()
	}
	w, err := l.strike(ctx, fault, random)
	t = trial{Fault: fault, Who: w.who}
	if err != nil {
		return t, err
	}
	l.await(ctx, &w, before)
	l.measure(&t, &w, before)
	healed := time.Now()
	if err := w.heal(ctx); err != nil {
		return t, fmt.Errorf("healing: %w", err)
	}
	if err := l.settle(ctx); err != nil {
		return t, err
	}
	t.Settle = time.Since(healed).Seconds()
	return t, nil
}

// await waits, for as long as the fault lasts, until every struck stream runs again and every other has a result.
func (l *lab) await(ctx context.Context, w *wound, before map[string]stand) {
	for ctx.Err() == nil && time.Since(w.at) < patience*l.c.TTL {
		waits := time.Since(w.at) < w.least
		for name, b := range l.books {
			if w.affected[name] {
				_, ok := b.after(before[name].epoch)
				waits = waits || !ok
			} else {
				waits = waits || b.stand().last.Before(w.at.Add(w.least/2))
			}
		}
		if !waits {
			return
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// measure records the effects on the streams before the fault is healed.
func (l *lab) measure(t *trial, w *wound, before map[string]stand) {
	for name, b := range l.books {
		now := b.stand()
		if !w.affected[name] {
			if t.Fault != faultClock { // results carry the servers' clocks
				t.Pause = max(t.Pause, now.longest.Seconds(), time.Since(now.last).Seconds())
			}
			if now.epoch != before[name].epoch {
				t.Disturbed++
			}
			continue
		}
		if at, ok := l.holders.claimed(name, before[name].epoch); ok {
			t.Claimed = append(t.Claimed, at.Sub(w.at).Seconds())
		}
		if at, ok := b.after(before[name].epoch); ok {
			t.Takeover = append(t.Takeover, at.Sub(w.at).Seconds())
		} else {
			t.Never++
		}
	}
	slices.Sort(t.Takeover)
	slices.Sort(t.Claimed)
}
