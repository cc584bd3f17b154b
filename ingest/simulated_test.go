package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"driftscope/ingest/sim"
	"driftscope/ingest/sim/field"
	"driftscope/internal/flow/frame"
)

// openSimulated makes and opens a source from YAML options; the test closes it.
func openSimulated(t testing.TB, options string) *simulated {
	t.Helper()
	source, err := newSimulated(simulatedYAML(options))
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	return source.(*simulated)
}

func simulatedYAML(options string) func(any) error {
	return func(dst any) error {
		return yaml.UnmarshalWithOptions([]byte(options), dst, yaml.DisallowUnknownField())
	}
}

func TestSimulatedRefuses(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{"{}", "name is missing: give one of [molecule"},
		{"{name: cubes}", `scene "cubes" is not known`},
		{"{name: molecule, speed: 2}", "speed"},
		{"{name: balls-constant}", "give frames (1 to"},
		{"{name: balls-ou, frames: -5}", "frames is -5"},
		{"{name: balls-ou, render: rough}", `render is "rough"`},
		{"{name: balls-ou, seed: -1}", "seed"},
		{"{name: balls-ou, assets: mine}", "draws no digits and no objects"},
		{"{name: digits-ou, assets: no/such/folder}", "no/such/folder does not exist"},
		{"{name: cubes}", "molecule, balls-constant"},
		{"{name: cubes}", "crowded, focus"},
		{"{name: molecule, density: 100}", "is a scene of one object, to which density, snr, width and height do not apply"},
		{"{name: balls-ou, snr: 4}", "is a scene of one object"},
		{"{name: vesicle, render: integer}", "to which render and assets do not apply"},
		{"{name: vesicle, assets: mine}", "to which render and assets do not apply"},
		{"{name: vesicle, density: -1}", "field vesicle: density is -1: give 0 to 20000"},
		{"{name: vesicle, density: many}", "density"},
		{"{name: vesicle, snr: 0}", "snr is 0: give 0.1 to 200"},
		{"{name: vesicle, snr: .nan}", "snr is NaN: give"},
		{"{name: vesicle, width: 8}", "width is 8: give 16 to 4096"},
		{"{name: vesicle, height: 1000000}", "height is 1e+06: give 16 to 4096"},
		{"{name: vesicle, frames: -5}", "frames is -5: give 0 to"},
		{"{name: vesicle, size: 64}", "size"},
	} {
		_, err := newSimulated(simulatedYAML(c.options))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v; want one with %q", c.options, err, c.want)
		}
	}
}

func TestSimulatedIsLiveByHabitOrWish(t *testing.T) {
	for _, c := range []struct {
		options string
		live    bool
		frames  int
	}{
		{"{name: molecule}", true, 0},
		{"{name: molecule, realtime: false, frames: 9}", false, 9},
		{"{name: balls-ou}", false, 0},
		{"{name: balls-ou, realtime: true}", true, 0},
		{"{name: focus}", true, 0},
		{"{name: focus, realtime: false, frames: 9}", false, 9},
	} {
		s := openSimulated(t, c.options)
		if info := s.Info(); info.Live != c.live || info.Frames != c.frames || !info.Timed {
			t.Errorf("%s: %+v; want live %t, %d frames, timed", c.options, info, c.live, c.frames)
		}
	}
}

// Every frame is the scene's picture, value for value, with its number and time.
func TestSimulatedFrames(t *testing.T) {
	for _, c := range []struct {
		name string
		kind frame.MatType
	}{
		{"molecule", frame.MatTypeCV16UC1},
		{"balls-circle", frame.MatTypeCV32FC3},
		{"ball-wasserstein-ou", frame.MatTypeCV32FC3},
		{"multiple-balls-ou", frame.MatTypeCV32FC3},
		{"balls-ou-student", frame.MatTypeCV32FC3},
		{"dna-2", frame.MatTypeCV16UC1},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n = 4
			source := openSimulated(t, "{name: "+c.name+", seed: 6, frames: 4, realtime: false}")
			scene, err := sim.New(c.name, sim.Options{Frames: n, Seed: 6})
			if err != nil {
				t.Fatal(err)
			}
			var want sim.Picture
			for k := range n {
				truth, err := scene.Next(&want)
				if err != nil {
					t.Fatal(err)
				}
				f, err := source.Read(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				mat := f.Mat()
				if mat.Type() != c.kind || mat.Cols() != want.Width || mat.Rows() != want.Height {
					t.Fatalf("a Mat of type %v, %dx%d; want %v, %dx%d", mat.Type(), mat.Cols(), mat.Rows(), c.kind, want.Width, want.Height)
				}
				if !sameValues(t, mat, &want) {
					t.Fatalf("frame %d differs from the scene's picture", k)
				}
				if off := f.Time.Sub(time.Unix(0, 0)).Seconds() - truth.T; f.Seq != uint64(k) || math.Abs(off) > 1e-9 {
					t.Errorf("frame %d: number %d, time off by %g s", k, f.Seq, off)
				}
				if f.Meta.Arrived.IsZero() || len(f.Meta.Events) != 0 {
					t.Errorf("frame %d: meta %+v", k, f.Meta)
				}
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := source.Read(context.Background()); err != io.EOF {
				t.Errorf("after the last frame: %v; want io.EOF", err)
			}
		})
	}
}

