package card

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// good returns a card that Validate accepts.
func good() Card {
	d := &Drift{Hidden: []int{3}, Centre: []float64{0, 0}, Scale: 1}
	d.Weights = make([]float64, d.Size(2))
	return Card{Version: Version, Input: Input{1, 64, 64}, Latent: 2, DT: 0.01, Seconds: 10,
		Preprocess: []Step{{"normalise", map[string]any{"window": []any{0.0, 255.0}}}, {Kind: "clahe"}},
		Sigma:      []float64{1, 1}, Mean: []float64{0, 0.5}, SD: []float64{1, 2}, Drift: d,
		Training: Training{Command: "driftscope pretrain x", Seed: 7, Frames: "0:80", Verdict: &Verdict{"doubt", []string{"z2 is noise"}}}}
}

// identity returns the smallest graph: out = Identity(in), with one tensor of each type.
func identity(in, out string) *Graph {
	return &Graph{Name: in, Inputs: []Value{{in, []int{1, 2}}}, Outputs: []Value{{out, []int{1, 2}}},
		Nodes:   []Node{{Op: "Identity", Inputs: []string{in}, Outputs: []string{out}, Attrs: []Attr{{"a", 1}, {"b", float32(2)}, {"c", "d"}, {"e", []int{3, 4}}}}},
		Tensors: []Tensor{{"w", []int{2}, []float32{1, 2}}}, Ints: []IntTensor{{"s", []int{1, -1}}}}
}

// TestVerdict: reasons must be single lines of bounded length, because they are printed. A good model, or a model without a verdict, gives no warning.
func TestVerdict(t *testing.T) {
	for _, k := range []struct {
		verdict  *Verdict
		doubted  string
		accepted bool
	}{
		{nil, "", true},
		{&Verdict{"good", []string{"it holds"}}, "", true},
		{&Verdict{"doubt", []string{"z2 is noise", "bent"}}, "z2 is noise; bent", true},
		{&Verdict{"bad", []string{strings.Repeat("x", maxReason)}}, strings.Repeat("x", maxReason), true},
		{&Verdict{"bad", []string{strings.Repeat("x", maxReason+1)}}, strings.Repeat("x", maxReason+1), false},
		{&Verdict{"bad", []string{"\x1b[2J"}}, "\x1b[2J", false},
	} {
		c := good()
		c.Training.Verdict = k.verdict
		if err := c.Validate(); (err == nil) != k.accepted || k.verdict.Doubted() != k.doubted {
			t.Errorf("%+v: %v, warns %q", k.verdict, err, k.verdict.Doubted())
		}
	}
}

func TestWriteThenRead(t *testing.T) {
	c := good()
	data, err := Write(&c, identity("x", "mean"), identity("z", "x"))
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Write(&c, identity("x", "mean"), identity("z", "x"))
	if !bytes.Equal(data, again) {
		t.Error("the same model gave different bytes")
	}
	f, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(f.Card, c) {
		t.Errorf("read %+v\nwrote %+v", f.Card, c)
	}
	if !bytes.Equal(f.Decoder, identity("z", "x").Marshal(nil)) || !bytes.Equal(f.Encoder, data) {
		t.Error("encoder or decoder came back changed")
	}
}

func TestReadRefuses(t *testing.T) {
	c := good()
	whole, _ := Write(&c, identity("x", "mean"), nil)
	for _, r := range []struct {
		name string
		data []byte
		want string
	}{
		{"an empty file", nil, "no graph inside"},
		{"a text file", []byte("hello, I am not a model\n"), "torn or not ONNX"},
		{"a torn file", whole[:len(whole)/2], "torn or not ONNX"},
		{"an unknown key", identity("x", "y").Marshal([]Property{{keyCard, `{"version":1,"colour":2}`}}), `unknown field "colour"`},
		{"a card that is no JSON", identity("x", "y").Marshal([]Property{{keyCard, `{`}}), keyCard},
		{"an empty card", identity("x", "y").Marshal([]Property{{keyCard, `{}`}}), "latent: found 0"},
	} {
		if _, err := Read(r.data); err == nil || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s: got %v, want an error with %q", r.name, err, r.want)
		}
	}
	if _, err := Read(identity("x", "y").Marshal(nil)); !errors.Is(err, ErrNoCard) {
		t.Errorf("a plain ONNX file: got %v, want ErrNoCard", err)
	}
}

