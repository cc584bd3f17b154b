package child

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
)

// wireFrames returns a child's messages with frames of every type. One frame has all optional fields.
func wireFrames(t testing.TB) []byte {
	t.Helper()
	var stream bytes.Buffer
	w := messageWriter{to: &stream}
	for i, kind := range wireTypes {
		f := frame.New(uint64(i), wireTime(i), frame.Meta{Arrived: time.Now(), Dropped: 2}, numbered(t, 3, 5, kind))
		if i == 0 {
			f.Meta.File, f.Meta.Trajectory, f.Meta.Centroid = "a/b.tif", 9, []float64{0.1, -3}
			f.Notice(true, "odd", "an odd frame")
			f.Notice(false, "told", "a word")
		}
		if err := w.frame(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if err := w.message(header{What: wireEnded}, nil); err != nil {
		t.Fatal(err)
	}
	return stream.Bytes()
}

var wireTypes = []gocv.MatType{gocv.MatTypeCV8UC1, gocv.MatTypeCV8UC3, gocv.MatTypeCV16UC1, gocv.MatTypeCV16UC3, gocv.MatTypeCV32FC1, gocv.MatTypeCV32FC3}

func wireTime(i int) time.Time { return time.Unix(1_700_000_000, 123456789).UTC().AddDate(-60*i, 0, 0) }

// numbered returns a Mat whose bytes count from 0.
func numbered(t testing.TB, rows, columns int, kind gocv.MatType) gocv.Mat {
	t.Helper()
	mat := gocv.NewMatWithSize(rows, columns, kind)
	data, err := mat.DataPtrUint8()
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] = byte(i)
	}
	return mat
}

func TestWire(t *testing.T) {
	r := messageReader{from: bytes.NewReader(wireFrames(t))}
	for i, kind := range wireTypes {
		h, note, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.frame(h, note)
		if err != nil {
			t.Fatal(err)
		}
		want := numbered(t, 3, 5, kind)
		if m := f.Mat(); m.Type() != kind || m.Rows() != 3 || m.Cols() != 5 || !bytes.Equal(m.ToBytes(), want.ToBytes()) {
			t.Errorf("frame %d: %d x %d of type %v, other pixels than were sent", i, m.Cols(), m.Rows(), m.Type())
		}
		want.Close()
		if f.Seq != uint64(i) || !f.Time.Equal(wireTime(i)) || f.Meta.Dropped != 2 {
			t.Errorf("frame %d is number %d of %v, %d dropped", i, f.Seq, f.Time, f.Meta.Dropped)
		}
		if age := time.Since(f.Meta.Arrived); age < 0 || age > time.Minute {
			t.Errorf("frame %d arrived %v ago", i, age)
		}
		if i == 0 {
			events := []frame.Event{{Warn: true, Code: "odd", Text: "an odd frame"}, {Code: "told", Text: "a word"}}
			if m := f.Meta; m.File != "a/b.tif" || m.Trajectory != 9 || !reflect.DeepEqual(m.Centroid, []float64{0.1, -3}) || !reflect.DeepEqual(m.Events, events) {
				t.Errorf("the first frame carries %+v", m)
			}
		}
		f.Close()
	}
	if h, _, err := r.next(); err != nil || h.What != wireEnded {
		t.Errorf("then %+v, %v; the end expected", h, err)
	}
	if _, _, err := r.next(); err != io.EOF {
		t.Errorf("then %v, io.EOF expected", err)
	}
}

