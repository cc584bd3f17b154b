package batch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
)

// TestWorkersKilled: several workers track films. One worker and the client are killed, and the same command continues. Every result exists once, with
// the same bytes as from one machine.
func TestWorkersKilled(t *testing.T) {
	suite.Long(t)
	model, err := os.ReadFile("../../../configs/molecule.onnx")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "own.onnx")
	if err := os.WriteFile(file, model, 0o600); err != nil {
		t.Fatal(err)
	}
	killed(t, scenes(t, 8, 10), 8, 3, "--model", file)
}

// TestManyFilms is TestWorkersKilled with more films: DRIFTSCOPE_FILMS=200 is a day at a microscope.
func TestManyFilms(t *testing.T) {
	suite.Long(t)
	films := 60
	if text := os.Getenv("DRIFTSCOPE_FILMS"); text != "" {
		var err error
		if films, err = strconv.Atoi(text); err != nil || films < 10 {
			t.Fatalf("DRIFTSCOPE_FILMS: found %q, expected 10 or more", text)
		}
	}
	killed(t, fields(t, films, 20), films, 4, "--objects")
}

func killed(t *testing.T, from string, films, workers int, settings ...string) {
	s := bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir()))
	if err := os.WriteFile(filepath.Join(from, "bad.tif"), []byte("II*\x00no film"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, temp, began := t.TempDir(), t.TempDir(), time.Now()
	var working []*running
	for range workers {
		working = append(working, start(t, "--work", "--url", s.URL(), "--site", "lab", "--slots", "1", "--temp", temp, "--ack-wait", "3s"))
	}
	args := append([]string{from, "--url", s.URL(), "--site", "lab", "--out", out}, settings...)
	client := start(t, args...)
	tracked := func() (n int) {
		for _, w := range working {
			n += w.said.Count("is tracked")
		}
		return n
	}
	until(t, "a third of the films are tracked", func() bool { return tracked() >= films/3 })
	client.Process.Kill()
	client.Wait()
	until(t, "the first worker has a film", func() bool {
		busy, _ := filepath.Glob(filepath.Join(temp, workName+"*", "film-*", orderName))
		return len(busy) == workers
	})
	working[0].Process.Kill()
	working[0].Wait()
	client = start(t, args...)
	err := client.Wait()
	t.Logf("%d films on %d workers, one killed: %v", films, workers, time.Since(began).Round(time.Second))
	if status := client.ProcessState.ExitCode(); status != 1 || client.said.Count("film bad failed: source: bad.tif: ") != 1 {
		t.Errorf("status %d (%v), expected 1 for the film that is none:\n%s", status, err, client.said.String())
	}
	for _, w := range working[1:] {
		w.Process.Signal(os.Interrupt)
		if err := w.Wait(); err != nil {
			t.Errorf("a worker that was told to end: %v", err)
		}
	}
	once(t, s.URL(), films, working)
	left, _ := filepath.Glob(filepath.Join(temp, workName+"*"))
	if len(left) > 1 { // the folder of the killed worker waits for the next worker
		t.Errorf("the workers left %v", left)
	}

	alone := t.TempDir()
	began = time.Now()
	one := start(t, append([]string{from, "--out", alone, "--slots", "1"}, settings...)...)
	one.Wait()
	t.Logf("%d films here, one after the other: %v", films, time.Since(began).Round(time.Second))
	same(t, alone, out, films)
}

// once checks that each film has one record and one result, that the queue is empty, and that only films of the killed worker were tracked twice.
func once(t *testing.T, url string, films int, working []*running) {
	t.Helper()
	conn, err := bus.Connect(t.Context(), bus.Options{URL: url, Site: "lab"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	o, err := open(t.Context(), conn, 1)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := o.records.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended, batch := 0, ""
	for _, k := range keys {
		if strings.HasSuffix(k, ".ended") {
			ended++
			batch, _, _ = strings.Cut(k, ".")
		}
	}
	info, err := o.queue.Info(t.Context())
	if err != nil || info.State.Msgs != 0 || ended != films+1 {
		t.Errorf("%d records of %d films, %d jobs left (%v)", ended, films+1, info.State.Msgs, err)
	}
	if n := results(t, o, batch); n != films {
		t.Errorf("%d results in the store, expected %d", n, films)
	}
	said := ""
	for _, w := range working {
		said += w.said.String()
	}
	times := map[string]int{}
	for _, m := range regexp.MustCompile(`film (film\d+) is tracked`).FindAllStringSubmatch(said, -1) {
		if times[m[1]]++; times[m[1]] > 1 {
			t.Errorf("%s was tracked twice", m[1])
		}
	}
}

// results counts the results in a batch's store, and checks that the films are gone.
func results(t *testing.T, o *site, batch string) (n int) {
	t.Helper()
	store, err := o.objects(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	there, err := store.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range there {
		if strings.HasPrefix(i.Name, "result/") {
			n++
		} else {
			t.Errorf("%s is still there", i.Name)
		}
	}
	return n
}
