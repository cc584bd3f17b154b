package learning

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"driftscope/internal/kit/console"
)

// measureAll measures the cells with how, one per core at a time. Clean films come first, so that every other cell has one to
// compare with. It reports a failed cell and continues; the end of ctx ends all.
func measureAll(ctx context.Context, cells []*cell, how func(context.Context, *cell) error) error {
	p := &progress{begun: time.Now(), all: len(cells)}
	cleans := map[string]*cell{}
	for _, first := range []bool{true, false} {
		var group errgroup.Group
		group.SetLimit(runtime.NumCPU())
		for _, k := range cells {
			if first != (k.Nuisance == clean) {
				continue
			}
			group.Go(func() error {
				if ctx.Err() == nil {
					k.failed = how(ctx, k)
				}
				if ctx.Err() != nil {
					k.failed = errInterrupted
					return k.failed
				}
				if other := cleans[k.film()]; other != nil {
					k.compare(other)
				}
				p.tell(k)
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			return fmt.Errorf("interrupted: %d of %d films are measured", p.made, p.all)
		}
		for _, k := range cells {
			if k.Nuisance == clean {
				cleans[k.film()] = k
			}
		}
	}
	return nil
}

// errInterrupted is the error of a cell that was not reached.
var errInterrupted = errors.New("interrupted")

// film names the cell's film without its nuisance.
func (k *cell) film() string { return fmt.Sprintf("%s, %d frames", k.Scene, k.Frames) }

// progress reports cells as they end.
type progress struct {
	mu        sync.Mutex
	begun     time.Time
	made, all int
}

func (p *progress) tell(k *cell) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made++
	rate := fmt.Sprintf("%d of %d%s", p.made, p.all, console.Left(time.Since(p.begun), p.made, p.all))
	if k.failed != nil {
		console.Warn("%s: %v; %s", k, k.failed, rate)
		return
	}
	console.Say("%s: %s; %s", k, k.outcome(), rate)
}

// outcome describes the cell's result in words.
func (k *cell) outcome() string {
	words := ""
	switch {
	case k.R2 != nil:
		words = fmt.Sprintf("R² %.4f", *k.R2)
	case k.LLatentCoord != nil:
		words = fmt.Sprintf("L_latent %.3g a coordinate", *k.LLatentCoord)
	default:
		words = k.Reason
	}
	if k.Ratio != nil {
		words += fmt.Sprintf(", %.3g times the clean film's", *k.Ratio)
	}
	return words + ", " + k.Verdict
}

// measured returns the cells with results, in order: clean films or the others.
func measured(cells []*cell, cleans bool) []*cell {
	return slices.DeleteFunc(slices.Clone(cells), func(k *cell) bool { return k.failed != nil || k.Verdict == "" || cleans != (k.Nuisance == clean) })
}
