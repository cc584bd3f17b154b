package online

import "time"

// spell is how long a slice works before it rests: no frame waits longer for a core because of it.
const spell = 2 * time.Millisecond

// pace has a slice rest while it works, a spell at a time, so that refinement has its tenth of a core at every moment and not all of one for
// a second of ten. Where somebody waits for the slice, it rests when it has ended. A nil pace never rests.
type pace struct {
	now     func() time.Time
	began   time.Time     // of the present spell
	rested  time.Duration // so far
	hurry   chan struct{} // closed where somebody waits
	hurried bool          // it is; belongs to who waits
}

func newPace() *pace { return &pace{now: time.Now, hurry: make(chan struct{})} }

// hasten lets the slice rest no more. All calls come from the goroutine that began the slice, everything else from the slice's own.
func (p *pace) hasten() {
	if p != nil && !p.hurried {
		p.hurried = true
		close(p.hurry)
	}
}

// start begins a slice.
func (p *pace) start() {
	if p != nil {
		p.began, p.rested = p.now(), 0
	}
}

// breathe rests if a spell is over. Slices call it wherever they have worked for a millisecond or so.
func (p *pace) breathe() {
	if p == nil {
		return
	}
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
