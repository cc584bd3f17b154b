package online

import (
	"errors"
	"sync/atomic"
	"time"
)

// spell is how long a slice works before it rests: no frame waits longer for a core because of it.
const spell = 2 * time.Millisecond

// pace has a slice rest while it works, a spell at a time, so that refinement has its tenth of a core at every moment and not all of one for
// a second of ten. Where somebody waits for the slice, it rests when it has ended; where nobody wants it, it ends. A nil pace never rests.
type pace struct {
	now     func() time.Time
	began   time.Time     // of the present spell
	rested  time.Duration // so far
	hurry   chan struct{} // closed where somebody waits
	hurried bool          // it is; belongs to who waits
	vain    atomic.Bool   // nobody wants the slice
}

// errVain is why a slice that nobody wants learns nothing.
var errVain = errors.New("nobody wants this slice")

func newPace() *pace { return &pace{now: time.Now, hurry: make(chan struct{})} }

// hasten lets the slice rest no more. Calls of it and of abandon come from the goroutine that began the slice, of all else from the slice's own.
func (p *pace) hasten() {
	if p != nil && !p.hurried {
		p.hurried = true
		close(p.hurry)
	}
}

// abandon lets the slice end without having learnt anything.
func (p *pace) abandon() {
	if p != nil {
		p.vain.Store(true)
		p.hasten()
	}
}

// wanted says whether somebody wants the slice.
func (p *pace) wanted() bool { return p == nil || !p.vain.Load() }

// start begins a slice.
func (p *pace) start() {
	if p != nil {
		p.began, p.rested = p.now(), 0
	}
}

// breathe rests if a spell is over, and says whether the slice is still wanted. Slices call it wherever they have worked for a millisecond
// or so.
func (p *pace) breathe() bool {
	if p != nil {
		p.respite()
	}
	return p.wanted()
}

// respite rests if a spell is over.
func (p *pace) respite() {
	ended := p.now()
	worked := ended.Sub(p.began)
	if worked < spell {
		return
	}
	select {
	case <-p.hurry:
		p.began = ended
	default:
		p.rest(restShare * worked)
		p.began = p.now()
		p.rested += p.began.Sub(ended)
	}
}

// rest rests for so long, or until somebody waits.
func (p *pace) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.hurry:
	}
}

// owed is the rest that is due after a slice that took so long with its rests.
func (p *pace) owed(took time.Duration) time.Duration {
	if p == nil {
		return 0
	}
	return restShare*(took-p.rested) - p.rested
}
