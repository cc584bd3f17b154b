package objects

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/ingest/sim/field"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// TestCinema: the film goes forwards and backwards, at its pace or at none, until its time is over.
func TestCinema(t *testing.T) {
	c, err := newCinema(field.Options{Scenario: field.Vesicle, Density: 3, SNR: 4, Width: 32, Height: 32, Frames: 3, Seed: 1}, 200)
	if err != nil {
		t.Fatal(err)
	}
	defer c.end()
	if want := 3 * 32 * 32 * 2.0 / (1 << 20); c.mib() != want {
		t.Errorf("the film has %g MiB, expected %g", c.mib(), want)
	}
	c.lasts = 45 * time.Millisecond
	if !c.Info().Live || !c.Info().Timed || c.Open(t.Context()) != nil {
		t.Fatal("a camera that waits")
	}
	var sums []uint64
	for {
		f, err := c.Read(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		pixels, err := f.Mat().DataPtrUint16()
		if err != nil {
			t.Fatal(err)
		}
		sum := uint64(0)
		for i, v := range pixels {
			sum += uint64(i) * uint64(v)
		}
		if sums = append(sums, sum); f.Time != c.begun.Add(time.Duration(f.Seq)*5*time.Millisecond) {
			t.Errorf("frame %d is of %v", f.Seq, f.Time)
		}
		f.Close()
	}
	if len(sums) != 10 || sums[0] != sums[4] || sums[1] != sums[3] || sums[1] != sums[5] || sums[0] == sums[2] {
		t.Errorf("%d frames: %v", len(sums), sums)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestSubscriber: messages of the warm-up are left out, ages are from the frame's time, and a message of another kind is an error.
func TestSubscriber(t *testing.T) {
	s := &subscriber{begun: time.Now().Add(-2 * pathWarm)}
	for seq := range uint64(3) {
		e := sinktest.Field(seq + 1)
		e.Latent.Time = time.Now().Add(-time.Second)
		_, lines := sinktest.Lines(t, (&message.Encoder{Stream: pathStream}).Encode, e)
		s.take(&nats.Msg{Data: []byte(lines[0])})
		time.Sleep(time.Millisecond)
	}
	if s.err != nil || s.frames != 3 || len(s.ages) != 3 || s.ages[0] < time.Second || s.ages[0] > time.Minute || !(s.rate() > 0 && s.rate() <= 1000) {
		t.Errorf("%d frames, ages %v, %v", s.frames, s.ages, s.err)
	}
	if s.take(&nats.Msg{Data: []byte(`{"v":1,"kind":"` + string(latent.KindLatent) + `"}`)}); s.err == nil {
		t.Error("a latent was taken for objects")
	}
}
