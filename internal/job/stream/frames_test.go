package stream

import (
	"testing"

	"driftscope/ingest"
	"driftscope/internal/flow/config"
)

// TestFramesKept: the embedded server has room for the stored frames of a stream in addition to another stream's frames, and the source reads
// the stored frames.
func TestFramesKept(t *testing.T) {
	one, err := config.Parse("one.yaml", []byte("source: {nats: {subject: cam.1}}\nframes: {durable: true}\nnats: {port: 0, store: '"+t.TempDir()+"'}"))
	if err != nil {
		t.Fatal(err)
	}
	two := one
	two.Source, err = one.Source.With("subject", "cam.2")
	if err != nil {
		t.Fatal(err)
	}
	live := one
	live.Frames.Durable = false
	shared := keepingAll([]config.Config{one, live, two})
	if !shared.Frames.Durable || shared.Frames.MaxBytes != 2*one.Frames.MaxBytes {
		t.Errorf("%+v", shared.Frames)
	}
	b, err := Connect(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, cfg := range []config.Config{one, two} {
		component, err := readingFrom(cfg, b)
		if err != nil {
			t.Fatal(err)
		}
		source, err := ingest.New(component.Kind, component.Decode)
		if err != nil {
			t.Fatal(err)
		}
		if info := source.Info(); info.ResumeAfter == nil || info.Live {
			t.Errorf("%T, one that can be resumed and waits expected", source)
		}
		if err := source.Open(t.Context()); err != nil {
			t.Error(err)
		}
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	}
	component, err := readingFrom(live, b)
	if err != nil {
		t.Fatal(err)
	}
	if _, kept := component.Options()["durable"]; kept {
		t.Error("a live source reads what is kept")
	}
}
