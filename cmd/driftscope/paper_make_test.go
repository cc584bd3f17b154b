package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// chore is a task that does as it is told.
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

// Tasks are made as many at a time as there are cores, what is whole is left as it is, and what fails is told and holds nobody up.
func TestMakeAll(t *testing.T) {
	var now, made atomic.Int64
	cores := int64(runtime.NumCPU())
	full := make(chan struct{}) // closed once there are as many at work as there are cores
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

// The command makes its tasks in processes of their own: it has of each what was left, or why it failed.
func TestPaperInProcess(t *testing.T) {
	folder := t.TempDir()
	c := &paperCmd{Out: folder}
	p := madeUp(t, c, "balls-ou", 0.0016, 0.5, 1.5)
	p[0].found.GP = nil // an earlier build's
	torn := filepath.Join(folder, p[1].file())
	if err := errors.Join(writeJSON(filepath.Join(folder, p[0].file()+".json"), p[0].found), writeJSON(torn+trainedEnding, trained{Settings: p[1].settings}), os.Mkdir(torn+".onnx", 0o700)); err != nil {
		t.Fatal(err)
	}
	o := drive(t, folder, "paper", "--rows", "balls-ou", "--runs", "2", "--out", ".", "--json")
	o.check(t, 1, "1 of 2 runs failed, the table goes without them: balls-ou, run 2: model: read ")
	if !strings.Contains(o.errors, "balls-ou, run 2: driftscope: ") {
		t.Errorf("what the process said is not passed on:\n%s", o.errors)
	}
	var got struct{ Rows []tableRow }
	if err := json.Unmarshal([]byte(o.out), &got); err != nil || len(got.Rows) != 1 {
		t.Fatal(err, o.out)
	}
	if r := got.Rows[0]; r.Runs != 1 || r.LMu != 0.5 || !(r.GP.LMu > 0.01 && r.GP.LMu < 4) { // of no drift at all it is 4.2
		t.Errorf("found %+v", r)
	}
	drive(t, folder, "paper", "--rows", "balls-ou", "--out", ".", "--make", "balls-circle-1").check(t, 2, `--make: nothing that the rows and studies ask for leaves "balls-circle-1"`)
}

func TestLabelled(t *testing.T) {
	var to strings.Builder
	l := &labelled{to: &to, label: "run 1: "}
	for _, part := range []string{"step", " 1\nst", "ep 2\ndriftscope: the disk is full\n", "and"} {
		if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
			t.Error(n, err)
		}
	}
	if to.String() != "run 1: step 1\nrun 1: step 2\nrun 1: driftscope: the disk is full\n" || l.last != "the disk is full" {
		t.Errorf("%q, last %q", to.String(), l.last)
	}
}