func TestValidateNamesTheKey(t *testing.T) {
	for key, spoil := range map[string]func(*Card){
		"version":        func(c *Card) { c.Version = 99 },
		"input.channels": func(c *Card) { c.Input.Channels = 2 },
		"input.height":   func(c *Card) { c.Input.Height = 1 << 20 },
		"input.width":    func(c *Card) { c.Input.Width = 0 },
		"latent":         func(c *Card) { c.Latent = -1 },
		"preprocess":     func(c *Card) { c.Preprocess = nil },
		"dt_s":           func(c *Card) { c.DT = math.NaN() },
		"train_s":        func(c *Card) { c.Seconds = 0 },
		"clock_s":        func(c *Card) { c.Clock = math.Inf(1) },
		"sigma":          func(c *Card) { c.Sigma = []float64{1, 0} },
		"mean":           func(c *Card) { c.Mean = []float64{0, math.Inf(1)} },
		"sd":             func(c *Card) { c.SD = nil },
		"drift.hidden":   func(c *Card) { c.Drift.Hidden = []int{1 << 30} },
		"drift.centre":   func(c *Card) { c.Drift.Centre = nil },
		"drift.scale":    func(c *Card) { c.Drift.Scale = 0 },
		"drift.weights":  func(c *Card) { c.Drift.Weights = c.Drift.Weights[1:] },

		"training.verdict.level":   func(c *Card) { c.Training.Verdict = &Verdict{Level: "splendid"} },
		"training.verdict.reasons": func(c *Card) { c.Training.Verdict = &Verdict{Level: "doubt", Reasons: make([]string, 17)} },
	} {
		c := good()
		spoil(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), key+":") {
			t.Errorf("%s: got %v", key, err)
		}
	}
	c := good()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

// TestValidateRefusesWhatIsNoNumber: no number in a card may be NaN or infinite, and numbers that measure something must be positive.
func TestValidateRefusesWhatIsNoNumber(t *testing.T) {
	option := func(key string, v any) func(*Card, float64) {
		return func(c *Card, x float64) {
			if list, ok := v.([]any); ok {
				list[1] = x
				c.Preprocess[0].Options[key] = list
				return
			}
			c.Preprocess[0].Options[key] = map[string]any{"of": x}
		}
	}
	for key, set := range map[string]func(*Card, float64){
		"dt_s":                              func(c *Card, x float64) { c.DT = x },
		"train_s":                           func(c *Card, x float64) { c.Seconds = x },
		"clock_s":                           func(c *Card, x float64) { c.Clock = x },
		"sigma":                             func(c *Card, x float64) { c.Sigma[1] = x },
		"mean":                              func(c *Card, x float64) { c.Mean[1] = x },
		"sd":                                func(c *Card, x float64) { c.SD[1] = x },
		"drift.centre":                      func(c *Card, x float64) { c.Drift.Centre[1] = x },
		"drift.scale":                       func(c *Card, x float64) { c.Drift.Scale = x },
		"drift.weights":                     func(c *Card, x float64) { c.Drift.Weights[1] = x },
		"training.tau":                      func(c *Card, x float64) { c.Training.Tau = x },
		"training.held_out_loss":            func(c *Card, x float64) { c.Training.HeldOut = x },
		"preprocess[0].options.window[1]":   option("window", []any{0.0, 1.0}),
		"preprocess[0].options.anything.of": option("anything", nil),
	} {
		wrong := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
		if slices.Contains([]string{"dt_s", "train_s", "clock_s", "sigma", "sd", "drift.scale"}, key) {
			wrong = append(wrong, -1)
		}
		for _, x := range wrong {
			c := good()
			set(&c, x)
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), key+": found "+strconv.FormatFloat(x, 'g', -1, 64)) {
				t.Errorf("%s: %g: found %v", key, x, err)
			}
		}
	}
}

// TestValidateBoundsThePreprocessing: the outputs of a card's preprocessing are bounded, for all number types that a decoder produces.
func TestValidateBoundsThePreprocessing(t *testing.T) {
	resize := func(width, height any) Step { return Step{"resize", map[string]any{"width": width, "height": height}} }
	search := Step{"roi", map[string]any{"search": map[string]any{"size": 64}}}
	for _, c := range []struct {
		name  string
		steps []Step
		want  string
	}{
		{"the largest", []Step{resize(2048.0, 2048.0)}, ""},
		{"from JSON", []Step{{Kind: "clahe"}, resize(16384.0, 16384.0)}, "preprocess[1].options: found a resize to 16384x16384, expected at most 4194304 pixels"},
		{"from YAML", []Step{resize(uint64(16384), uint64(16384))}, "preprocess[0].options: found a resize to 16384x16384"},
		{"many", slices.Repeat([]Step{resize(1024, 1024)}, 5), "preprocess[4].options: found a resize to 1024x1024"},
		{"two searches", []Step{search, search}, ""},
		{"three", []Step{search, search, search}, "preprocess[2].options.search: found 3 searches, expected at most 2"},
	} {
		card := good()
		card.Preprocess = c.steps
		if err := card.Validate(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q", c.name, err, c.want)
		}
	}
}

