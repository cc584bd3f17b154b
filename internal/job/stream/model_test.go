package stream

import (
	"reflect"
	"testing"
	"time"

	"driftscope/infer/card"
	"driftscope/internal/flow/config"
)

// The borrowed encoder gets the largest central square, with a grey window that follows the pictures.
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

// A film with a frame every two seconds has increments under a model trained on it. A configured value overrides the model's.
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
