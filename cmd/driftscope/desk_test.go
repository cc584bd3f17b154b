package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/frame"
	"driftscope/internal/suite"
)

// deskBuild builds the program without cgo, and returns a function that prepares its commands.
func deskBuild(t *testing.T) func(folder string, args ...string) *exec.Cmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "desk")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the build without cgo: %v\n%s", err, out)
	}
	return func(folder string, args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), path, args...)
		c.Dir = folder
		return c
	}
}

// ran runs a command and returns its outcome.
func ran(t *testing.T, c *exec.Cmd) outcome {
	t.Helper()
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{status: c.ProcessState.ExitCode(), out: out.String(), errors: problems.String()}
}

// Number of frames in the film of TestDesk, and the time that its writer takes per frame.
const (
	deskFrames = 60
	deskEvery  = 10 * time.Millisecond
)

// TestDesk: a growing recording, published by a build without cgo, gives the same latents, bit for bit, as run on the finished recording. It tests a TIFF
// and a folder of PNG, uncompressed and compressed.
func TestDesk(t *testing.T) {
	suite.Long(t)
	desk, folder := deskBuild(t), t.TempDir()
	if o := drive(t, folder, "simulate", "molecule", "--frames", fmt.Sprint(deskFrames), "--out", "film"); o.status != 0 {
		t.Fatal(o.errors)
	}
	film := filmOf(t, filepath.Join(folder, "film"))
	server := bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir()))
	for i, c := range []struct {
		name, compress string
		write          func(t *testing.T, film []*frame.Frame, path string)
	}{
		{"stack.tif", "none", growTIFF}, {"stack2.tif", "zstd", growTIFF}, {"pictures", "png", growFolder},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, subject := filepath.Join(folder, c.name), fmt.Sprintf("desk.s%d", i)
			if strings.HasSuffix(c.name, ".tif") {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			} else if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			written := make(chan struct{})
			go func() {
				defer close(written)
				c.write(t, film, path)
			}()
			published := ran(t, desk(folder, "publish", c.name, "--follow", "--until-idle", "3s", "--fps", "50", "--subject", subject, "--nats", server.URL(),
				"--durable", "--max-bytes", "67108864", "--compress", c.compress))
			<-written
			if published.status != 0 || !strings.Contains(published.out, fmt.Sprintf("kept %d frames", deskFrames)) {
				t.Fatalf("%d: %s%s", published.status, published.out, published.errors)
			}
			yaml := fmt.Sprintf("stream: bead\nmodel: embedded:molecule\nsource: {nats: {subject: %s, url: %q}}\nframes: {durable: true}\nnats: {url: 'off'}\nsinks: [jsonl: {path: %s.sent.jsonl}]\n", subject, server.URL(), c.name)
			if err := os.WriteFile(filepath.Join(folder, c.name+".yaml"), []byte(yaml), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"run", c.name + ".yaml", "--frames", fmt.Sprint(deskFrames)},
				{"run", c.name, "--model", "embedded:molecule", "--fps", "50", "--stream", "bead", "--nats", "off", "--no-status", "--out", c.name + ".file.jsonl"},
			} {
				if o := drive(t, folder, args...); o.status != 0 {
					t.Fatalf("%v: %d: %s", args, o.status, o.errors)
				}
			}
			sent, file := latentsOf(t, folder, c.name+".sent.jsonl"), latentsOf(t, folder, c.name+".file.jsonl")
			if len(file) != deskFrames || !slices.Equal(sent, file) {
				t.Errorf("found %d latents of what was published, %d of the file, expected %d and the same", len(sent), len(file), deskFrames)
			}
		})
	}
}

// growTIFF writes the film's pictures as pages, one after the other.
func growTIFF(t *testing.T, film []*frame.Frame, path string) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer file.Close()
	pages, err := tiff.NewWriter(file)
	if err != nil {
		t.Error(err)
		return
	}
	var page tiff.Image
	for _, f := range film {
		err := picture.ToPage(&page, f.Mat())
		if err == nil {
			err = pages.Append(&page)
		}
		if err != nil {
			t.Error(err)
			return
		}
		time.Sleep(deskEvery)
	}
}

// growFolder writes the film's pictures as PNG files, each in two pieces.
func growFolder(t *testing.T, film []*frame.Frame, path string) {
	for i, f := range film {
		data, err := picture.EncodePNG(nil, f.Mat())
		if err != nil {
			t.Error(err)
			return
		}
		file, err := os.Create(filepath.Join(path, fmt.Sprintf("frame_%d.png", i)))
		if err != nil {
			t.Error(err)
			return
		}
		file.Write(data[:len(data)/2])
		time.Sleep(deskEvery)
		if _, err := file.Write(data[len(data)/2:]); err != nil {
			t.Error(err)
		}
		file.Close()
	}
}

// filmOf returns the frames of a folder, valid until the test ends.
func filmOf(t *testing.T, folder string) (film []*frame.Frame) {
	t.Helper()
	source := open(t, "directory", map[string]any{"path": folder})
	for {
		f, err := source.Read(t.Context())
		if errors.Is(err, io.EOF) {
			return film
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		film = append(film, f)
	}
}

// latentsOf returns a result's latents, with all data except the latencies.
func latentsOf(t *testing.T, folder, name string) (lines []string) {
	t.Helper()
	file, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(scanner.Bytes(), &fields); err != nil {
			t.Fatal(err)
		}
		if string(fields["kind"]) != `"latent"` {
			continue
		}
		delete(fields, "latency_ms")
		line, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestDeskRefusals: a build without cgo reports each missing feature in one line, with the status of a usage error, and its other features work.
func TestDeskRefusals(t *testing.T) {
	suite.Long(t)
	desk, folder := deskBuild(t), t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "film.tif", "--objects"}, "run: needs OpenCV, and this build is without it"},
		{[]string{"pretrain", "--help"}, "pretrain: needs OpenCV"},
		{[]string{"publish", "camera:0", "--subject", "a"}, "and this build lacks them"},
		{[]string{"publish", "sim:molecule", "--subject", "a", "--follow"}, "--follow: sim:molecule is read as sim"},
	} {
		ran(t, desk(folder, c.args...)).check(t, 2, c.want)
	}
	if o := ran(t, desk(folder, "version")); o.status != 0 || !strings.Contains(o.out, "without OpenCV") {
		t.Errorf("%+v", o)
	}
	if o := ran(t, desk(folder, "sources")); o.status != 0 || !strings.Contains(o.out, "camera       not in this build") || !strings.Contains(o.out, "built without OpenCV") {
		t.Errorf("%+v", o)
	}
	if o := ran(t, desk(folder, "simulate", "molecule", "--frames", "30", "--out", "film")); o.status != 0 {
		t.Fatal(o.errors)
	}
	ran(t, desk(folder, "batch", "film")).check(t, 2, "tracks no film: give --nats")
	here, there := drive(t, folder, "probe", "film", "--json"), ran(t, desk(folder, "probe", "film", "--json", "--out", "found"))
	if here.status != 0 || there.status != 0 || here.out != there.out {
		t.Errorf("probe says %d: %s%s; the build without cgo %d: %s%s", here.status, here.out, here.errors, there.status, there.out, there.errors)
	}
	if _, err := os.Stat(filepath.Join(folder, "found", "preview.png")); err != nil {
		t.Error(err)
	}
}
