package soak

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
)

// noted collects violations.
type noted []string

func (n *noted) wrong(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

// said requires one violation per word, each containing its word.
func (n *noted) said(t *testing.T, words ...string) {
	t.Helper()
	if len(*n) != len(words) {
		t.Fatalf("violations %q, expected %d: %q", *n, len(words), words)
	}
	for i, word := range words {
		if !strings.Contains((*n)[i], word) {
			t.Errorf("violation %q, expected %q in it", (*n)[i], word)
		}
	}
}

// runID returns the identity of a run that began s seconds after 1970.
func runID(s int64) string { return strconv.FormatInt(s*int64(time.Second), 36) }

// TestKept: the audit finds faults of a JetStream stream: gaps, repetitions, mixed runs, and latents that contradict their numbers.
func TestKept(t *testing.T) {
	one, two := runID(1000), runID(2000)
	type message struct {
		at  uint64 // in the stream
		id  string
		seq uint64 // of the latent
		dro uint64
	}
	for _, test := range []struct {
		name       string
		messages   []message
		unnumbered bool
		says       []string
		gaps       uint64
		untold     uint64
		surplus    uint64
	}{
		{name: "good", messages: []message{{1, one + ".1", 2, 2}, {2, one + ".2", 3, 0}, {3, two + ".1", 0, 0}}},
		{name: "asked for again", messages: []message{{1, one + ".1", 0, 0}, {1, one + ".1", 0, 0}, {2, one + ".2", 1, 0}}},
		{name: "a gap", messages: []message{{1, one + ".1", 0, 0}, {2, one + ".4", 1, 0}}, gaps: 2},
		{name: "twice", messages: []message{{1, one + ".1", 0, 0}, {2, one + ".1", 0, 0}}, says: []string{"comes after"}},
		{name: "backwards", messages: []message{{1, one + ".2", 0, 0}, {2, one + ".1", 1, 0}}, gaps: 1, says: []string{"comes after"}},
		{name: "two runs mixed", messages: []message{{1, one + ".1", 0, 0}, {2, two + ".1", 0, 0}, {3, one + ".2", 1, 0}}, says: []string{"after another run's"}},
		{name: "an identity of somebody else", messages: []message{{1, "hello", 0, 0}}, says: []string{"RUN.N expected"}},
		{name: "a latent that is missing", messages: []message{{1, one + ".1", 0, 0}, {2, one + ".2", 2, 0}}, untold: 1},
		{name: "a latent that says too much", messages: []message{{1, one + ".1", 0, 0}, {2, one + ".2", 1, 3}}, says: []string{"says 3 frames"}},
		{name: "the same of a source with frames that have no number", messages: []message{{1, one + ".1", 0, 0}, {2, one + ".2", 1, 3}}, unnumbered: true, surplus: 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			var n noted
			k := &kept{name: "x", wrong: n.wrong, known: map[string]bool{}, unnumbered: test.unnumbered}
			for _, m := range test.messages {
				k.take(m.at, latent.KindLatent, m.id, fmt.Appendf(nil, `{"seq":%d,"dropped_before":%d}`, m.seq, m.dro))
			}
			n.said(t, test.says...)
			var gaps, untold, surplus uint64
			for _, r := range k.runs {
				gaps, untold, surplus = gaps+r.gaps, untold+r.untold, surplus+r.surplus
			}
			if gaps != test.gaps || untold != test.untold || surplus != test.surplus {
				t.Errorf("gaps %d, untold %d, without a number %d; expected %d, %d, %d", gaps, untold, surplus, test.gaps, test.untold, test.surplus)
			}
		})
	}
}

// TestForgetful: the audit finds a server that lacks messages read before, or that has a hole.
func TestForgetful(t *testing.T) {
	var n noted
	k := &kept{name: "x", wrong: n.wrong, known: map[string]bool{}}
	for i := range uint64(5) {
		k.take(i+1, latent.KindEvent, fmt.Sprint(runID(1), ".", i+1), nil)
	}
	k.found(5)
	n.said(t)
	k.found(3)
	k.skip(6)
	n.said(t, "had 5 messages, but has 3", "no messages 4 to 6")
	if k.forgot != 2 || k.holes != 3 {
		t.Errorf("found %d forgotten messages and %d holes", k.forgot, k.holes)
	}
}

// TestSettle: runs whose identities share a time, because the clock was set back, get the start times that the program logged.
func TestSettle(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	begun := []time.Time{at(0), at(30), at(30).Add(1), at(30).Add(2), at(200)}
	starts := []time.Time{at(.5), at(31), at(90), at(150), at(201)}
	k := &kept{}
	for _, b := range begun {
		k.runs = append(k.runs, &keptRun{begun: b})
	}
	k.settle(starts)
	for second, run := range map[float64]int{10: 0, 40: 1, 89: 1, 100: 2, 160: 3, 300: 4} {
		if got := k.of(at(second)); got != k.runs[run] {
			t.Errorf("second %g belongs to the run that began at %v, expected run %d", second, got.begun, run)
		}
	}
}

