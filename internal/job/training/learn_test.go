package training

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
)

// few returns the flags of a training that takes a second: four steps on 80 frames.
func few(folder string) Options {
	c := Defaults()
	c.Source, c.Latent, c.Out = []string{"sim:molecule?frames=80"}, "2", filepath.Join(folder, "m.onnx")
	c.Steps, c.Pairs, c.Restarts = 4, 8, 1
	return c
}

// TestLearn: a training writes a model, whose card describes its source, and a report. The training of the model can be continued.
func TestLearn(t *testing.T) {
	suite.Calculation(t)
	folder := t.TempDir()
	c := few(folder)
	if err := c.Learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, err := card.Read(suite.Content(t, folder, "m.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Card; got.Latent != 2 || got.Training.Source != "sim:molecule?frames=80" || got.Training.Frames != "0:80" || got.Training.Seed != 1 || len(got.Preprocess) != 3 {
		t.Errorf("the card says %+v", got)
	}
	if page := string(suite.Content(t, folder, "m.html")); !strings.Contains(page, "<html") {
		t.Errorf("the report begins %.80q", page)
	}
	on := few(t.TempDir())
	on.From, on.Latent, on.Restarts, on.SpriteSteps = c.Out, "", 0, -1
	if from, err := on.origin(); err != nil || from.Card.Latent != 2 {
		t.Errorf("the model cannot be continued: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 2 {
		t.Errorf("found %v: the model and its report alone expected", left)
	}
}

// TestCheck: invalid or contradictory flags are usage errors, before a recording is opened.
func TestCheck(t *testing.T) {
	folder := t.TempDir()
	for want, change := range map[string]func(*Options){
		"a name that ends in .onnx":          func(c *Options) { c.Out = "m.pt" },
		"expected positive numbers":          func(c *Options) { c.Tau = -1 },
		"leave --crop, --clahe":              func(c *Options) { c.From, c.Latent, c.CLAHE = "m.onnx", "", "on" },
		"leave --restarts":                   func(c *Options) { c.From, c.Latent, c.Restarts = "m.onnx", "", 3 },
		"--out ":                             func(c *Options) { c.Out = filepath.Join(folder, "none", "m.onnx") },
		"--train-frames \"5\": expected A:B": func(c *Options) { c.TrainFrames = "5" },
		"expected 1 to":                      func(c *Options) { c.Latent = "many" },
		"the model that --from names":        func(c *Options) { c.From, c.Latent = "m.onnx", auto },
		"leave --clock out":                  func(c *Options) { c.Objects, c.Clock = true, true },
	} {
		c := few(folder)
		change(&c)
		if _, err := c.check(); err == nil || !strings.Contains(err.Error(), want) || console.Status(err) != 2 {
			t.Errorf("found %v, expected a usage error with %q", err, want)
		}
	}
	c := few(folder)
	c.TrainFrames = "10:80"
	if frames, err := c.check(); err != nil || frames.From != 10 || frames.To != 80 {
		t.Errorf("frames %v: %v", frames, err)
	}
	c.Clock = true
	if err := c.Learn(t.Context()); err == nil || !strings.Contains(err.Error(), "the clock starts with the recording's first frame") {
		t.Errorf("a clock that starts in the middle: %v", err)
	}
	c.From, c.Latent = filepath.Join(folder, "missing.onnx"), ""
	if _, err := c.origin(); !errors.Is(err, os.ErrNotExist) || console.Status(err) != 2 {
		t.Errorf("found %v", err)
	}
}

// TestConfig: flags override the recipe, and a model of objects does not search for objects.
func TestConfig(t *testing.T) {
	c := few(t.TempDir())
	with := func(change func(*Options)) sdevae.Config {
		d := c
		change(&d)
		return d.config(&choice{clip: walking(0.5), latent: 2, tau: 0.5})
	}
	if got := with(func(c *Options) { c.Steps = 0 }); got.Steps != sdevae.DefaultSteps || got.Latent != 2 || got.Tau != 0.5 || got.Seed != 1 {
		t.Errorf("found %+v", got)
	}
	if got := with(func(c *Options) { c.Objects, c.Steps = true, 7 }); got.SpriteSteps != -1 || got.Steps != 7 {
		t.Errorf("of objects: %+v", got)
	}
	if fast, paper := with(func(*Options) {}), with(func(c *Options) { c.Recipe = "paper" }); fast == paper {
		t.Error("the paper's recipe is the fast one")
	}
}

// TestLocated: the latents are described in words.
func TestLocated(t *testing.T) {
	for want, r := range map[string]sdevae.Result{
		"the places of 2 rigid objects":                                                        {Sprites: 2, Config: sdevae.Config{Latent: 4}},
		"the places of 1 rigid objects, 1 padding":                                             {Sprites: 1, Config: sdevae.Config{Latent: 3}},
		"the place of an object that changes in 3 ways, 1 of them latents":                     {Sprites: 1, Modes: 3, AppearanceLatents: 1, Config: sdevae.Config{Latent: 3}},
		"the places of 1 rigid objects and 1 of a background":                                  {Sprites: 1, BackgroundLatents: 1, Config: sdevae.Config{Latent: 3}},
		"the places of 1 rigid objects, over a picture whose still part changes with frame 40": {Sprites: 1, Config: sdevae.Config{Latent: 2}, Steps: []int{40}},
	} {
		if got := located(&r); got != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
}
