package paper

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"driftscope/internal/kit/console"
)

// chore is a task with a given behaviour.
type chore struct {
	name string
	done bool
	do   func(ctx context.Context) error
}

func (c *chore) String() string { return c.name }
func (c *chore) file() string   { return c.name }
func (c *chore) whole() bool    { return c.done }
func (c *chore) recall() error  { return nil }

func (c *chore) perform(ctx context.Context) error {
	err := c.do(ctx)
	c.done = err == nil
	return err
}

// One task per core runs at a time, complete tasks are not made again, and a failed task is reported and does not stop the others.
func TestMakeAll(t *testing.T) {
	var now, made atomic.Int64
	cores := int64(runtime.NumCPU())
	full := make(chan struct{}) // closed when one task per core is running
	work := func(ctx context.Context) error {
		n := now.Add(1)
		defer now.Add(-1)
		if n > cores {
			return errors.New("crowded")
		}
		if n == cores && made.Load() == 0 {
			close(full)
		}
		select {
		case <-full:
		case <-time.After(10 * time.Second):
			return errors.New("alone")
		}
		made.Add(1)
		return nil
	}
	tasks := []task{&chore{name: "whole", done: true, do: work}}
	for range 3 * cores {
		tasks = append(tasks, &chore{name: "work", do: work})
	}
	for _, name := range []string{"b", "a"} {
		tasks = append(tasks, &chore{name: name, do: func(context.Context) error { return errors.New("torn") }})
	}
	failed, err := makeAll(t.Context(), tasks, here)
	if err != nil || !slices.Equal(failed, []string{"a: torn", "b: torn"}) {
		t.Errorf("%v, failed %q", err, failed)
	}
	if made.Load() != 3*cores {
		t.Errorf("%d made of %d", made.Load(), 3*cores)
	}

	ctx, cancel := context.WithCancel(t.Context())
	stopped := &chore{name: "stopped", do: func(ctx context.Context) error { cancel(); return ctx.Err() }}
	if failed, err := makeAll(ctx, []task{stopped}, here); !errors.Is(err, context.Canceled) || len(failed) > 0 || !strings.HasPrefix(err.Error(), "stopped: ") {
		t.Errorf("%v, failed %q, where it was told to stop", err, failed)
	}
}

func TestLabelled(t *testing.T) {
	var to strings.Builder
	l := &labelled{to: &to, label: "run 1: "}
	for _, part := range []string{"step", " 1\nst", "ep 2\ndriftlab: the disk is full\n", "driftlab" + console.More + "a page\n", "and"} {
		if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
			t.Error(n, err)
		}
	}
	if to.String() != "run 1: step 1\nrun 1: step 2\nrun 1: driftlab: the disk is full\nrun 1: driftlab"+console.More+"a page\n" || l.last != "the disk is full" {
		t.Errorf("%q, last %q", to.String(), l.last)
	}
}