// TestLost: a tracked frame without a stored latent is lost, unless the spool refused and counted the latent. For a killed run, the frames received live
// count as tracked.
func TestLost(t *testing.T) {
	for _, test := range []struct {
		name          string
		program       string // b uses the disk that a fault fills
		logged        bool   // the log reported a full disk
		end           account
		ended         bool
		told          live
		run           keptRun
		shown         uint64
		lost, refused uint64
		says          []string
	}{
		{name: "all kept", program: "a", ended: true, end: account{in: 10, tracked: 9, dropped: map[string]uint64{"queue_full": 1}}, run: keptRun{latents: 9}},
		{name: "one not kept", program: "a", ended: true, end: account{in: 10, tracked: 10}, run: keptRun{latents: 9}, lost: 1},
		{name: "one refused", program: "b", ended: true, end: account{in: 10, tracked: 10, dropped: map[string]uint64{"sink_nats": 4}}, run: keptRun{latents: 9, untold: 1, gaps: 3}, refused: 1},
		{name: "one refused that is not told", program: "b", ended: true, end: account{in: 10, tracked: 10}, run: keptRun{latents: 9, untold: 1}, lost: 1},
		{name: "one refused by a slow disk", program: "a", ended: true, end: account{in: 10, tracked: 10, dropped: map[string]uint64{"sink_nats": 4}}, run: keptRun{latents: 9, untold: 1}, refused: 1},
		{name: "three missing, one refused", program: "a", ended: true, end: account{in: 10, tracked: 10, dropped: map[string]uint64{"sink_nats": 1}}, run: keptRun{latents: 7, untold: 3}, refused: 1, lost: 2},
		{name: "killed right after the log told of the full disk", program: "b", logged: true, run: keptRun{latents: 4, seq: 5, untold: 2}, shown: 5, refused: 2},
		{name: "more kept than tracked", program: "a", ended: true, end: account{in: 10, tracked: 10}, run: keptRun{latents: 11}, says: []string{"of a run that tracked 10"}},
		{name: "an account that does not add up", program: "a", ended: true, end: account{in: 10, tracked: 9}, run: keptRun{latents: 9}, says: []string{"do not add up"}},
		{name: "killed, all that was seen is kept", program: "a", run: keptRun{latents: 5, seq: 7, dropped: 3}, shown: 7},
		{name: "killed, seen and not kept", program: "a", run: keptRun{latents: 5, seq: 4}, shown: 6, lost: 2},
		{name: "killed, a latent between is missing", program: "a", run: keptRun{latents: 4, seq: 4, untold: 1}, shown: 4, lost: 1},
		{name: "an identity is missing", program: "a", run: keptRun{latents: 4, seq: 3, gaps: 1}, shown: 3, lost: 1, says: []string{"1 identities are missing"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newAuditor(&rig{disk: "/disk", folder: t.TempDir()})
			one := sum{stream: &stream{name: "x", program: &program{process: &process{name: test.program}}, kept: &kept{runs: []*keptRun{&test.run}}}, dropped: map[string]uint64{}}
			if test.logged {
				one.stream.program.refused = map[string][]time.Time{"x": {time.Unix(1, 0)}}
			}
			a.run(&one, &test.run, observed{end: test.end, ended: test.ended, health: test.told, latent: test.shown})
			if one.lost != test.lost || one.refused != test.refused {
				t.Errorf("lost %d, refused %d; expected %d, %d", one.lost, one.refused, test.lost, test.refused)
			}
			n := noted(a.wrongs)
			n.said(t, test.says...)
			if len(test.says) == 0 && one.in != one.tracked+lostFrames(one.dropped) {
				t.Errorf("in %d, tracked %d, dropped %v", one.in, one.tracked, one.dropped)
			}
		})
	}
}

// TestHealthAddsUp: the audit finds a health message with contradictory counts.
func TestHealthAddsUp(t *testing.T) {
	for _, test := range []struct {
		name string
		m    live
		says []string
	}{
		{"good", live{Frames: 10, Tracked: 7, Dropped: map[string]uint64{"queue_full": 3, "sink_nats": 90}, State: "stopped", UptimeS: 1}, nil},
		{"on their way", live{Frames: 10, Tracked: 7, State: "tracking", UptimeS: 1}, nil},
		{"missing at the end", live{Frames: 10, Tracked: 7, State: "stopped", UptimeS: 1}, []string{"do not add up"}},
		{"more than came", live{Frames: 10, Tracked: 11, State: "tracking", UptimeS: 1}, []string{"do not add up"}},
		{"more than a queue on their way", live{Frames: 1000, Tracked: 10, State: "tracking", UptimeS: 1}, []string{"do not add up"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var n noted
			s := &stream{name: "x", wrong: n.wrong, events: map[string]uint64{}}
			s.hear(latent.KindHealth, &test.m)
			n.said(t, test.says...)
		})
	}
}

