package pool

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/online/combine"
	"driftscope/sinks/message"
)

// everyoneOf returns the subject of the population of every stream in the site of s.
func everyoneOf(s bus.Subject) string {
	tokens := strings.Split(s.Of(string(latent.KindPopulation)), ".")
	tokens[len(tokens)-2] = everyone
	return strings.Join(tokens, ".")
}

// tellEvery is the least time between reports of one kind of fault.
const tellEvery = 10 * time.Second

// member is one stream.
type member struct {
	camera
	heard     time.Time // time of its last record; or of the start, if it has sent none
	records   uint64    // records that were read
	silences  uint64
	known     bool   // its law is known
	out, told string // present and last reported reason to leave it out; empty if it is included
}

// in reports whether a member's law is included.
func (m *member) in() bool { return m.known && m.out == "" }

// members are the streams to pool.
type members struct {
	name  string // name of the experiment, whose own records are ignored
	any   bool   // include every stream of the site after its first record
	stale time.Duration
	notes io.Writer
	all   map[string]*member
	told  bus.Seldom
	news  bool // something has changed since the last call of fresh
	law   bool // the law has changed since that call
	counters
}

// counters are the counts in health: taken = tracked + dropped.
type counters struct {
	taken, tracked uint64
	dropped        map[string]uint64 // by cause
	outs           uint64            // number of reports that a camera is left out
}

// lawless is the reason to leave out a stream that reports objects but no law.
const lawless = "it has no law yet"

// Causes why a record does not count.
const (
	unreadable = "unreadable"
	noRoom     = "too_many_cameras"
	leftOut    = "left_out"
	queueFull  = "queue_full"
)

// newMembers returns the members for a command, with the named streams.
func newMembers(c *Command, notes io.Writer) *members {
	m := &members{name: c.Name, any: c.Streams[0] == everyone, stale: time.Duration(c.Stale * float64(time.Second)), notes: notes, all: map[string]*member{}, told: bus.Seldom{Every: tellEvery},
		counters: counters{dropped: map[string]uint64{}}}
	if !m.any {
		for _, stream := range c.Streams {
			m.all[stream] = &member{heard: time.Now()}
		}
	}
	return m
}

// say prints a line.
func (m *members) say(format string, args ...any) {
	fmt.Fprintln(m.notes, message.Printable(fmt.Sprintf(format, args...)))
}

// note is like say for frequent lines. It prints one line of a kind per tellEvery, with the number of the others.
func (m *members) note(kind, format string, args ...any) {
	before, due := m.told.Due(kind)
	if !due {
		return
	}
	text := fmt.Sprintf(format, args...)
	if before > 0 {
		text += fmt.Sprintf(" (and %d before)", before)
	}
	m.say("%s", text)
}

// take handles a message.
func (m *members) take(subject string, data []byte, now time.Time) {
	tokens := strings.Split(subject, ".")
	stream := tokens[len(tokens)-2]
	if stream == m.name {
		return
	}
	m.taken++
	c, err := read(stream, data)
	if err != nil {
		m.lose(unreadable, "%.200s: left out: %.400s", subject, err)
		return
	}
	known := m.all[stream]
	if known == nil {
		if _, err := bus.NewSubject("", "", stream); err != nil || !m.any {
			m.lose(unreadable, "%.200s: left out: this stream was not named", subject)
			return
		}
		if len(m.all) >= combine.MostCameras && !m.forget(now) {
			m.lose(noRoom, "%s: left out: there are %d streams already, the maximum", stream, len(m.all))
			return
		}
		known = &member{}
		m.all[stream] = known
	}
	known.heard = now
	known.records++
	if c.refused == "" {
		m.tracked++
	} else {
		m.dropped[leftOut]++
	}
	was := known.in()
	if c.law == 0 && c.refused == "" && (known.known || known.out != "") {
		c.refused = lawless
	}
	law := known.law != c.law
	known.camera, known.known, known.out = c, c.law > 0, c.refused
	m.news = m.news || was || known.in()
	m.law = m.law || was != known.in() || law && known.in()
}

// unasked reports whether a stream is another experiment that only '*' matches. Such a stream is never reported as missing.
func (m *members) unasked(of *member) bool { return m.any && of.pooled }

// lose counts and reports a record that was left out.
func (m *members) lose(cause, format string, args ...any) {
	m.dropped[cause]++
	m.note(cause, format, args...)
}

// silent reports whether a member's last record is so old that its law may have changed.
func (m *members) silent(of *member, now time.Time) bool { return now.Sub(of.heard) >= m.stale }

// forget removes the stream that has been silent longest, to make room for a new stream under '*'. It returns false if none is silent.
func (m *members) forget(now time.Time) bool {
	longest := ""
	for _, stream := range slices.Sorted(maps.Keys(m.all)) {
		of := m.all[stream]
		if m.silent(of, now) && !of.in() && (longest == "" || of.heard.Before(m.all[longest].heard)) {
			longest = stream
		}
	}
	delete(m.all, longest)
	return longest != ""
}

// expire leaves out silent streams.
func (m *members) expire(now time.Time) {
	why := fmt.Sprintf("silent for %v", m.stale)
	for _, of := range m.all {
		if !m.silent(of, now) || of.out == why {
			continue
		}
		if of.in() {
			m.news, m.law = true, true
		}
		of.out = why
		of.silences++
	}
}

// tell returns events for the streams left out or included since the last call, at most one event per stream.
func (m *members) tell(now time.Time) (events []latent.Event) {
	for _, stream := range slices.Sorted(maps.Keys(m.all)) {
		of := m.all[stream]
		if of.out == of.told {
			continue
		}
		if m.unasked(of) {
			m.say("%s: left out: %s", stream, of.out)
			of.told = of.out
			continue
		}
		e := latent.Event{Time: now, Level: latent.Warning, Code: CameraLeftOut, Text: fmt.Sprintf("%s: left out: %s", stream, of.out), Count: 1}
		if of.told = of.out; of.out == "" {
			e.Level, e.Code, e.Text = latent.Info, CameraBack, stream+": back in"
		} else {
			m.outs++
		}
		m.say("%s", e.Text)
		events = append(events, e)
	}
	return events
}

// fresh reports whether anything has changed since the last call of fresh, and whether the law has.
func (m *members) fresh() (news, law bool) {
	news, law = m.news, m.law
	m.news, m.law = false, false
	return news, law
}

// in returns the streams whose law is included, sorted by name.
func (m *members) in() (in []*member) {
	for _, stream := range slices.Sorted(maps.Keys(m.all)) {
		if known := m.all[stream]; known.in() {
			in = append(in, known)
		}
	}
	return in
}
