package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// watched is a watcher with its output.
type watched struct {
	*watcher
	t          *testing.T
	out, notes bytes.Buffer
}

func newWatched(t *testing.T, asJSON bool) *watched {
	w := &watched{t: t}
	w.watcher = &watcher{out: &w.out, notes: &w.notes, json: asJSON, printed: map[string]time.Time{}, workers: workers{}}
	return w
}

// hear passes a record to the watcher in its encoded form.
func (w *watched) hear(name string, kind latent.Kind, r message.Record) {
	w.t.Helper()
	data, err := json.Marshal(r)
	if err == nil {
		err = w.message(fmt.Sprintf("driftscope.local.%s.%s", name, kind), data)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// wants compares the lines printed since its last call with the given lines.
func (w *watched) wants(lines ...string) {
	w.t.Helper()
	var want string
	for _, line := range lines {
		want += line + "\n"
	}
	if got := w.out.String(); got != want {
		w.t.Errorf("found\n%sexpected\n%s", got, want)
	}
	w.out.Reset()
}

// TestWatchWorkers: a worker gets a line when something changes, and none otherwise. Its silence is reported once.
func TestWatchWorkers(t *testing.T) {
	w := newWatched(t, false)
	r := workerRecord("hall-1", "1.2", runningAt("bead", 17))
	say := func() { t.Helper(); w.hear("hall-1", latent.KindWorker, r) }
	say()
	w.wants("worker hall-1 (1.2): 1 of 8 cores taken, labels camera-2, dark-room; runs bead at epoch 17 running")
	for range 3 {
		r.Time, r.Used = r.Time.Add(time.Second), r.Used+1
		say()
	}
	w.wants()
	r.Streams = append(r.Streams, message.RunningRecord{Name: "dish", Epoch: 18, State: "failed", Problem: "no camera\x1b[2J"})
	for i := range 10 {
		r.Waiting = append(r.Waiting, message.WaitingRecord{Name: fmt.Sprintf("far-%d", i), Why: "no worker has label camera-7"})
	}
	say()
	named := make([]string, 8)
	for i := range named {
		named[i] = fmt.Sprintf("far-%d (no worker has label camera-7)", i)
	}
	w.wants("worker hall-1 (1.2): 1 of 8 cores taken, labels camera-2, dark-room; runs bead at epoch 17 running, dish at epoch 18 failed (no camera [2J); no worker can run " + strings.Join(named, ", ") + " and 2 more")
	r.Waiting, r.Labels = nil, nil
	r.Draining = true
	say()
	w.wants("worker hall-1 (1.2): 1 of 8 cores taken; it hands over, and ends; runs bead at epoch 17 running, dish at epoch 18 failed (no camera [2J)")

	for _, after := range []time.Duration{0, watchMissed + time.Second, 2 * watchMissed} {
		clear(w.watcher.printed)
		if err := w.silent(time.Now().Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	w.wants("worker hall-1 is silent")
	say()
	w.wants("worker hall-1 (1.2): 1 of 8 cores taken; it hands over, and ends; runs bead at epoch 17 running, dish at epoch 18 failed (no camera [2J)")
	r.Streams, r.Taken = []message.RunningRecord{}, 0
	say()
	w.wants("worker hall-1 (1.2): 0 of 8 cores taken; it has handed over its streams")
	clear(w.watcher.printed)
	if err := w.silent(time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.wants()
	r.Draining = false
	say()
	w.wants("worker hall-1 (1.2): 0 of 8 cores taken; it runs nothing")
}

// TestWatchLeases: watch leaves out messages of every kind from an older lease, and reports them on notes at most once a minute.
func TestWatchLeases(t *testing.T) {
	w := newWatched(t, false)
	event := func(epoch uint64, text string) {
		w.hear("bead", latent.KindEvent, &message.EventRecord{Header: message.Header{V: latent.Version, Kind: latent.KindEvent, Stream: "bead", Epoch: epoch},
			Event: latent.Event{Level: latent.Info, Code: "taken_over", Text: text, Count: 1}})
	}
	event(17, "first")
	event(20, "second")
	for range 5 {
		event(17, "woken")
		w.hear("bead", latent.KindLatent, &message.LatentRecord{Header: message.Header{V: latent.Version, Kind: latent.KindLatent, Stream: "bead", Epoch: 17}, Z: message.Numbers{1}})
	}
	event(0, "a run of the same name")
	event(20, "second again")
	w.wants("bead info taken_over: first", "bead info taken_over: second", "bead info taken_over: second again")
	if got := w.notes.String(); got != "driftscope.local.bead.event: left out: its epoch is 17, but the stream's worker has epoch 20\n" {
		t.Errorf("notes are %q", got)
	}
	machine := newWatched(t, true)
	for range 2 {
		machine.hear("hall-1", latent.KindWorker, workerRecord("hall-1", "1.2"))
	}
	if n := strings.Count(machine.out.String(), `"kind":"worker"`); n != 2 {
		t.Errorf("machines are given %d messages, expected both", n)
	}
}

// TestWorkersAreBounded: watch remembers a bounded number of workers, even if a client invents names without end.
func TestWorkersAreBounded(t *testing.T) {
	k, now := workers{}, time.Now()
	for i := range 3 * watchStreams {
		name := fmt.Sprint(i)
		k.print(&bytes.Buffer{}, name, workerRecord(name, "1.2"), now)
	}
	if len(k) > watchStreams {
		t.Errorf("%d workers are remembered, expected at most %d", len(k), watchStreams)
	}
}