// TestOutput: the audit finds stack traces, and too many log lines of one kind per second, whatever numbers the lines contain.
func TestOutput(t *testing.T) {
	line := func(second float64, text string) string {
		at := time.Unix(1000, 0).Add(time.Duration(second * float64(time.Second))).UTC()
		return fmt.Sprintf("time=%s level=WARN msg=lost stream=x %s", at.Format(time.RFC3339Nano), text)
	}
	for _, test := range []struct {
		name  string
		lines func() (lines []string)
		says  []string
	}{
		{"ten a second", func() (lines []string) {
			for i := range 100 {
				lines = append(lines, line(float64(i)*0.101, fmt.Sprintf("cause=torn_frame seq=%d", i)))
			}
			return lines
		}, nil},
		{"eleven in a second", func() (lines []string) {
			for i := range 11 {
				lines = append(lines, line(float64(i)*0.05, fmt.Sprintf("cause=torn_frame seq=%d", i)))
			}
			return lines
		}, []string{"more than 10 log lines per second"}},
		{"eleven of two kinds", func() (lines []string) {
			for i := range 11 {
				lines = append(lines, line(float64(i)*0.05, []string{"cause=torn_frame", "cause=late_frame"}[i%2]))
			}
			return lines
		}, nil},
		{"a panic", func() []string { return []string{"panic: runtime error: index out of range", "goroutine 7 [running]:"} }, []string{"panic", "goroutine 7"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var n noted
			p := &program{process: &process{name: "a"}, wrong: n.wrong, lines: map[string][]time.Time{}, most: map[string]int{}, noted: map[string]bool{}}
			for _, text := range test.lines() {
				p.hear(true, text)
			}
			n.said(t, test.says...)
		})
	}
}

// TestFlat: the audit finds a process that grows steadily, accepts a process that fluctuates, and ignores a process that was killed meanwhile.
func TestFlat(t *testing.T) {
	begun := time.Unix(1000, 0)
	for _, test := range []struct {
		name string
		of   func(i int) sample
		says []string
	}{
		{"flat", func(int) sample { return sample{resident: 200, goroutines: 100, descriptors: 30, mats: 20} }, nil},
		{"memory breathes", func(i int) sample {
			return sample{resident: 200 + 60*rand.New(rand.NewPCG(1, uint64(i))).Float64(), goroutines: 100}
		}, nil},
		{"memory grows", func(i int) sample { return sample{resident: 200 + float64(i)} }, []string{"resident memory of a"}},
		{"goroutines grow", func(i int) sample { return sample{goroutines: 100 + float64(i)*0.2} }, []string{"goroutines of a"}},
		{"descriptors grow", func(i int) sample { return sample{descriptors: 30 + float64(i)*0.2} }, []string{"descriptors of a"}},
		{"Mats grow", func(i int) sample { return sample{mats: 20 + float64(i)*0.5} }, []string{"OpenCV Mats of a"}},
		{"killed meanwhile", func(i int) sample { return sample{resident: float64(i) * 10, life: i / 301} }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &rig{o: Command{For: 600 * time.Second}, begun: begun, samples: newSamples(600 * time.Second), folder: t.TempDir(), plan: &plan{length: 540 * time.Second}}
			r.audit = newAuditor(r)
			for i := range 600 {
				s := test.of(i)
				s.at = begun.Add(time.Duration(i) * time.Second)
				r.samples.of["a"] = append(r.samples.of["a"], s)
			}
			r.audit.flat()
			n := noted(r.audit.wrongs)
			n.said(t, test.says...)
		})
	}
}

// TestPlan: every kind of fault occurs at least twice, in its share of the time and before the cool-down. The same seed gives the same plan.
func TestPlan(t *testing.T) {
	faults := []*fault{{name: "one", when: early}, {name: "two", when: throughout}, {name: "three", when: throughout, left: "no"}}
	for _, duration := range []time.Duration{2 * time.Minute, 10 * time.Minute, 8 * time.Hour} {
		p := newPlan(faults, 7, duration)
		times := map[string]int{}
		for _, i := range p.injections {
			times[i.fault.name]++
			if i.at > p.length || i.fault.name == "one" && i.at > duration/2 {
				t.Errorf("%v: %s at %v", duration, i.fault.name, i.at)
			}
		}
		if want := max(2, int(duration/(5*time.Minute))); times["one"] != want || times["two"] != want || times["three"] != 0 {
			t.Errorf("%v: %v, expected %d each", duration, times, want)
		}
		again := newPlan(faults, 7, duration)
		if !slices.EqualFunc(p.injections, again.injections, func(a, b injection) bool { return a.at == b.at && a.fault.name == b.fault.name }) {
			t.Errorf("%v: the same seed gives a different plan", duration)
		}
	}
}
