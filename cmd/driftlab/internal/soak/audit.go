package soak

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// enough is the running time after which every fault has had an effect and caches are full.
const enough = 10 * time.Minute

// mostWrongs is the largest number of violations reported one by one.
const mostWrongs = 200

// auditor collects violations, and sums up the counts.
type auditor struct {
	rig *rig

	mu     sync.Mutex
	wrongs []string
	more   int

	sums   []sum
	trends []trend
	lost   uint64

	unopened int // number of starts of a stream without its camera
}

// sum counts the outcome of a stream's frames and messages over all runs.
type sum struct {
	stream      *stream
	runs        int
	killed      int // number of runs without a final account
	in, tracked uint64
	dropped     map[string]uint64
	messages    uint64 // messages in the JetStream stream
	refused     uint64 // latents that a full or slow spool refused, counted and reported by the program
	lost        uint64
}

func newAuditor(r *rig) *auditor { return &auditor{rig: r} }

// wrong records a violation.
func (a *auditor) wrong(format string, args ...any) {
	text := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	a.mu.Lock()
	if len(a.wrongs) < mostWrongs {
		a.wrongs = append(a.wrongs, time.Now().UTC().Format("15:04:05 ")+text)
	} else {
		a.more++
	}
	told := len(a.wrongs) < mostWrongs
	a.mu.Unlock()
	if told {
		a.rig.say("WRONG: %s", text)
	}
}

// held reports whether the audit found no violation.
func (a *auditor) held() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.wrongs) == 0
}

// wholeRecordings checks the recordings that a program followed.
func (a *auditor) wholeRecordings(p *program) {
	for _, s := range p.streams {
		if s.follows != nil {
			a.wholeRecording(s)
		}
	}
}

// wholeRecording requires that every frame of a recording followed to its end was tracked, by the account of its last run.
func (a *auditor) wholeRecording(s *stream) {
	frames := s.follows.count()
	printed := s.program.printed(s.name)
	if len(printed) == 0 {
		a.wrong("stream %s printed no account", s.name)
	} else if last := printed[len(printed)-1]; last.tracked != frames || last.in != frames {
		a.wrong("stream %s: the recording has %d frames, but frames in %d, tracked %d", s.name, frames, last.in, last.tracked)
	}
}

// compare compares the programs' account of every run with the run's stored results.
func (a *auditor) compare() {
	for _, s := range a.rig.streams {
		one := a.stream(s)
		if one.in != one.tracked+lostFrames(one.dropped) {
			a.wrong("stream %s, all runs: frames in %d, tracked %d, dropped %d: they do not add up", s.name, one.in, one.tracked, lostFrames(one.dropped))
		}
		a.sums = append(a.sums, one)
		a.lost += one.lost
		if one.tracked == 0 {
			a.wrong("stream %s tracked nothing", s.name)
		}
		if one.lost > 0 {
			a.wrong("stream %s: %d results are lost", s.name, one.lost)
		}
		for _, text := range s.failures {
			if cameraAway(s, text) {
				a.unopened++
				continue
			}
			a.wrong("stream %s failed: %s", s.name, text)
		}
	}
}

// cameraAway reports whether a stream failed because its camera was missing at the start, as docs/howto/stop-and-start.md describes.
func cameraAway(s *stream, text string) bool {
	return s.kind == "genicam" && strings.Contains(text, "No supported device found")
}

