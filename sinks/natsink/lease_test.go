package natsink

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/sinks/sinktest"
)

// held is a lease that a test ends.
type held struct {
	epoch uint64
	over  atomic.Bool
}

func (h *held) Epoch() uint64 { return h.epoch }
func (h *held) Valid() bool   { return !h.over.Load() }

// worker is the sink of a stream of durable frames with a lease.
type worker struct {
	t     *testing.T
	lease *held
	at    At
	sink  *Sink
}

// takes returns a worker that takes over the stream.
func takes(t *testing.T, server, store string, epoch uint64) *worker {
	t.Helper()
	b, standing := stands(t, server)
	return begins(t, b, standing, store, epoch)
}

// stands returns the stored results of the stream.
func stands(t *testing.T, server string) (*bus.Conn, Standing) {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: server})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	standing, err := Stand(t.Context(), b, "bead")
	if err != nil {
		t.Fatal(err)
	}
	return b, standing
}

// begins returns a worker that continues after the given stored results.
func begins(t *testing.T, b *bus.Conn, standing Standing, store string, epoch uint64) *worker {
	t.Helper()
	w, err := &worker{t: t, lease: &held{epoch: epoch}, at: standing.At}, error(nil)
	if w.sink, err = New(sinktest.Decoder(t, durableOptions(store)), Env{Stream: "bead", Bus: b, Lease: w.lease, Standing: &standing}); err != nil {
		t.Fatal(err)
	}
	return w
}

// write writes the estimates of frames, each with three messages in the stream of frames.
func (w *worker) write(from, to uint64) (err error) {
	w.t.Helper()
	for seq := from; seq < to && err == nil; seq++ {
		e := sinktest.Estimate(seq, seq/10+1)
		e.Latent.Place = 3 * (seq + 1)
		err = w.sink.Write(w.t.Context(), e)
	}
	return err
}

// must is write, and checks that the results are accepted and stored.
func (w *worker) must(from, to uint64) {
	w.t.Helper()
	if err := w.write(from, to); err != nil {
		w.t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); !w.sink.durable.spool.Empty(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("frames %d to %d were not kept: %+v", from, to, w.sink.durable.kept())
		}
	}
}

// ends closes the sink, whether or not its lease is valid.
func (w *worker) ends() {
	w.t.Helper()
	if err := w.sink.Close(context.WithoutCancel(w.t.Context())); err != nil {
		w.t.Error(err)
	}
}

// TestTakeOver: results are stored once and in order, although the next worker repeats frames of the previous one and a frozen worker comes back. A worker
// whose lease has expired publishes nothing.
func TestTakeOver(t *testing.T) {
	at, folder := keeper(t).URL(), t.TempDir()
	first := takes(t, at, folder+"/1", 5)
	if first.at != (At{}) {
		t.Errorf("found %+v of a stream that is new", first.at)
	}
	first.must(0, 25)
	second := takes(t, at, folder+"/2", 9)
	defer second.ends()
	if want := (At{Sequence: 75, Frames: 25}); second.at != want {
		t.Fatalf("found %+v, expected %+v", second.at, want)
	}
	taken := &latent.Event{Seq: 12, Time: time.Now(), Level: latent.Info, Code: TakenOver, Text: "taken over", Count: 1}
	if err := second.sink.Write(t.Context(), taken); err != nil {
		t.Fatal(err)
	}
	second.must(12, 40) // frames after its checkpoint

	if err := first.write(25, 30); err != nil && !errors.Is(err, ErrFenced) { // its lease still seems valid, as after a long pause
		t.Fatal(err)
	}
	suite.Until(t, func() bool { return first.sink.durable.fenced.Load() }, "the worker before was not refused")
	if err := first.write(30, 31); !errors.Is(err, ErrFenced) {
		t.Errorf("found %v of a worker that another has followed", err)
	}
	first.ends()
	audit(t, at, 40)

	second.lease.over.Store(true)
	if err := second.write(40, 41); !errors.Is(err, ErrFenced) {
		t.Errorf("found %v after the lease was over", err)
	}
	audit(t, at, 40)

	third := takes(t, at, folder+"/1", 12) // uses the folder of the first worker, whose spool was not delivered
	defer third.ends()
	third.must(35, 60)
	audit(t, at, 60)
	if standing, err := Stand(t.Context(), third.sink.bus, "bead"); err != nil || standing.Epoch != 12 || standing.At.Frames != 60 {
		t.Errorf("found %+v, %v", standing, err)
	}
}

