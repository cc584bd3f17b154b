package objects

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
)

// TestThousandEnds verifies that a frame in which 1,024 objects end takes at most four times as long as others, because the frame path computes no verdicts.
// All verdicts would take half a second.
func TestThousandEnds(t *testing.T) {
	suite.Calculation(t)
	e, d, dst := newEstimator(t, Config{}), newDish(32), &latent.Estimate{}
	var reports []latent.Message
	frame := func() time.Duration {
		z := d.next()
		began := processedHere()
		if _, err := e.Update(dst, z); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, e.Reports()...)
		return processedHere() - began
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var usual, ending time.Duration
	for i := range 60 {
		if took := frame(); i >= 40 {
			usual += took / 20
		}
	}
	for i := range d.at {
		d.gone[i] = true
	}
	for e.known.deaths == 0 {
		ending = frame()
	}
	if n := e.known.deaths; n < 500 || ending > 4*usual {
		t.Errorf("a frame in which %d objects end takes %v of processor time, other frames %v", n, ending, usual)
	}
	for range 2*patient + 1 {
		frame()
	}
	p, ended := e.population(false), ends(reports)
	if uint64(len(ended)) != p.Deaths || judgedOf(ended)+p.Unjudged != p.Deaths {
		t.Errorf("%d ended, %d were reported, %d with a verdict and %d without", p.Deaths, len(ended), judgedOf(ended), p.Unjudged)
	}
}

// processedHere returns the processor time of this thread.
func processedHere() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
