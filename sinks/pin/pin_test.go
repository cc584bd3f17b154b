package pin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
)

// States are written in order. States of other rules and other messages are ignored. A rule that is on at the end is turned off.
func TestStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took atomic.Int64
		b := &bench{}
		s := begun(t, b, usual, Env{Wrote: func(_ *latent.Trigger, d time.Duration) { took.Add(int64(d)) }})
		early := turn("edge", true)
		early.Latency = time.Millisecond
		time.Sleep(3 * time.Millisecond)
		give(t, s, early, turn("gone", true), turn("well", true), turn("edge", false))
		if err := s.Write(t.Context(), sinktest.Estimate(1, 1)); err != nil {
			t.Fatal(err)
		}
		if err := closed(t, s); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(b.done(), " "), "open edge+ well+ edge- well- close"; got != want {
			t.Errorf("found %s, expected %s", got, want)
		}
		// the other two triggers have a Latency of 1.5 ms but no delay, so they count with -1.5 ms
		if want := 3*time.Millisecond - time.Millisecond - 2*1500*time.Microsecond; time.Duration(took.Load()) != want {
			t.Errorf("the pulses are told to have taken %v, expected %v", time.Duration(took.Load()), want)
		}
	})
}

// A pulse ends by itself after the set duration. A condition that begins again extends it.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{}
		o := usual
		o.Pulse = 10 * time.Millisecond
		s := begun(t, b, o, Env{})
		give(t, s, turn("edge", true), turn("edge", false))
		for _, step := range []struct {
			wait time.Duration
			want string
		}{{9 * time.Millisecond, "edge+"}, {2 * time.Millisecond, "edge-"}} {
			time.Sleep(step.wait)
			synctest.Wait()
			if did := b.done(); did[len(did)-1] != step.want {
				t.Errorf("after %v more: found %v, expected %s last", step.wait, did, step.want)
			}
		}
		give(t, s, turn("well", true))
		time.Sleep(6 * time.Millisecond)
		give(t, s, turn("well", false), turn("well", true))
		time.Sleep(6 * time.Millisecond)
		synctest.Wait()
		if did := b.done(); did[len(did)-1] != "well+" {
			t.Errorf("a condition that began again has a pulse of its own length: found %v", did)
		}
		if err := closed(t, s); err != nil {
			t.Error(err)
		}
	})
}

// A device that hangs delays nothing else. Excess triggers are lost and counted. A beginning that waited too long is not written, but its end is.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{hang: make(chan struct{})}
		s := begun(t, b, usual, Env{})
		began, lost := time.Now(), 0
		for range depth + 1 + 5 { // the device holds one
			if err := s.Write(t.Context(), turn("edge", true)); err != nil {
				lost++
			}
			synctest.Wait()
		}
		if time.Since(began) != 0 || lost != 5 {
			t.Errorf("took %v and lost %d, expected no time and 5", time.Since(began), lost)
		}
		time.Sleep(usual.Late + time.Millisecond)
		close(b.hang)
		synctest.Wait()
		if got := lostIn(t, s); !strings.Contains(got.Error(), "longer than late (100ms)") || got.Count != depth {
			t.Errorf("found %d lost because %v, expected %d that waited", got.Count, got, depth)
		}
		give(t, s, turn("edge", false))
		if err := closed(t, s); err != nil {
			t.Error(err)
		}
		if got, want := strings.Join(b.done(), " "), "open edge+ edge- close"; got != want {
			t.Errorf("found %s, expected %s", got, want)
		}
	})
}

// The sink reopens a failed device until it is back. Then rules that were on at the device are turned off. Triggers that arrived meanwhile are lost.
func TestBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{}
		s := begun(t, b, usual, Env{})
		give(t, s, turn("edge", true), turn("well", true))
		synctest.Wait()
		gone := errors.New("unplugged")
		b.fail(gone)
		give(t, s, turn("edge", false))
		synctest.Wait()
		if lost := lostIn(t, s); !errors.Is(lost, gone) || lost.Count != 1 || !strings.Contains(lost.Error(), "a bench") {
			t.Errorf("found %d lost because %v", lost.Count, lost)
		}
		time.Sleep(3 * again)
		b.fail(nil)
		time.Sleep(2 * again)
		synctest.Wait()
		if got, want := strings.Join(b.done(), " "), "open edge+ well+ close open edge- well-"; got != want {
			t.Errorf("found %s, expected %s", got, want)
		}
		give(t, s, turn("edge", true))
		if err := closed(t, s); err != nil {
			t.Error(err)
		}
		if did := b.done(); !slices.Equal(did[len(did)-3:], []string{"edge+", "edge-", "close"}) {
			t.Errorf("found %v, expected it to work as before", did)
		}
	})
}

// Close reports losses that Write has not reported, and a device on which a rule may still be on.
func TestLostAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{}
		s := begun(t, b, usual, Env{})
		give(t, s, turn("edge", true))
		synctest.Wait()
		b.fail(errors.New("unplugged"))
		give(t, s, turn("well", true))
		if err := closed(t, s); err == nil || !strings.Contains(err.Error(), "2 triggers were not written: a bench does not respond, and [edge] may still be on: a bench: unplugged") {
			t.Errorf("found %v", err)
		}
	})
}

// Close does not wait for a device after its context has ended.
func TestCloseInTime(t *testing.T) {
	b := &bench{hang: make(chan struct{})}
	s := begun(t, b, usual, Env{})
	give(t, s, turn("edge", true))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); err == nil || !strings.Contains(err.Error(), "a bench: could not be turned off and closed in time") {
		t.Errorf("found %v", err)
	}
	close(b.hang)
	<-s.done
}

// If a device fails to deliver one request, only this request is lost.
func TestPassing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{}
		s := begun(t, b, usual, Env{})
		b.fail(passing{errors.New("nobody listens")})
		give(t, s, turn("edge", true))
		if lost := lostIn(t, s); lost.Count != 1 || !strings.Contains(lost.Error(), "nobody listens") {
			t.Errorf("found %d lost because %v", lost.Count, lost)
		}
		b.fail(nil)
		give(t, s, turn("edge", true))
		if err := closed(t, s); err != nil {
			t.Error(err)
		}
		if got, want := strings.Join(b.done(), " "), "open edge+ edge- close"; got != want {
			t.Errorf("found %s, expected %s", got, want)
		}
	})
}
