package infer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/internal/suite"
)

// killers returns models that crash a process in which OpenCV 4.6 reads them. The keys are parts of the expected errors.
func killers(t testing.TB) map[string][]byte {
	t.Helper()
	both := func(op string, inputs func(g *graph) []string) []byte {
		g := newGraph("x", 1, 1, 4, 4)
		g.Nodes = append(g.Nodes, card.Node{Op: op, Inputs: inputs(g), Outputs: []string{"made"}})
		g.node("Add", "sum", []string{"made"})
		g.flatten("flat")
		g.gemm("both", g.random(64, 1), g.random(4, 1))
		return written(t, 2, g.outputs(card.Value{Name: "both", Shape: []int{1, 4}}), nil)
	}
	constants := func(g *graph) []string { return []string{g.tensor([]float32{1, 2}, 2), g.tensor([]float32{3, 4}, 2)} }
	return map[string][]byte{
		"operator CumSum": both("CumSum", func(*graph) []string { return []string{"x", "x"} }),
		"operator Scale":  both("Scale", constants),
		"operator Shift":  both("Shift", constants),
		"operator Accum":  both("Accum", constants),
		`node "sum" (Add): reads values of shapes 1x1x8x8 and 1x1x1x8x8`: deepConstant(t),
	}
}

// deepConstant returns a model whose decoder adds a constant of five dimensions to a picture.
func deepConstant(t testing.TB) []byte {
	t.Helper()
	h := newGraph("z", 1, 2)
	h.gemm("seed", h.random(2*80, 1), h.random(80, 1))
	h.reshape("unflat", 1, 5, 4, 4)
	h.double("u")
	h.node("Conv", "c", []string{h.tensor(h.random(5, 1), 1, 5, 1, 1), h.tensor(h.random(1, 1), 1)}, ints("kernel_shape", 1, 1))
	h.leaky("l")
	h.node("Add", "sum", []string{h.tensor(h.random(64, 1), 1, 1, 1, 8, 8)})
	h.node("Sigmoid", "x", nil)
	in := card.Input{Channels: 1, Height: 8, Width: 8}
	encoder := linearEncoder(in, h.random(256, 1), make([]float32, 4))
	data, err := card.Write(cardFor(in, 2), encoder, h.outputs(card.Value{Name: "x", Shape: []int{1, 1, 8, 8}}))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestKillers: models that crash OpenCV are refused before OpenCV reads them, with one line that says what to do. Without the check they end the child, and the
// parent reports how.
func TestKillers(t *testing.T) {
	for want, data := range killers(t) {
		_, err := infer.Parse("killer.onnx", data)
		if !errors.Is(err, infer.ErrGraph) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("found %v, expected one line with %q", err, want)
		}
		for range 10 { // CumSum reads its axis from arbitrary memory; in about one of ten runs of the tests the axis is harmless
			if err = infer.TryUnchecked(data, time.Minute); err != nil {
				break
			}
		}
		if !errors.Is(err, infer.ErrGraph) || !strings.Contains(err.Error(), "OpenCV ended the process that tested it (") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s, tried: found %v, expected its process to end", want, err)
		}
	}
}

// TestTrialsThatGoWrong: whatever the trial process does, this process reports it in one line and continues.
func TestTrialsThatGoWrong(t *testing.T) {
	data := written(t, 2, linearEncoder(grey4x4, random(64, 1), make([]float32, 4)), nil)
	for how, c := range map[string]struct {
		patience time.Duration
		want     string
	}{
		"spin":   {time.Minute, "ended the process that tested it (signal: killed)"}, // after its five seconds of processor time
		"sleep":  {time.Second, "could not open and run it once within 1 s"},
		"memory": {time.Minute, "exit status 2: "}, // the Go runtime reports that memory or address space ran out
		"abort":  {time.Minute, "abort"},           // "exit status 2: SIGABRT: abort", or "signal: aborted" if the process was already ending
		"talk":   {time.Minute, "ended the process that tested it"},
		"end":    {time.Minute, "(exit status 0)"},
	} {
		t.Setenv(misbehave, how)
		err := infer.TryUnchecked(data, c.patience)
		if !errors.Is(err, infer.ErrGraph) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 2000 {
			t.Errorf("%s: found %v, expected one line with %q", how, err, c.want)
		}
	}
}

// forGraphs is the environment variable with the duration of TestRandomGraphs, such as 10m. Without it, the test runs a few graphs.
const forGraphs = "DRIFTSCOPE_GRAPHS"

// TestRandomGraphs: no graph ends this process. A graph that ends its trial process is refused, and counted here.
func TestRandomGraphs(t *testing.T) {
	suite.Calculation(t)
	end, folder := time.Now(), t.TempDir()
	if text := os.Getenv(forGraphs); text != "" {
		long, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		end, folder = end.Add(long), os.TempDir()
	}
	var runs, refused, threw, died, without int
	seed := uint64(0)
	for ; seed < 60 || time.Now().Before(end); seed++ {
		data, err := infer.RandomModel(seed)
		if seed%3 == 0 {
			var alone bool
			if data, alone, err = infer.RandomOurs(seed); alone {
				without++
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		last := filepath.Join(folder, "last.onnx") // for inspection, should this process end
		if err := os.WriteFile(last, data, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := infer.Parse("random.onnx", data)
		switch {
		case err == nil:
			runs++
		case strings.Contains(err.Error(), "\n") || m != nil:
			t.Errorf("seed %d: more than one line: %v", seed, err)
		case strings.Contains(err.Error(), "ended the process") || strings.Contains(err.Error(), "could not open"):
			died++
			t.Logf("seed %d: %v", seed, err)
		case errors.Is(err, infer.ErrGraph) && strings.Contains(err.Error(), "OpenCV: "):
			threw++
			if os.Getenv(forGraphs) != "" {
				t.Logf("seed %d: %v", seed, err)
			}
		default:
			refused++
			if os.Getenv(forGraphs) != "" {
				t.Logf("seed %d: %v", seed, err)
			}
		}
	}
	if t.Logf("%d graphs: %d run, %d refused before the trial, %d refused by OpenCV, %d ended the trial process; %d were read without a trial", seed, runs, refused, threw, died, without); runs == 0 || refused+threw == 0 || without == 0 {
		t.Error("expected some graphs that run, some that are refused and some without a trial")
	}
}
