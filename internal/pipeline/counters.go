package pipeline

import (
	"maps"
	"slices"
	"sync"
	"time"

	"driftscope/internal/latent"
)

// noticeEvery is how often one cause of loss is published and logged; what happens in between is summed up.
const noticeEvery = time.Second

// counters counts what happened to every frame and message. All its methods may be called from any goroutine.
//
// frames = tracked + Σ dropped over the causes of frames (not those of sinks, which start with "sink_") once a run has ended.
type counters struct {
	mu        sync.Mutex
	frames    uint64
	tracked   uint64
	published uint64
	seq       uint64 // of the last frame read
	dropped   map[string]uint64
	alarms    map[string]uint64
	notices   map[string]*notice // of losses, by cause
	remarks   map[string]*notice // of what a source warns of, by code
	lines     map[string]*notice // of the log, by kind
	refused   notice             // of commands
}

// notice is what has yet to be told of one cause.
type notice struct {
	told  time.Time
	event latent.Event // Count is what was lost since told
}

func newCounters() *counters {
	return &counters{dropped: map[string]uint64{}, alarms: map[string]uint64{}, notices: map[string]*notice{}, remarks: map[string]*notice{}, lines: map[string]*notice{}}
}

// read counts one frame given by the source, after lost ones that the source knows of.
func (t *counters) read(seq, lost uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frames += 1 + lost
	t.seq = seq
}

// unread counts one frame that the source could not give.
func (t *counters) unread() (seq uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frames++
	return t.seq
}

func (t *counters) track() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tracked++
}

func (t *counters) alarm(code string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.alarms[code]++
}

func (t *counters) publish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.published++
}

func (t *counters) lastSeq() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seq
}

// drop counts n losses under cause. It returns the event to tell, if it is time to tell one; else due will.
func (t *counters) drop(now time.Time, seq uint64, cause, text string, n uint64) (e latent.Event, tell bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.lose(now, seq, cause, text, n)
	if now.Sub(p.told) < noticeEvery {
		return latent.Event{}, false
	}
	return p.tell(now), true
}

// count counts n losses under cause, for due to tell.
func (t *counters) count(seq uint64, cause, text string, n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lose(time.Now(), seq, cause, text, n)
}

// lose adds n losses to those of their cause that are yet to be told. t.mu is held.
func (t *counters) lose(now time.Time, seq uint64, cause, text string, n uint64) *notice {
	t.dropped[cause] += n
	p := of(t.notices, cause)
	p.event = latent.Event{
		Seq: seq, Time: now, Level: latent.Warning, Code: cause, Text: text, Count: p.event.Count + n,
	}
	return p
}

// of is the notice of a kind, made where there was none. Kinds are the program's own words, so that there are few.
func of(notices map[string]*notice, kind string) *notice {
	p := notices[kind]
	if p == nil {
		p = &notice{}
		notices[kind] = p
	}
	return p
}

// remark counts a warning of the source's. If it is time to tell, it returns the newest with how many of its code there were; else
// dueRemarks will.
func (t *counters) remark(now time.Time, e latent.Event) (told latent.Event, tell bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := of(t.remarks, e.Code)
	e.Count += p.event.Count
	p.event = e
	if now.Sub(p.told) < noticeEvery {
		return latent.Event{}, false
	}
	return p.tell(now), true
}

// line counts a line of the log. If it is time for one of its kind, it returns how many were left out since the last.
func (t *counters) line(now time.Time, kind string) (left uint64, tell bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := of(t.lines, kind)
	p.event.Count++
	if now.Sub(p.told) < noticeEvery {
		return 0, false
	}
	return p.tell(now).Count - 1, true
}

// refuse counts a command that was refused. If it is time to tell, it returns how many there were since the last time.
func (t *counters) refuse(now time.Time) (n uint64, tell bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused.event.Count++
	if now.Sub(t.refused.told) < noticeEvery {
		return 0, false
	}
	return t.refused.tell(now).Count, true
}

// due returns the losses that waited for their second to pass, or every one that waits.
func (t *counters) due(now time.Time, all bool) []latent.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return due(t.notices, now, all)
}

// dueRemarks is due for what the source warned of.
func (t *counters) dueRemarks(now time.Time, all bool) []latent.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return due(t.remarks, now, all)
}

func due(notices map[string]*notice, now time.Time, all bool) []latent.Event {
	var events []latent.Event
	for _, kind := range slices.Sorted(maps.Keys(notices)) {
		p := notices[kind]
		if p.event.Count > 0 && (all || now.Sub(p.told) >= noticeEvery) {
			events = append(events, p.tell(now))
		}
	}
	return events
}

// tell returns the event and starts the next one.
func (p *notice) tell(now time.Time) latent.Event {
	e := p.event
	p.told, p.event.Count = now, 0
	return e
}

// health writes the counts into h.
func (t *counters) health(h *latent.Health) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h.Frames, h.Tracked, h.Published = t.frames, t.tracked, t.published
	h.Dropped, h.Alarms = maps.Clone(t.dropped), maps.Clone(t.alarms)
}