// TestTakeOverBetween: the previous worker still stores a message after the next one has read the stream. The next worker's run then ends, unless it has made
// the same result meanwhile. No result is stored twice.
func TestTakeOverBetween(t *testing.T) {
	for _, kind := range []latent.Kind{latent.KindLatent, latent.KindEvent} {
		t.Run(string(kind), func(t *testing.T) {
			at, folder := keeper(t).URL(), t.TempDir()
			first := takes(t, at, folder+"/1", 5)
			defer first.ends()
			first.must(0, 19)
			b, standing := stands(t, at)
			kept := 19
			if kind == latent.KindLatent {
				kept = 20
				first.must(19, 20)
			} else {
				e := &latent.Event{Seq: 19, Time: time.Now(), Level: latent.Info, Code: TakenOver, Text: "taken over", Count: 1}
				if err := first.sink.Write(t.Context(), e); err != nil {
					t.Fatal(err)
				}
				first.must(19, 19)
			}
			second := begins(t, b, standing, folder+"/2", 9)
			defer second.ends()
			if err := second.write(15, 30); err != nil && !errors.Is(err, ErrFenced) {
				t.Fatal(err)
			}
			for end := time.Now().Add(10 * time.Second); !second.sink.durable.fenced.Load(); time.Sleep(time.Millisecond) {
				if kind == latent.KindLatent && second.sink.durable.spool.Empty() {
					kept = 30
					break
				}
				if time.Now().After(end) {
					t.Fatalf("it went on: %+v", second.sink.durable.kept())
				}
			}
			audit(t, at, kept)
		})
	}
}

// TestLawUnderLease: a law may overwrite a law of an earlier lease, but never one of a later lease. State finds a law by its number of frames.
func TestLawUnderLease(t *testing.T) {
	at := keeper(t).URL()
	open := func(epoch uint64) (*Bucket, error) {
		b, err := bus.Connect(t.Context(), bus.Options{URL: at})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		k, err := OpenBucket(b, BucketOptions{Stream: "bead", Lease: &held{epoch: epoch}, Log: slog.New(slog.DiscardHandler)})
		if err == nil {
			t.Cleanup(k.Close)
		}
		return k, err
	}
	first, err := open(5)
	if err != nil {
		t.Fatal(err)
	}
	for frames := uint64(100); frames <= 300; frames += 100 {
		if err := first.KeepState(law(frames, 1000), "model-a", At{Sequence: 3 * frames, Frames: frames}); err != nil {
			t.Fatal(err)
		}
	}
	second, err := open(9)
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[uint64]uint64{99: 0, 100: 100, 299: 200, 300: 300, AnyFrames: 300} {
		kept, err := second.State("model-a", most)
		if want == 0 {
			if !errors.Is(err, ErrNotKept) {
				t.Errorf("of %d frames: found %+v, %v", most, kept.At, err)
			}
			continue
		}
		if err != nil || kept.At != (At{Sequence: 3 * want, Frames: want}) {
			t.Errorf("of %d frames: found %+v, %v", most, kept.At, err)
			continue
		}
		if got, err := io.ReadAll(kept.Checkpoint); err != nil || !bytes.Equal(got, law(want, 1000)) {
			t.Errorf("of %d frames: another law, %v", most, err)
		}
	}
	if err := second.KeepState(law(250, 1000), "model-a", At{750, 250}); err != nil {
		t.Fatal(err)
	}
	if err := first.KeepState(law(400, 1000), "model-a", At{1200, 400}); !errors.Is(err, ErrFenced) {
		t.Errorf("found %v of a law under an earlier lease", err)
	}
	if _, err := open(7); !errors.Is(err, ErrFenced) || !strings.Contains(err.Error(), "epoch 9") {
		t.Errorf("found %v of a lease that came too late", err)
	}
	second.lease.(*held).over.Store(true)
	if err := second.KeepState(law(260, 1000), "model-a", At{780, 260}); !errors.Is(err, ErrFenced) {
		t.Errorf("found %v after the lease was over", err)
	}
}