// TestValidateBoundsTheDrift: a drift whose squares overflow is refused, with the key of the number. A drift at the bounds is accepted.
func TestValidateBoundsTheDrift(t *testing.T) {
	c := good()
	c.Drift.Centre[1], c.Drift.Scale, c.Drift.Weights[3] = -MaxWeight, 1/MaxWeight, MaxWeight
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	for key, spoil := range map[string]func(*Drift){
		"drift.centre":  func(d *Drift) { d.Centre[1] = -2 * MaxWeight },
		"drift.scale":   func(d *Drift) { d.Scale = 0.5 / MaxWeight },
		"drift.weights": func(d *Drift) { d.Weights[3] = 1e200 },
	} {
		c := good()
		spoil(c.Drift)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), key+":") {
			t.Errorf("%s: got %v", key, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	c := good()
	whole, _ := Write(&c, identity("x", "mean"), identity("z", "x"))
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		if file, err := Read(data); err == nil && file.Card.Validate() != nil {
			t.Error("a card that does not validate was read")
		}
	})
}

func TestTensors(t *testing.T) {
	g := identity("x", "y")
	g.Tensors = append(g.Tensors, Tensor{"none", []int{0}, []float32{}}, Tensor{"m", []int{2, 1}, []float32{3, -0.5}})
	got, err := Tensors(g.Marshal([]Property{{keyCard, "{}"}}))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(g.Tensors) {
		t.Errorf("%d constants, expected the %d of float32", len(got), len(g.Tensors))
	}
	for _, want := range g.Tensors {
		if !reflect.DeepEqual(got[want.Name], want) {
			t.Errorf("read %+v\nwrote %+v", got[want.Name], want)
		}
	}
	lying := &Graph{Tensors: []Tensor{{"w", []int{3}, []float32{1, 2}}}}
	if _, err := Tensors(lying.Marshal(nil)); err == nil || !strings.Contains(err.Error(), `"w" has 8 bytes`) {
		t.Errorf("a constant that is shorter than its shape: %v", err)
	}
	huge := &Graph{Tensors: []Tensor{{"w", []int{1 << 20, 1 << 20}, nil}}}
	if _, err := Tensors(huge.Marshal(nil)); err == nil {
		t.Error("a constant of 4 TiB was read")
	}
}

func FuzzTensors(f *testing.F) {
	whole := identity("x", "y").Marshal(nil)
	f.Add(whole)
	f.Add(whole[:len(whole)-9])
	f.Fuzz(func(t *testing.T, data []byte) {
		tensors, err := Tensors(data)
		for name, tensor := range tensors {
			if err == nil && 4*len(tensor.Data) > len(data) {
				t.Errorf("%q has more numbers than the file", name)
			}
		}
	})
}

// TestObjects: a card with Objects must have valid numbers for the square around an object.
func TestObjects(t *testing.T) {
	good := func() *Card {
		return &Card{Version: Version, Input: Input{1, 16, 16}, Latent: 1, DT: 1, Sigma: []float64{1}, Mean: []float64{0}, SD: []float64{1}, Seconds: 9,
			Objects: &Objects{Template: 1.4, Scale: 1, Low: -5, High: 40}}
	}
	if err := good().Validate(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*Card){
		"a grey square of at most 32": func(c *Card) { c.Input = Input{1, 64, 64} },
		"found 3x16x16":               func(c *Card) { c.Input.Channels = 3 },
		"found 1x16x24":               func(c *Card) { c.Input.Width = 24 },
		"objects.template_px":         func(c *Card) { c.Objects.Template = math.NaN() },
		"objects.scale: found 0.5":    func(c *Card) { c.Objects.Scale = 0.5 },
		"objects.scale: found 1e+09":  func(c *Card) { c.Objects.Scale = 1e9 },
		"with high above low":         func(c *Card) { c.Objects.High = -5 },
		"finite numbers":              func(c *Card) { c.Objects.High = math.Inf(1) },
		"at most 62 in addition":      func(c *Card) { c.Latent = 63 },
		"clock_s":                     func(c *Card) { c.Clock = 3 },
		"preprocess: found 0 steps":   func(c *Card) { c.Objects = nil },
	} {
		c := good()
		spoil(c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}