func sameValues(t *testing.T, mat *frame.Mat, want *sim.Picture) bool {
	t.Helper()
	if want.Depth == sim.Counts {
		values, err := mat.DataPtrUint16()
		return err == nil && slices.Equal(values, want.U16)
	}
	values, err := mat.DataPtrFloat32()
	return err == nil && slices.Equal(values, want.F32)
}

// With seed 1748 the ball moves beyond 4.5 sd at frames 36 and 37. These frames are returned with a warning.
func TestSimulatedClipIsTold(t *testing.T) {
	source := openSimulated(t, "{name: balls-ou, seed: 1748}")
	for k := range 38 {
		f, err := source.Read(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if told := len(f.Meta.Events) > 0; told != (k >= 36) {
			t.Errorf("frame %d: events %v", k, f.Meta.Events)
		} else if told && (f.Meta.Events[0].Code != "simulation_clipped" || !f.Meta.Events[0].Warn) {
			t.Errorf("frame %d: event %+v", k, f.Meta.Events[0])
		}
		f.Close()
	}
}

// A live scene keeps its pace: n frames take at least n-1 ticks, minus the jitter of a tick.
func TestSimulatedPace(t *testing.T) {
	source := openSimulated(t, "{name: balls-ou, realtime: true}")
	const n = 8
	began := time.Now()
	for range n {
		f, err := source.Read(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if took := time.Since(began); took < (n-2)*10*time.Millisecond {
		t.Errorf("%d frames of 10 ms took %v", n, took)
	}
}

func TestSimulatedStops(t *testing.T) {
	for _, options := range []string{"{name: molecule}", "{name: balls-ou}"} {
		source := openSimulated(t, options)
		ctx, stop := context.WithCancel(context.Background())
		stop()
		if _, err := source.Read(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v; want context.Canceled", options, err)
		}
	}
}

// Every frame of a field equals the picture that its stream draws, in 16 bits and of the requested size.
func TestSimulatedFields(t *testing.T) {
	for _, scenario := range field.Scenarios {
		source := openSimulated(t, fmt.Sprintf("{name: %s, seed: 6, frames: 3, realtime: false, density: 20, snr: 3.5, width: 80, height: 48}", scenario))
		stream, err := field.NewStream(field.Options{Scenario: scenario, Seed: 6, Frames: 3, Density: 20, SNR: 3.5, Width: 80, Height: 48})
		if err != nil {
			t.Fatal(err)
		}
		var want sim.Picture
		for k := range 3 {
			f, err := source.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stream.Next(&want); err != nil {
				t.Fatal(err)
			}
			mat := f.Mat()
			if mat.Type() != frame.MatTypeCV16UC1 || mat.Cols() != 80 || mat.Rows() != 48 || !sameValues(t, mat, &want) {
				t.Fatalf("%s: frame %d differs from the stream's", scenario, k)
			}
			if off := f.Time.Sub(time.Unix(0, 0)); off != time.Duration(k)*20*time.Millisecond {
				t.Errorf("%s: frame %d at %v, expected one every 20 ms", scenario, k, off)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := source.Read(t.Context()); err != io.EOF {
			t.Errorf("%s: after the last frame %v; want io.EOF", scenario, err)
		}
	}
}

// Options of a simulation on the command line get the same types as in a configuration file.
func TestSimulatedQuery(t *testing.T) {
	for _, c := range []struct {
		arg  string
		want map[string]any // nil if an error is expected
	}{
		{"sim:molecule", map[string]any{"name": "molecule"}},
		{"sim:vesicle?", map[string]any{"name": "vesicle"}},
		{"sim:vesicle?density=500&snr=2.5&realtime=false", map[string]any{"name": "vesicle", "density": 500, "snr": 2.5, "realtime": false}},
		{"sim:balls-ou?seed=7&render=integer", map[string]any{"name": "balls-ou", "seed": 7, "render": "integer"}},
		{"sim:vesicle?snr=inf", map[string]any{"name": "vesicle", "snr": "inf"}}, // text, which the decoder of a number rejects
		{"sim:vesicle?seed=1&seed=2", nil},
		{"sim:vesicle?name=focus", nil},
		{"sim:vesicle?seed=%zz", nil},
	} {
		kind, got, err := Guess(c.arg)
		if kind != "sim" || (err == nil) != (c.want != nil) || c.want != nil && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %s %v, %v; want %v", c.arg, kind, got, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "give sim:NAME?") {
			t.Errorf("%s: %v does not say what to give", c.arg, err)
		}
	}
}

func BenchmarkSimulatedVesicle(b *testing.B) {
	source := openSimulated(b, "{name: vesicle, realtime: false}")
	b.ReportAllocs()
	for b.Loop() {
		f, err := source.Read(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}

func BenchmarkSimulatedMolecule(b *testing.B) {
	source := openSimulated(b, "{name: molecule, realtime: false}")
	b.ReportAllocs()
	for b.Loop() {
		f, err := source.Read(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}

// TestSimulatedOpensAgain: after another Open the source counts from 0 again, like a camera, while times continue.
func TestSimulatedOpensAgain(t *testing.T) {
	s := openSimulated(t, "{name: molecule, realtime: false}")
	var before time.Time
	for _, seq := range []uint64{0, 1, 0, 1} {
		if seq == 0 && !before.IsZero() {
			if err := errors.Join(s.Close(), s.Open(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		f, err := s.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.Seq != seq || !f.Time.After(before) {
			t.Errorf("frame %d of %v after one of %v, expected frame %d", f.Seq, f.Time, before, seq)
		}
		before = f.Time
		f.Close()
	}
}