// stream sums up one stream.
func (a *auditor) stream(s *stream) sum {
	s.kept.settle(s.program.began(s.name))
	one := sum{stream: s, dropped: map[string]uint64{}, runs: len(s.kept.runs), messages: s.kept.messages, lost: s.kept.holes + s.kept.forgot}
	ends := map[*keptRun]account{}
	for _, printed := range s.program.printed(s.name) {
		if run := s.kept.of(printed.at); run != nil {
			if before, twice := ends[run]; twice {
				a.wrong("stream %s: the run of %v ended twice: %+v, %+v", s.name, run.begun.UTC(), before, printed)
			}
			ends[run] = printed
		}
	}
	health := map[*keptRun]live{}
	for _, l := range s.health {
		if run := s.kept.of(l.begun); run != nil {
			health[run] = l.last
		}
	}
	shown := map[*keptRun]uint64{}
	for _, l := range s.seen {
		run := s.kept.of(l.last)
		if run == nil {
			a.wrong("stream %s: %d latents were received live at %v, but no stored run is from that time", s.name, l.count, l.last.UTC())
			continue
		}
		shown[run] = max(shown[run], l.seq)
	}
	for _, run := range s.kept.runs {
		end, ended := ends[run]
		a.run(&one, run, observed{end: end, ended: ended, health: health[run], latent: shown[run]})
	}
	return one
}

// observed holds the live observations of a run.
type observed struct {
	end    account // as printed by the program
	ended  bool    // the run printed an account; otherwise it was killed
	health live    // the last health message
	latent uint64  // Seq of the last latent that a subscriber received
}

// run adds the counts of one run.
func (a *auditor) run(one *sum, run *keptRun, seen observed) {
	name := one.stream.name
	dropped, missing, end := seen.health.Dropped, run.untold, seen.end
	if seen.ended {
		dropped = end.dropped
		if end.in != end.tracked+lostFrames(dropped) {
			a.wrong("stream %s: frames in %d, tracked %d, dropped %d: they do not add up", name, end.in, end.tracked, lostFrames(dropped))
		}
		if run.latents > end.tracked {
			a.wrong("stream %s: %d latents are stored of a run that tracked %d frames", name, run.latents, end.tracked)
		}
		missing = end.tracked - min(end.tracked, run.latents) // the gaps between latents include these frames, and the frames that would have reported them
		one.in, one.tracked = one.in+end.in, one.tracked+end.tracked
		for cause, n := range dropped {
			one.dropped[cause] += n
		}
	} else {
		one.killed++
		if run.latents > 0 {
			one.in, one.tracked = one.in+run.seq+1+run.surplus, one.tracked+run.latents+run.untold
			a.attribute(one, run.dropped, dropped)
		}
		if run.latents > 0 && seen.latent > run.seq {
			missing += seen.latent - run.seq
		}
	}
	told := dropped["sink_nats"]
	switch {
	case a.mayRefuse(one.stream) && (told > 0 || a.toldOf(one.stream, run)):
		one.refused += missing
	default:
		told = min(told, missing) // a sink that is slower than the stream drops results and counts them
		one.refused, one.lost = one.refused+told, one.lost+missing-told
		if run.gaps > 0 {
			one.lost += run.gaps
			a.wrong("stream %s, run of %v: %d identities are missing, but no latent was refused", name, run.begun.UTC(), run.gaps)
		}
	}
}

// toldOf reports whether the log mentions a full disk in this run. A killed run loses its count.
func (a *auditor) toldOf(s *stream, run *keptRun) bool {
	return slices.ContainsFunc(s.program.told(s.name), func(t time.Time) bool { return s.kept.of(t) == run })
}

// mayRefuse reports whether the spool of a stream may have been full.
func (a *auditor) mayRefuse(s *stream) bool { return a.rig.disk != "" && s.program.process.name == "b" }

// attribute assigns the frames that a killed run's latents report as lost to the causes in its last health message. The remaining frames were lost between
// this message and the kill.
func (a *auditor) attribute(one *sum, lost uint64, told map[string]uint64) {
	for cause, n := range told {
		if lostFrames(map[string]uint64{cause: n}) > 0 {
			n = min(n, lost)
			one.dropped[cause] += n
			lost -= n
		}
	}
	if lost > 0 {
		one.dropped["after the last health before a kill"] += lost
	}
}

