package main

import (
	"reflect"
	"testing"
	"time"

	"driftscope/infer/card"
	"driftscope/internal/config"
)

func TestStreamName(t *testing.T) {
	for source, want := range map[string]string{
		"sim:molecule":        "molecule",
		"data/bead 2.tif":     "bead-2",
		"run1/*.png":          "stream",
		"/data/trap-good.mp4": "trap-good",
		"größe.mov":           "gr--e",
		"genicam:Basler-1":    "genicam-Basler-1",
		"rtsp://u:secret@cam": "cam",
		"gst:a ! b,rate=20/1": "gst",
		".":                   "stream",
		"nats:lab.cam":        "lab-cam",
		"nats://lab:4222/a.b": "a-b",
		"rtsp://192.168.1.10": "192-168-1-10",
		"http://scope/a.mjpg": "a",

		"rtsp://192.168.1.10:554/live?user=admin&password=hunter2":               "live",
		"http://scope:8080/?user=admin&pwd=hunter2/x":                            "scope",
		"http://scope?token=a@hunter2":                                           "scope",
		"rtsp://scope:554/user=admin&password=hunter2&channel=1&stream=0.sdp?on": "scope",
		"rtsp://admin:hunter2@scope:554/":                                        "scope",
		"rtsp://admin:p@hunter2@scope/live#hunter2":                              "live",
		"rtsp://admin:12/hunter2@scope":                                          "scope",
		"rtsp://admin:hunter2/3@scope":                                           "stream",
		"nats://u:hunter2@lab:4222/lab.cam?hunter2":                              "lab-cam",
		"nats://u:hunter2@lab:4222":                                              "lab",
	} {
		if got := streamName(source); got != want {
			t.Errorf("%s: found %q, expected %q", source, got, want)
		}
	}
}

// TestSourceName: what is told of a source can be typed again, and takes the same series.
func TestSourceName(t *testing.T) {
	for arg, want := range map[string]string{
		"tiff:stack.tif?channel=2&slice=1": "tiff:stack.tif?channel=2&slice=1",
		"tiff:stack.tif?slice=3":           "tiff:stack.tif?slice=3",
		"ndtiff:run?channel=DAPI&z=3":      "ndtiff:run?channel=DAPI&z=3",
		"sim:molecule":                     "sim:molecule",
	} {
		c, err := sourceFrom(arg, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := sourceName(c); got != want {
			t.Errorf("%s: found %q, expected %q", arg, got, want)
		}
	}
}

// The borrowed encoder sees the largest square in the middle, through a grey window that follows the pictures.
func TestAdapt(t *testing.T) {
	own := []card.Step{
		{Kind: "normalise", Options: map[string]any{"window": []any{100.0, 900.0}, "to": "uint8"}},
		{Kind: "clahe"},
		{Kind: "roi", Options: map[string]any{"x": 8.0, "y": 8.0, "width": 128.0, "height": 128.0}},
		{Kind: "resize", Options: map[string]any{"width": 64.0, "height": 64.0}},
	}
	want := []card.Step{
		{Kind: "roi", Options: map[string]any{"centre": []any{319.5, 211.5}, "size": 424}},
		{Kind: "normalise", Options: map[string]any{"grey": true, "to": "uint8"}},
		{Kind: "clahe"},
		{Kind: "resize", Options: map[string]any{"width": 64.0, "height": 64.0}},
	}
	if got := adapt(own, 640, 424); !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
	if _, kept := own[0].Options["window"]; !kept {
		t.Error("the card itself was changed")
	}
}

// A shipped model is continued by the name that run takes.
func TestContinueShipped(t *testing.T) {
	long(t)
	f, err := (&pretrainCmd{From: "embedded:molecule"}).origin()
	if err != nil {
		t.Fatal(err)
	}
	if f.Card.Latent != 2 || f.Decoder == nil {
		t.Errorf("found %+v, expected two latents and a decoder", f.Card)
	}
	if _, err := (&pretrainCmd{From: "embedded:molecule", Latent: "3"}).origin(); err == nil || exitStatus(err) != 2 {
		t.Errorf("three latents: %v, a usage error expected", err)
	}
}

func TestSameSteps(t *testing.T) {
	own, err := stepsOf([]card.Step{
		{Kind: "normalise", Options: map[string]any{"window": []any{0.0, 255.0}}},
		{Kind: "resize", Options: map[string]any{"width": 64.0, "height": 64.0}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, yaml, want string }{
		{"equal, numbers written otherwise", "[{normalise: {window: [0, 255]}}, {resize: {height: 64, width: 64}}]", ""},
		{"other window", "[{normalise: {window: [0, 254]}}, {resize: {width: 64, height: 64}}]",
			"preprocess[0]: found normalise map[window:[0 254]], the model was trained with normalise map[window:[0 255]]: write preprocess: model"},
		{"too few", "[{normalise: {window: [0, 255]}}]",
			"preprocess[1]: found nothing, the model was trained with resize map[height:64 width:64]: write preprocess: model"},
		{"too many", "[{normalise: {window: [0, 255]}}, {resize: {width: 64, height: 64}}, clahe]",
			"preprocess[2]: found clahe map[], the model was trained with nothing: write preprocess: model"},
	} {
		cfg, err := config.Parse("c.yaml", []byte("source: sim\npreprocess: "+test.yaml))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := sameSteps(cfg.Preprocess, own); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: found %q, expected %q", test.name, got, test.want)
		}
	}
}

func TestFlagsStandOverTheFile(t *testing.T) {
	seed, port := uint64(1<<64-1), 0
	c := runCmd{Sources: []string{"../../configs/molecule.yaml"}, Mode: "lossless", Seed: &seed, NATSPort: &port, Stream: "other", Out: "out.jsonl", NoStatus: true}
	cfgs, err := c.configs()
	if err != nil {
		t.Fatal(err)
	}
	cfg := cfgs[0]
	if cfg.Online.Seed != seed || cfg.Source.Options()["seed"] != seed {
		t.Errorf("seeds %d and %v, expected %d", cfg.Online.Seed, cfg.Source.Options()["seed"], seed)
	}
	if cfg.NATS.Port != 0 || cfg.Stream != "other" || cfg.Mode != "lossless" || cfg.StallAfter != 5*time.Second {
		t.Errorf("port %d, stream %s, mode %s, stall_after %v", cfg.NATS.Port, cfg.Stream, cfg.Mode, cfg.StallAfter)
	}
	if len(cfg.Sinks) != 1 || cfg.Sinks[0].Kind != "jsonl" || cfg.Sinks[0].Options()["path"] != "out.jsonl" {
		t.Errorf("sinks %v", cfg.Sinks)
	}
}

// A film of a frame every two seconds has steps, under the model that was trained on it; what is configured stands over that.
func TestLongestStep(t *testing.T) {
	for _, c := range []struct {
		configured time.Duration
		dt         float64
		want       time.Duration
	}{
		{0, 1. / 56, time.Second},
		{0, 2, 20 * time.Second},
		{0, 1e300, time.Hour},
		{250 * time.Millisecond, 2, 250 * time.Millisecond},
	} {
		if got := longestStep(c.configured, c.dt); got != c.want {
			t.Errorf("%v configured, frames of %g s: %v, expected %v", c.configured, c.dt, got, c.want)
		}
	}
}
