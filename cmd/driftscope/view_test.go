package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/sinks/message"
)

// TestView: the results of run on a field are published again unchanged, with pictures of the film. A table of tracks gives the same positions.
func TestView(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if o := drive(t, folder, "simulate", "vesicle", "--frames", "40", "--density", "20", "--size", "200", "--snr", "5", "--out", "film"); o.status != 0 {
		t.Fatalf("%+v", o)
	}
	for _, name := range []string{"tracks.csv", "all.jsonl"} {
		if o := drive(t, folder, "run", "film", "--objects", "--nats", "off", "--no-status", "--out", name); o.status != 0 {
			t.Fatalf("%+v", o)
		}
	}
	film := filepath.Join(folder, "film")
	said, err := os.ReadFile(filepath.Join(folder, "all.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.DeleteFunc(strings.Split(string(said), "\n"), func(line string) bool { return !strings.Contains(line, `"kind":"objects"`) })
	if got := viewed(t, filepath.Join(folder, "all.jsonl"), film, "film"); len(lines) != 40 || !slices.Equal(got, lines) {
		t.Errorf("%d messages came, expected the %d lines as they are", len(got), len(lines))
	}
	wantRows(t, filepath.Join(folder, "tracks.csv"), viewed(t, filepath.Join(folder, "tracks.csv"), film, "tracks"))

	if err := os.WriteFile(filepath.Join(folder, "text.tif"), []byte("this is no picture\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := drive(t, folder, "view", "all.jsonl", "--film", "film", "--frames", "5", "--exit", "--dashboard", "off"); o.status != 0 || o.out != "" {
		t.Errorf("%+v", o)
	}
	drive(t, folder, "view", "all.jsonl", "--film", "text.tif", "--exit").check(t, 1, "text.tif")
	drive(t, folder, "view", "film/frames.csv", "--exit").check(t, 2, "expected frame, particle, x and y")
	drive(t, folder, "view", "gone.jsonl").check(t, 2, "gone.jsonl")
	drive(t, folder, "view", "film").check(t, 2, "film")
}

// viewed returns the objects messages of one complete pass of a looping replay, and checks that pictures of the film arrive too.
func viewed(t *testing.T, results, film, stream string) (objects []string) {
	t.Helper()
	run, _, told := introduced(t, "view", results, "--film", film, "--loop", "--dashboard", "127.0.0.1:0")
	_, url, _ := strings.Cut(told[len(told)-1], "published on ")
	url, _, _ = strings.Cut(url, " ")
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	heard, err := nc.SubscribeSync("driftscope.local." + stream + ".*")
	if err != nil {
		t.Fatal(err)
	}
	pictures, begun := 0, false
	for {
		m, err := heard.NextMsg(time.Minute) // a busy machine
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasSuffix(m.Subject, ".objects"):
			var of struct{ Seq uint64 }
			if err := json.Unmarshal(m.Data, &of); err != nil {
				t.Fatal(err)
			}
			if of.Seq == 0 && begun {
				if pictures < 2 {
					t.Errorf("%d pictures", pictures)
				}
				interrupt(t, run)
				return objects
			}
			if begun = begun || of.Seq == 0; begun {
				objects = append(objects, string(m.Data))
			}
		case strings.HasSuffix(m.Subject, ".view"):
			pictures++
			var v message.ViewRecord
			if err := json.Unmarshal(m.Data, &v); err != nil {
				t.Fatal(err)
			}
			if c, err := jpeg.DecodeConfig(bytes.NewReader(v.Preview)); err != nil || c.Width != 200 || c.Height != 200 {
				t.Errorf("%v: a picture of %dx%d", err, c.Width, c.Height)
			}
		}
	}
}

// wantRows checks that messages contain the rows of a table, one message per frame in the order of frames, and each position once.
func wantRows(t *testing.T, path string, objects []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	type who struct{ frame, id uint64 }
	places := map[who][2]float64{}
	for _, row := range rows[1:] { // frame, particle, x, y
		var v [4]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(row[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		places[who{uint64(v[0]), uint64(v[1])}] = [2]float64{v[2], v[3]}
	}
	if len(places) < 100 {
		t.Errorf("%d rows", len(places))
	}
	for k, line := range objects {
		var o message.ObjectsRecord
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		if o.Seq != uint64(k) {
			t.Fatalf("frame %d in place of %d", o.Seq, k)
		}
		for i, id := range o.ID {
			at, there := places[who{o.Seq, id}]
			if delete(places, who{o.Seq, id}); !there || math.Hypot(at[0]-o.X[i], at[1]-o.Y[i]) > 1e-4 { // a message has four decimals
				t.Errorf("frame %d: %d at %g, %g, expected %v", o.Seq, id, o.X[i], o.Y[i], at)
			}
		}
	}
	if len(places) > 0 {
		t.Errorf("%d places were not shown", len(places))
	}
}