// flat compares the resources of the processes between the third and the last quarter of the time.
//
// Some growth is allowed: memory by a tenth and 16 MiB, because Go's heap varies with its garbage; goroutines by the dozen of a connection, because a
// connection may reconnect during the measurement; descriptors by eight for the same reason; Mats by the frames that may be in flight. The separate
// nats-server is reported but not tested, because it is not ours and caches blocks of its store.
func (a *auditor) flat() {
	r := a.rig
	half, three, end := r.begun.Add(r.o.For/2), r.begun.Add(r.o.For*7/10), r.begun.Add(r.plan.length)
	for _, name := range []string{"a", "b", "c", "server"} {
		all := r.samples.of[name]
		if len(all) == 0 {
			continue
		}
		life := all[len(all)-1].life
		var third, last []sample
		lived := false // it lived in both quarters
		for _, s := range all {
			lived = lived || s.life == life && s.at.Before(half.Add(-r.o.For/20))
			switch {
			case s.life != life || s.at.Before(half) || s.at.After(end):
			case s.at.Before(three):
				third = append(third, s)
			default:
				last = append(last, s)
			}
		}
		for _, f := range []struct {
			figure, unit string
			of           func(sample) float64
			part, more   float64
		}{
			{"resident memory", "MiB", func(s sample) float64 { return s.resident }, 0.1, 16},
			{"goroutines", "", func(s sample) float64 { return s.goroutines }, 0, 12},
			{"descriptors", "", func(s sample) float64 { return s.descriptors }, 0, 8},
			{"child processes", "", func(s sample) float64 { return s.sub }, 0, 1},
			{"resident memory of child processes", "MiB", func(s sample) float64 { return s.subResident }, 0.1, 16},
			{"OpenCV Mats", "", func(s sample) float64 { return s.mats }, 0, 32},
		} {
			t := trend{process: name, figure: f.figure, unit: f.unit, judged: lived && name != "server" && r.o.For >= enough}
			var n, m int
			t.third, n = median(third, f.of)
			t.last, m = median(last, f.of)
			t.allowed = t.third*f.part + f.more
			if t.judged && n > 0 && m > 0 && t.last-t.third > t.allowed {
				a.wrong("%s of %s: %.0f in the third quarter, %.0f in the last, %s: not flat", f.figure, name, t.third, t.last, cmp.Or(f.unit, "of them"))
			}
			if n+m > 0 {
				a.trends = append(a.trends, t)
			}
		}
	}
}

// reached requires that every fault had its effect, because a fault without an effect tests nothing.
func (a *auditor) reached() {
	r := a.rig
	if r.o.For < enough {
		return
	}
	for _, f := range r.plan.faults {
		if f.left == "" && r.plan.done[f.name] == 0 {
			a.wrong("fault %q never happened", f.name)
		}
	}
	causes, events := a.total(), map[string]uint64{}
	for _, s := range r.streams {
		for code, n := range s.events {
			events[code] += n
		}
	}
	for _, cause := range []string{"bad_message", "torn_frame", "late_frame", "paused", "dropped_by_source"} {
		if causes[cause] == 0 {
			a.wrong("no frame was dropped as %s: the fault for this cause has no effect", cause)
		}
	}
	for _, code := range []string{"source_lost", "source_back", "publisher_restarted", "command_model", "command_freeze", "command_reset", "command_checkpoint", "command_stop", "command_start"} {
		if events[code] == 0 {
			a.wrong("no event %s was received: the fault for this event has no effect", code)
		}
	}
	if r.disk != "" && !slices.ContainsFunc(a.sums, func(s sum) bool { return s.refused > 0 }) {
		a.wrong("no message was refused because of the full disk: the fault has no effect")
	}
}

// total adds up the causes of all streams.
func (a *auditor) total() map[string]uint64 {
	all := map[string]uint64{}
	for _, s := range a.sums {
		for cause, n := range s.dropped {
			all[cause] += n
		}
	}
	return all
}