// TestWireArrived: the latency of a frame counts from the time at which its pixels were complete in the child, independent of its time in the pipe.
func TestWireArrived(t *testing.T) {
	const lay = 300 * time.Millisecond
	var stream bytes.Buffer
	f := frame.New(0, time.Now(), frame.Meta{Arrived: time.Now().Add(-lay)}, numbered(t, 2, 2, gocv.MatTypeCV8UC1))
	defer f.Close()
	w := messageWriter{to: &stream}
	if err := w.frame(f); err != nil {
		t.Fatal(err)
	}
	time.Sleep(lay)
	r := messageReader{from: &stream}
	h, note, err := r.next()
	if err != nil {
		t.Fatal(err)
	}
	g, err := r.frame(h, note)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	// Two clocks are read one after the other, and a busy machine may delay the second reading.
	if d := g.Meta.Arrived.Sub(f.Meta.Arrived); d < -100*time.Millisecond || d > 100*time.Millisecond {
		t.Errorf("the frame arrived %v later than it did", d)
	}
}

// TestWireTorn: a stream that is cut anywhere gives an error, and never a partial frame.
func TestWireTorn(t *testing.T) {
	whole := wireFrames(t)
	for n := range whole {
		frames, err := readWire(whole[:n])
		if frames > len(wireTypes) {
			t.Fatalf("%d frames", frames)
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
	}
	if frames, err := readWire(whole); frames != len(wireTypes) || err != nil {
		t.Errorf("%d frames, %v; all of them and the end expected", frames, err)
	}
}

// readWire reads frames up to the message that announces the end.
func readWire(stream []byte) (frames int, err error) {
	r := messageReader{from: bytes.NewReader(stream)}
	for {
		h, note, err := r.next()
		if err != nil || h.What == wireEnded {
			return frames, err
		}
		if h.What != wireFrame {
			continue
		}
		f, err := r.frame(h, note)
		if err != nil {
			return frames, err
		}
		f.Close()
		frames++
	}
}

func TestWireRefuses(t *testing.T) {
	good := header{Magic: wireMagic, Version: wireVersion, What: wireFrame, Rows: 4, Columns: 4, Type: uint32(gocv.MatTypeCV8UC1)}
	for want, spoil := range map[string]func(*header){
		"begins with":           func(h *header) { h.Magic[0] = 'X' },
		"have version 9":        func(h *header) { h.Version = 9 },
		"has kind 0":            func(h *header) { h.What = 0 },
		"has kind 77":           func(h *header) { h.What = 77 },
		"a note has 4294967295": func(h *header) { h.Note = 1<<32 - 1 },
		"have type 6":           func(h *header) { h.Type = uint32(gocv.MatTypeCV64FC1) },
		"have type 8":           func(h *header) { h.Type = uint32(gocv.MatTypeCV8UC2) },
		"have type 4294967288":  func(h *header) { h.Type = 1<<32 - 8 },
		"4x0":                   func(h *header) { h.Rows = 0 },
		"4294967295x4":          func(h *header) { h.Columns = 1<<32 - 1 },
		"16384x16384":           func(h *header) { h.Rows, h.Columns = 16384, 16384 },
	} {
		h := good
		spoil(&h)
		if err := h.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %q expected", err, want)
		}
	}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	mat := numbered(t, 2, 2, gocv.MatTypeCV64FC1)
	f := frame.New(0, time.Now(), frame.Meta{}, mat)
	defer f.Close()
	var stream bytes.Buffer
	w := messageWriter{to: &stream}
	if err := w.frame(f); err == nil || stream.Len() > 0 {
		t.Errorf("doubles were sent: %v", err)
	}
}

// FuzzWire: for any bytes in the pipe, the reader ends, within its bounds of memory.
func FuzzWire(f *testing.F) {
	f.Add(wireFrames(f))
	f.Fuzz(func(t *testing.T, stream []byte) {
		const mostPixels = 1 << 20 // keeps the fuzzer from spending its time on filling memory
		r := messageReader{from: bytes.NewReader(stream)}
		for {
			h, note, err := r.next()
			if err != nil || h.What == wireFrame && uint64(h.Rows)*uint64(h.Columns) > mostPixels {
				return
			}
			if len(note) > maxNote {
				t.Fatalf("a note of %d bytes", len(note))
			}
			if h.What != wireFrame {
				continue
			}
			if got, err := r.frame(h, note); err == nil {
				got.Close()
			} else {
				return
			}
		}
	})
}
