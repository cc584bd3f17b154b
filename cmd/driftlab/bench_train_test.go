package main

import (
	"encoding/json"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

// benchTrain runs the command briefly and returns its JSON output. It does not check the times, because machines differ.
func benchTrain(t *testing.T) map[string]any {
	t.Helper()
	o := drive(t, t.TempDir(), "bench", "train", "--frames", "8", "--steps", "1", "--threads", "1", "--json")
	var got map[string]any
	if err := json.Unmarshal([]byte(o.out), &got); o.status != 0 || err != nil {
		t.Fatalf("status %d, %v\n%s%s", o.status, err, o.out, o.errors)
	}
	for _, key := range []string{"forward_ms_per_frame", "backward_ms_per_frame", "optimiser_ms_per_frame", "train_ms_per_frame", "peak_mib", "frames", "threads", "cores"} {
		if v, ok := got[key].(float64); !ok || v <= 0 {
			t.Errorf("%s is %v, expected a positive number", key, got[key])
		}
	}
	return got
}

func TestBenchTrainBesideTorch(t *testing.T) {
	suite.Long(t)
	suite.Python(t, `echo warning: this torch is a fake
echo '{"forward_ms_per_frame": 1, "backward_ms_per_frame": 2, "optimiser_ms_per_frame": 1, "train_ms_per_frame": 4, "peak_mib": 512, "version": "'$OMP_NUM_THREADS.$OMP_WAIT_POLICY'"}'`)
	got := benchTrain(t)
	if ratio := got["ratio"]; ratio != got["train_ms_per_frame"].(float64)/4 {
		t.Errorf("ratio is %v for %v ms per frame and 4 ms in PyTorch", ratio, got["train_ms_per_frame"])
	}
	if ratio := got["ratio_peak"]; ratio != got["peak_mib"].(float64)/512 {
		t.Errorf("ratio_peak is %v for %v MiB and 512 MiB in PyTorch", ratio, got["peak_mib"])
	}
	torch, ok := got["torch"].(map[string]any)
	if !ok || torch["train_ms_per_frame"] != 4.0 {
		t.Fatalf("torch is %v", got["torch"])
	}
	if torch["version"] != "1."+got["omp_wait_policy"].(string) {
		t.Errorf("OpenMP got %v, expected one thread and our own policy, %v", torch["version"], got["omp_wait_policy"])
	}
}

func TestBenchTrainWithoutPython(t *testing.T) {
	suite.Python(t, "")
	got := benchTrain(t)
	for _, key := range []string{"torch", "ratio"} {
		if v, there := got[key]; !there || v != nil {
			t.Errorf("%s is %v, expected null", key, v)
		}
	}
	if why, _ := got["torch_missing"].(string); !strings.Contains(why, "apt-get install python3-torch") {
		t.Errorf("torch_missing is %q, expected an instruction for the installation", why)
	}
}

func TestBenchTrainMistakes(t *testing.T) {
	for _, flag := range []string{"--frames=7", "--frames=2", "--frames=100000", "--threads=-1", "--steps=0"} {
		name, _, _ := strings.Cut(flag, "=")
		drive(t, t.TempDir(), "bench", "train", flag).check(t, 2, name+": found")
	}
}
