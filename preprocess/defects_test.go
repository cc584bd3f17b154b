package preprocess

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"gocv.io/x/gocv"
)

// TestDefects: each defective pixel becomes the lower median of its intact neighbours, in every channel and type, and no other pixel changes.
func TestDefects(t *testing.T) {
	in := []float32{
		1, 2, 3, 4,
		5, 200, 200, 8,
		9, 10, 11, 0,
	}
	want := []float32{
		1, 2, 3, 4,
		5, 5, 4, 8, // of 1 2 3 5 9 10 11, and of 2 3 4 8 10 11
		9, 10, 11, 8, // of 8 11
	}
	for name, mt := range map[string]gocv.MatType{"8 bits": gocv.MatTypeCV8UC1, "16 bits": gocv.MatTypeCV16UC1, "float": gocv.MatTypeCV32FC1, "colour": gocv.MatTypeCV8UC3} {
		t.Run(name, func(t *testing.T) {
			given, expected := in, want
			if mt == gocv.MatTypeCV8UC3 {
				given, expected = tripled(in), tripled(want)
			}
			f := picture(t, 0, 3, 4, mt, given...)
			apply(t, newStep(t, "defects", defectsYAML(t, DefectsOptions(4, 3, []int{5, 6, 11}))), f)
			if got := values(t, f); !slices.Equal(got, expected) || f.Mat().Type() != mt {
				t.Errorf("found %v of type %d, expected %v of type %d", got, f.Mat().Type(), expected, mt)
			}
		})
	}
}

// TestDefectsLines: even with the largest number of pixels, no line of a configuration exceeds the length limit.
func TestDefectsLines(t *testing.T) {
	all := make([]int, MaxDefects)
	for i := range all {
		all[i] = 1000 * i
	}
	text := defectsYAML(t, DefectsOptions(MaxSide, MaxSide, all))
	for line := range strings.Lines(text) {
		if len(line) > 1024 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	step := newStep(t, "defects", text).(*defects)
	if !slices.Equal(step.pixels, all) {
		t.Errorf("%d pixels came of %d", len(step.pixels), len(all))
	}
}

// TestDefectsRefuses: frames of a different size, and options that pretrain did not write, give errors.
func TestDefectsRefuses(t *testing.T) {
	step := newStep(t, "defects", defectsYAML(t, DefectsOptions(4, 3, []int{5})))
	if err := step.Apply(context.Background(), picture(t, 7, 1, 2, gocv.MatTypeCV8UC1, 0, 0)); err == nil || !strings.Contains(err.Error(), "frame 7: found 2x1 pixels, expected 4x3") {
		t.Errorf("found %v", err)
	}
	many := make([]int, MaxDefects+1)
	for i := range many {
		many[i] = i
	}
	for name, o := range map[string]map[string]any{
		"no size":       DefectsOptions(0, 3, []int{1}),
		"a huge size":   DefectsOptions(MaxSide+1, 3, []int{1}),
		"none":          DefectsOptions(4, 3, nil),
		"too many":      DefectsOptions(MaxSide, MaxSide, many),
		"beyond":        DefectsOptions(4, 3, []int{12}),
		"not ascending": DefectsOptions(4, 3, []int{3, 3}),
		"no base64":     {"width": 4, "height": 3, "pixels": []any{"?"}},
		"half a number": {"width": 4, "height": 3, "pixels": []any{"AAA="}},
	} {
		text := defectsYAML(t, o)
		if _, err := New("defects", options(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func tripled(v []float32) (all []float32) {
	for _, one := range v {
		all = append(all, one, one, one)
	}
	return all
}

func defectsYAML(t testing.TB, o map[string]any) string {
	t.Helper()
	text, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
