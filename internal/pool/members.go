package pool

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"driftscope/internal/bus"
	"driftscope/internal/latent"
	"driftscope/online/combine"
	"driftscope/sinks/message"
)

// everyoneOf is the subject of every stream's population, of the site that s is of.
func everyoneOf(s bus.Subject) string {
	tokens := strings.Split(s.Of(string(latent.KindPopulation)), ".")
	tokens[len(tokens)-2] = everyone
	return strings.Join(tokens, ".")
}

// tellEvery is how often one kind of fault is told while it lasts.
const tellEvery = 10 * time.Second

// member is one stream.
type member struct {
	camera
	heard time.Time
	known bool   // it has told its law
	out   string // why it is left out; empty where it is not
}

// in says that a member's law counts.
func (m *member) in() bool { return m.known && m.out == "" }

// members are the streams that are heard.
type members struct {
	name  string // of the experiment, whose own records are not heard
	any   bool   // every stream of the site counts, once it is heard
	stale time.Duration
	notes io.Writer
	all   map[string]*member
	told  map[string]*telling
	news  bool // something has changed since fresh was asked
	law   bool // and the law with it
}

// telling is when a kind of fault was told last, and how often it has come since.
type telling struct {
	last time.Time
	more uint64
}

// newMembers expects those that a command names.
func newMembers(c *Command, notes io.Writer) *members {
	m := &members{name: c.Name, any: c.Streams[0] == everyone, stale: time.Duration(c.Stale * float64(time.Second)), notes: notes, all: map[string]*member{}, told: map[string]*telling{}}
	if !m.any {
		for _, stream := range c.Streams {
			m.all[stream] = &member{heard: time.Now()}
		}
	}
	return m
}

// say tells a person something, in a line.
func (m *members) say(format string, args ...any) {
	fmt.Fprintln(m.notes, message.Printable(fmt.Sprintf(format, args...)))
}

// note is say for what may come often: a kind of it once in tellEvery, with how many there were between.
func (m *members) note(kind, format string, args ...any) {
	t := m.told[kind]
	if t == nil {
		t = &telling{}
		m.told[kind] = t
	}
	now := time.Now()
	if !t.last.IsZero() && now.Sub(t.last) < tellEvery {
		t.more++
		return
	}
	text := fmt.Sprintf(format, args...)
	if t.more > 0 {
		text += fmt.Sprintf(" (and %d before)", t.more)
	}
	t.last, t.more = now, 0
	m.say("%s", text)
}

// take takes in a message.
func (m *members) take(subject string, data []byte, now time.Time) {
	tokens := strings.Split(subject, ".")
	stream := tokens[len(tokens)-2]
	if stream == m.name {
		return
	}
	c, err := read(stream, data)
	if err != nil {
		m.note("unreadable", "%.200s: left out: %.400s", subject, err)
		return
	}
	known := m.all[stream]
	if known == nil {
		if _, err := bus.NewSubject("", "", stream); err != nil || !m.any {
			m.note("unreadable", "%.200s: left out: not a stream that was asked for", subject)
			return
		}
		if len(m.all) >= combine.MostCameras {
			m.note("many", "%s: left out: there are %d streams already, the most that are pooled", stream, len(m.all))
			return
		}
		known = &member{}
		m.all[stream] = known
	}
	known.heard = now
	was := known.in()
	if c.law == 0 && c.refused == "" && (known.known || known.out != "") {
		c.refused = "it has no law yet"
	}
	law := known.law != c.law
	known.camera, known.known = c, c.law > 0
	m.leave(stream, known, c.refused)
	m.news = m.news || was || known.in()
	m.law = m.law || was != known.in() || law && known.in()
}

// leave leaves a stream out for a reason, or takes it in where there is none, and tells that once.
func (m *members) leave(stream string, of *member, why string) {
	switch {
	case why == of.out:
	case why == "":
		m.say("%s: back in", stream)
	default:
		m.say("%s: left out: %s", stream, why)
	}
	of.out = why
}

// expire leaves out who is silent. With '*' it is forgotten, so that others have room.
func (m *members) expire(now time.Time) {
	for stream, known := range m.all {
		if now.Sub(known.heard) < m.stale {
			continue
		}
		if known.in() {
			m.news, m.law = true, true
		}
		m.leave(stream, known, fmt.Sprintf("silent for %v", m.stale))
		if m.any {
			delete(m.all, stream)
		}
	}
}

// fresh says whether anything has changed since it was asked last, and whether the law has.
func (m *members) fresh() (news, law bool) {
	news, law = m.news, m.law
	m.news, m.law = false, false
	return news, law
}

// in are the streams whose law counts, by name.
func (m *members) in() (in []*member) {
	for _, stream := range slices.Sorted(maps.Keys(m.all)) {
		if known := m.all[stream]; known.in() {
			in = append(in, known)
		}
	}
	return in
}
