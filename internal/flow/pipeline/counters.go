package pipeline

import (
	"maps"
	"slices"
	"sync"
	"time"

	"driftscope/internal/flow/latent"
)

// noticeEvery is the interval between two reports of one cause of loss. A report sums up all losses since the previous report.
const noticeEvery = time.Second

// counters counts the outcome of every frame and message. Any goroutine may call its methods.
//
// After the run, frames = tracked + Σ dropped, summed over all causes except the sinks' ("sink_..."), which count messages.
type counters struct {
	mu        sync.Mutex
	frames    uint64
	tracked   uint64
	published uint64
	seq       uint64 // number of the last frame read
	dropped   map[string]uint64
	alarms    map[string]uint64
	losses    map[string]*notice // by cause
	remarks   map[string]*notice // unreported warnings of the source, by code
	lines     map[string]*notice // omitted lines of the log, by kind
	refused   notice             // refused commands
}

// notice sums up the unreported losses, warnings or log lines of one kind.
type notice struct {
	told  time.Time
	event latent.Event // Count is the number since the last report
}

func newCounters() *counters {
	return &counters{dropped: map[string]uint64{}, alarms: map[string]uint64{}, losses: map[string]*notice{}, remarks: map[string]*notice{}, lines: map[string]*notice{}}
}

// read counts one frame of the source, and the frames that the source reports as lost before it.
func (c *counters) read(seq, lost uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames += 1 + lost
	c.seq = seq
}

// unread counts one frame that the source could not read.
func (c *counters) unread() (seq uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames++
	return c.seq
}

func (c *counters) track() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tracked++
}

func (c *counters) alarm(code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alarms[code]++
}

func (c *counters) publish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.published++
}

func (c *counters) lastSeq() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seq
}

// lose counts l. It returns true if a report of its cause is due; otherwise dueLosses returns the report later.
func (c *counters) lose(now time.Time, l loss) (due bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped[l.cause] += l.count
	p := of(c.losses, l.cause)
	p.event = latent.Event{
		Seq: l.seq, Time: now, Level: latent.Warning, Code: l.cause, Text: l.why.Error(), Count: p.event.Count + l.count,
	}
	return now.Sub(p.told) >= noticeEvery
}

// of returns the notice of a kind, and creates it if it is missing. All kinds are named in the source code, so there are few.
func of(notices map[string]*notice, kind string) *notice {
	p := notices[kind]
	if p == nil {
		p = &notice{}
		notices[kind] = p
	}
	return p
}

// remark counts a warning of the source. If a report is due, it returns the newest warning and the number of warnings with that code; otherwise dueRemarks
// returns them later.
func (c *counters) remark(now time.Time, e latent.Event) (told latent.Event, tell bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := of(c.remarks, e.Code)
	e.Count += p.event.Count
	p.event = e
	if now.Sub(p.told) < noticeEvery {
		return latent.Event{}, false
	}
	return p.tell(now), true
}

// line counts a line of the log. If a line of its kind is due, it returns the number of lines left out since the previous one.
func (c *counters) line(now time.Time, kind string) (left uint64, tell bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := of(c.lines, kind)
	p.event.Count++
	if now.Sub(p.told) < noticeEvery {
		return 0, false
	}
	return p.tell(now).Count - 1, true
}

// refuseCommand counts a refused command. If a report is due, it returns the number of refusals since the previous report.
func (c *counters) refuseCommand(now time.Time) (n uint64, tell bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused.event.Count++
	if now.Sub(c.refused.told) < noticeEvery {
		return 0, false
	}
	return c.refused.tell(now).Count, true
}

// dueLosses returns the unreported losses of causes last reported at least noticeEvery ago, or of all causes.
func (c *counters) dueLosses(now time.Time, all bool) []latent.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return due(c.losses, now, all)
}

// dueRemarks is dueLosses for the source's warnings.
func (c *counters) dueRemarks(now time.Time, all bool) []latent.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return due(c.remarks, now, all)
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

// tell returns the event of the notice and resets its count.
func (p *notice) tell(now time.Time) latent.Event {
	e := p.event
	p.told, p.event.Count = now, 0
	return e
}

// health writes the counts into h.
func (c *counters) health(h *latent.Health) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.Frames, h.Tracked, h.Published = c.frames, c.tracked, c.published
	h.Dropped, h.Alarms = maps.Clone(c.dropped), maps.Clone(c.alarms)
}
