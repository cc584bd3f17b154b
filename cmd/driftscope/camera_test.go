package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
)

// TestCameraComesBack: a camera is unplugged for 5 s during a run. The run reports once that it is lost and once that it is back, frame numbers
// continue, and the times span the gap.
func TestCameraComesBack(t *testing.T) {
	const away = 5 * time.Second
	camera := suite.StartCamera(t)
	folder := t.TempDir()
	text := fmt.Sprintf("stream: scope\nsource: {genicam: {camera: %s, fps: 125, region: [0, 0, 64, 64], exposure: 5ms}}\nstall_after: 1s\nnats: {url: \"off\"}\nsinks: [jsonl: {path: out.jsonl}]\n", suite.CameraName)
	if err := os.WriteFile(filepath.Join(folder, "scope.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c := command(t, folder, "run", "scope.yaml")
	var problems bytes.Buffer
	c.Stderr = &problems
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(folder, "out.jsonl")
	waitForText(t, out, `"kind":"latent"`)
	camera.Unplug()
	time.Sleep(away)
	camera.Plug()
	plugged := time.Now()
	waitForText(t, out, `"code":"source_back"`)
	time.Sleep(time.Second) // more frames
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, problems.String())
	}

	lost, back, longest := 0, 0, time.Duration(0)
	var last *message.LatentRecord
	for _, r := range records(t, out) {
		switch r := r.(type) {
		case *message.EventRecord:
			switch r.Code {
			case "source_lost":
				lost++
			case "source_back":
				back++
				// 3 s on an idle machine; with other tests running it takes longer to start a process and to find cameras.
				t.Logf("frames again %v after the camera was back", r.Time.Sub(plugged))
				if took := r.Time.Sub(plugged); took < 0 || took > 15*time.Second {
					t.Errorf("frames again %v after the camera was back", took)
				}
			}
		case *message.LatentRecord:
			if last != nil {
				if r.Seq != last.Seq+1+r.Dropped {
					t.Errorf("frame %d after frame %d, %d are said to be lost between", r.Seq, last.Seq, r.Dropped)
				}
				longest = max(longest, r.Time.Sub(last.Time))
			}
			last = r
		}
	}
	if lost != 1 || back != 1 {
		t.Errorf("told %d times to be lost and %d times to be back", lost, back)
	}
	if longest < away {
		t.Errorf("the longest step is %v, the camera was away for %v", longest, away)
	}
}

// records reads a file of results.
func records(t *testing.T, path string) (all []message.Record) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, message.MaxRecord)
	for lines.Scan() {
		for _, kind := range []latent.Kind{latent.KindLatent, latent.KindEvent} {
			if bytes.Contains(lines.Bytes(), []byte(`"kind":"`+string(kind)+`"`)) {
				r, err := message.Decode(kind, lines.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, r)
			}
		}
	}
	return all
}

// waitForText returns once the file at path contains text.
func waitForText(t *testing.T, path, text string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(text)) {
			return
		}
	}
	t.Fatalf("%s holds no %s", path, text)
}
