package learning

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"driftscope/internal/suite"
)

// What happens to python3 is told in one line that names it, in time.
func TestTorchFails(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"none", "", "apt-get install python3-torch"},
		{"no torch", `echo 'Traceback:
ModuleNotFoundError: No module named '"'torch'" >&2; exit 1`, "apt-get install python3-torch"},
		{"crash", "echo terminate called >&2; kill -SEGV $$", "segmentation fault"},
		{"exit", "echo out of memory >&2; exit 3", "exit status 3: out of memory"},
		{"garbage", "echo hello", `printed "hello", expected one JSON object`},
		{"silence", "exit 0", `printed "", expected one JSON object`},
		{"flood", "yes | head -c 10000000", `printed "y", expected one JSON object`},
		{"no figures", "echo '{}'", "expected positive figures"},
		{"hang", "sleep 1000", "printed no figures within 200ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			suite.Python(t, test.body)
			limit := time.Minute
			if test.name == "hang" {
				limit = 200 * time.Millisecond
			}
			_, err := (&TrainCommand{Frames: 8, Threads: 1, Steps: 1}).torch(t.Context(), limit)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "python3") || strings.Contains(err.Error(), "\n") {
				t.Errorf("found %v, expected one line with %q", err, test.want)
			}
		})
	}
}

// The script itself, where Debian's PyTorch or another is installed.
func TestTorchStep(t *testing.T) {
	t.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH"))
	cost, err := (&TrainCommand{Frames: 8, Threads: 1, Steps: 1}).torch(t.Context(), 10*time.Minute)
	if err != nil && strings.Contains(err.Error(), "apt-get install") {
		t.Skip(err)
	}
	if err != nil || cost.Version == "" {
		t.Errorf("%+v, %v", cost, err)
	}
}

func TestMedianCost(t *testing.T) {
	got := medianCost([]stepCost{{Forward: 3, Train: 9, Peak: 1}, {Forward: 1, Train: 7, Peak: 5}, {Forward: 2, Train: 8, Peak: 4}})
	if got.Forward != 2 || got.Train != 8 || got.Peak != 5 {
		t.Errorf("%+v, expected medians 2 and 8, and the largest peak", got)
	}
}

func TestTrainFindingsInWords(t *testing.T) {
	f := trainFindings{stepCost: stepCost{Forward: 1, Backward: 2, Optimiser: 1, Train: 2, Peak: 300}, Frames: 100, Threads: 2, Cores: 2, Missing: "python3 is away"}
	var out bytes.Buffer
	f.print(&out)
	if !strings.Contains(out.String(), "Not compared with PyTorch: python3 is away") || strings.Contains(out.String(), "ratio") {
		t.Errorf("alone it says\n%s", &out)
	}
	f.oppose(stepCost{Forward: 2, Backward: 4, Optimiser: 1, Train: 5, Peak: 400, Version: "1.13"})
	out.Reset()
	f.print(&out)
	if !strings.Contains(out.String(), "0.40 of PyTorch's time and 0.75 of its memory") || !strings.Contains(out.String(), "PyTorch 1.13") {
		t.Errorf("beside PyTorch it says\n%s", &out)
	}
}
