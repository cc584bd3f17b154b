package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/stream"
	"driftscope/sinks/message"
)

// TestTriggerOfNoDimension: a rule on a dimension that the model lacks is refused before anything runs.
func TestTriggerOfNoDimension(t *testing.T) {
	folder := t.TempDir()
	written(t, folder, map[string]string{"a.yaml": "source: {sim: {name: molecule}}\ntriggers: [{zone: {name: a, box: {z3: [0, 1]}}}]\nnats: {url: \"off\"}\n"})
	for _, command := range []string{"lint", "run"} {
		drive(t, folder, command, "a.yaml").check(t, 2, `triggers[0]: zone: box: found dimension "z3", but the model has z1 to z2`)
	}
}

// assembled returns the only stream of a configuration, and another client's subscription to all its messages.
func assembled(t testing.TB, text string) (*stream.Stream, chan *nats.Msg) {
	t.Helper()
	cfg, err := config.Parse("triggers.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all, err := stream.Assemble(t.Context(), []config.Config{cfg}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { all.Bus.Close() })
	nc, err := nats.Connect(all.Bus.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	messages := make(chan *nats.Msg, 1<<16)
	if _, err := nc.ChanSubscribe("driftscope.local.bead.*", messages); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return all.Streams[0], messages
}

// readTrigger decodes a message that must be a trigger.
func readTrigger(t testing.TB, m *nats.Msg) *message.TriggerRecord {
	t.Helper()
	r, err := message.Decode(latent.KindTrigger, m.Data)
	if err != nil {
		t.Fatal(err)
	}
	return r.(*message.TriggerRecord)
}

// TestTriggersReachASubscriber: another client of a real server receives the triggers of the right frames, before their latents. info lists
// the rules by name.
func TestTriggersReachASubscriber(t *testing.T) {
	t.Parallel()
	s, messages := assembled(t, `{stream: bead, source: {sim: {name: molecule, seed: 1, frames: 150, realtime: false}}, nats: {port: 0}, dashboard: {address: "off"},
  triggers: [{zone: {name: right, margin: 0, box: {z1: [0, 1000]}}}, {lost: {name: gone}}]}`)
	if _, err := s.Run(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	on, turns, latents := false, 0, 0
	var before *message.TriggerRecord // the latest trigger, until its frame's latent has arrived
	for latents < 150 {
		m := <-messages
		switch kind := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]; kind {
		case "trigger":
			if before != nil {
				t.Fatalf("two triggers in frame %d", before.Seq)
			}
			before = readTrigger(t, m)
		case "latent":
			r, err := message.Decode(latent.KindLatent, m.Data)
			if err != nil {
				t.Fatal(err)
			}
			l := r.(*message.LatentRecord)
			latents++
			inside := l.Filtered[0] >= 0
			if (inside != on) != (before != nil) {
				t.Fatalf("frame %d: z1 is %g, the rule was %v before, and the trigger is %+v", l.Seq, l.Filtered[0], on, before)
			}
			if on = inside; before == nil {
				continue
			}
			turns++
			if before.Seq != l.Seq || before.On != on || before.Name != "right" || before.Rule != "zone" || !before.Time.Equal(l.Time) ||
				!slices.Equal(before.Filtered, l.Filtered) || !slices.Equal(before.Centroid, l.Centroid) || before.LatencyMS < l.LatencyMS {
				t.Errorf("trigger %+v of latent %+v", before, l)
			}
			before = nil
		}
	}
	if turns < 3 {
		t.Errorf("the zone was entered and left %d times, which shows little", turns)
	}
}

// The same frames give the same triggers, on any number of lanes and whatever the machine's load.
func TestSameTriggers(t *testing.T) {
	t.Parallel()
	run := func() (triggers []string) {
		folder := t.TempDir()
		written(t, folder, map[string]string{"a.yaml": `{stream: bead, source: {sim: {name: balls-ou, seed: 3}}, nats: {url: "off"}, sinks: [{jsonl: {path: a.jsonl}}],
  triggers: [{zone: {name: a, box: {z1: [0, 1000]}}}, {zone: {name: b, margin: 0, box: {z2: [0, 1000]}}}, {speed: {name: c, drift: 0.3}}, {speed: {name: d, centroid_px_s: 5}}]}`})
		if o := drive(t, folder, "run", "a.yaml", "--frames", "80"); o.status != 0 {
			t.Fatal(o.errors)
		}
		text, err := os.ReadFile(filepath.Join(folder, "a.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, `"kind":"trigger"`) {
				triggers = append(triggers, timings.ReplaceAllString(line, ""))
			}
		}
		return triggers
	}
	first := run()
	if again := run(); !slices.Equal(first, again) {
		t.Errorf("found\n%sand\n%s", strings.Join(first, ""), strings.Join(again, ""))
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		if !slices.ContainsFunc(first, func(line string) bool { return strings.Contains(line, `"name":"`+name+`"`) }) {
			t.Errorf("%s never fired, which shows nothing", name)
		}
	}
}

// TestDocumentedRules: the rules in docs/reference/triggers.md are accepted without a change.
func TestDocumentedRules(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reference/triggers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	rules, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/reference/triggers.md shows no configuration")
	}
	folder := t.TempDir()
	written(t, folder, map[string]string{"doc.yaml": rules})
	if o := drive(t, folder, "lint", "doc.yaml"); o.status != 0 {
		t.Errorf("lint: %s", o.errors)
	}
}

// arrivals is a source that records the arrival time of each frame.
type arrivals struct {
	pipeline.Source
	mu   sync.Mutex
	when map[uint64]time.Time
}

func (a *arrivals) Info() pipeline.Info { return pipeline.Info{Live: true} }

func (a *arrivals) Read(ctx context.Context) (*frame.Frame, error) {
	f, err := a.Source.Read(ctx)
	if err == nil {
		a.mu.Lock()
		a.when[f.Seq] = f.Meta.Arrived
		a.mu.Unlock()
	}
	return f, err
}

func (a *arrivals) of(seq uint64) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.when[seq]
}

// BenchmarkTriggerLatency measures the time from a frame's capture until another client of a real server on loopback receives its
// trigger, with the demo's molecule at its 56 frames per second and enough rules that one fires in most frames.
func BenchmarkTriggerLatency(b *testing.B) {
	var rules strings.Builder
	for i := range 32 {
		fmt.Fprintf(&rules, "  - zone: {name: level-%d, margin: 0, box: {z1: [%.2f, 1000]}}\n", i, 0.1*float64(i-16)+0.05)
	}
	s, messages := assembled(b, "stream: bead\nsource: {sim: {name: molecule, seed: 1, realtime: true}}\nnats: {port: 0}\ndashboard: {address: \"off\"}\ntriggers:\n"+rules.String())
	source := &arrivals{Source: s.Stages.Source, when: map[uint64]time.Time{}}
	s.Stages.Source = source
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, 0)
		ended <- err
	}()
	var took []time.Duration
	for b.Loop() {
		m := <-messages
		for !strings.HasSuffix(m.Subject, ".trigger") {
			m = <-messages
		}
		now := time.Now()
		var trigger struct{ Seq uint64 }
		if err := json.Unmarshal(m.Data, &trigger); err != nil {
			b.Fatal(err)
		}
		took = append(took, now.Sub(source.of(trigger.Seq)))
	}
	cancel()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	slices.Sort(took)
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50-ms", 0.5}, {"p99-ms", 0.99}} {
		b.ReportMetric(took[int(q.at*float64(len(took)-1))].Seconds()*1000, q.name)
	}
}
