package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/ingest/tiff"
	"driftscope/ingest/wire"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/frame"
	"driftscope/internal/suite"
)

// budgetFrames is the number of frames in the films of TestBudget.
const budgetFrames = 2

// readsNoPictures gives the reasons why commands are not in TestBudget.
var readsNoPictures = map[string]string{
	"watch": "messages", "dashboard": "messages", "model": "models", "law": "tables", "pool": "messages", "stream": "configurations", "site": "streams and buckets of a server", "server": "messages",
	"work": "runs streams as run does", "sample": "what a model draws",
	"lint": "configurations", "sources": "nothing", "doctor": "films of its own", "demo": "a film of its own", "version": "nothing", "completion": "nothing", "man": "nothing",
	"trymodel": "models",
}

// budgeted has the arguments of commands that read a film, in a folder with model.onnx, tracks.csv and the film.
var budgeted = map[string][][]string{
	"run": {
		{"run", "FILM", "--objects", "--dt", "1", "--nats", "off", "--dashboard", "off", "--no-status"},
		{"run", "FILM", "--model", "embedded:molecule", "--dt", "1", "--nats", "off", "--dashboard", "off", "--no-status"},
	},
	"capture":  {{"run", "FILM", "--follow", "--until-idle", "1s", "--objects", "--dt", "1", "--nats", "off", "--dashboard", "off", "--no-status"}},
	"view":     {{"view", "tracks.csv", "--film", "FILM", "--exit", "--dashboard", "off"}},
	"publish":  {{"publish", "FILM", "--subject", "camera.a", "--url", "URL", "--rate", "fastest"}},
	"pretrain": {{"pretrain", "FILM", "--latent", "2", "--dt", "1", "--out", "m.onnx"}, {"pretrain", "FILM", "--objects", "--latent", "2", "--dt", "1", "--out", "m.onnx"}},
	"eval":     {{"eval", "--model", "embedded:molecule", "--video", "FILM", "--truth", "centroid", "--dt", "1"}},
	"batch":    {{"batch", "FILM", "--out", "results", "--model", "embedded:molecule", "--dt", "1"}},
	"simulate": {{"simulate", "digits", "--assets", "FILM", "--out", "film.out", "--frames", "2"}},
	"probe":    {{"probe", "FILM"}},
}

// budgetFilms are the films. Each has budgetFrames pictures, named like COIL-20's objects, so that simulate also accepts them as assets.
var budgetFilms = map[string]func() []byte{
	"blank":       func() []byte { return blackPNG(8190, 8190, 8, 0, 1) },
	"blank field": func() []byte { return blackPNG(4096, 4096, 8, 0, 1) },
	"full field": func() []byte { // of spots, and nothing between them
		return patterned(4096, 4096, func(x, y int) byte {
			u, v := float64(x%8-4), float64(y%8-4)
			return byte(60 + 150*math.Exp(-(u*u+v*v)/4.5) + float64((x*x+7*y*y)%5))
		})
	},
	"slope": func() []byte { return patterned(8192, 8192, func(x, y int) byte { return byte(x>>5 + y&3) }) },
}

// patterned is a page of a TIFF, not compressed.
func patterned(width, height int, at func(x, y int) byte) []byte {
	page := tiff.Image{Width: width, Height: height, Channels: 1, Depth: tiff.Uint8, Pix: make([]byte, width*height)}
	for i := range page.Pix {
		page.Pix[i] = at(i%width, i/width)
	}
	var data bytes.Buffer
	if err := tiff.Encode(&data, &page); err != nil {
		panic(err)
	}
	return data.Bytes()
}

// TestBudget: every command that reads pictures accepts the largest allowed picture, or refuses it in one line, within the budget of memory and processor
// time for the frames.
func TestBudget(t *testing.T) {
	suite.Long(t)
	fields := reflect.TypeFor[commands]()
	for i := range fields.NumField() {
		name := strings.ToLower(fields.Field(i).Name)
		if _, no := readsNoPictures[name]; (budgeted[name] == nil) != no {
			t.Errorf("command %s: give it a case here, or say in readsNoPictures why it needs none", name)
		}
	}
	server := bustest.Start(t, "max_payload: 8MB")
	for film, picture := range budgetFilms {
		t.Run(film, func(t *testing.T) {
			data, name := picture(), "obj%d__0.tif"
			if bytes.HasPrefix(data, []byte("\x89PNG")) {
				name = "obj%d__0.png"
			}
			for command, lines := range budgeted {
				for i, line := range lines {
					folder := t.TempDir()
					pictures := filepath.Join(folder, "film")
					err := os.Mkdir(pictures, 0o700)
					for k := range budgetFrames {
						err = errors.Join(err, os.WriteFile(filepath.Join(pictures, fmt.Sprintf(name, k+1)), data, 0o600))
					}
					if err != nil {
						t.Fatal(err)
					}
					written(t, folder, map[string]string{"tracks.csv": "frame,particle,x,y\n0,1,100,100\n1,1,101,100\n"})
					args := slices.Clone(line)
					for j, arg := range args {
						args[j] = strings.NewReplacer("FILM", "film", "URL", server.URL()).Replace(arg)
					}
					o, peak := driveMeasured(t, folder, args...)
					if strings.Contains(o.errors, "goroutine ") || o.status < 0 || o.status > 2 {
						t.Errorf("%s %d: status %d\n%s", command, i, o.status, o.errors)
					}
					if peak > frame.MostMemory {
						t.Errorf("%s %d: %d MiB were resident, at most %d expected\n%s", command, i, peak>>20, frame.MostMemory>>20, o.errors)
					}
					if most := budgetFrames * frame.MostTime; o.worked > most {
						t.Errorf("%s %d: %v of a processor, at most %v expected for %d frames\n%s", command, i, o.worked, most, budgetFrames, o.errors)
					}
				}
			}
		})
	}
}

// TestBudgetBeside: a camera over NATS that sends the largest pictures as small messages costs the other stream of the process no frame. The camera's frames
// are refused and counted. The other stream's camera does not wait: a stream that lost its rate would lose frames.
func TestBudgetBeside(t *testing.T) {
	server := bustest.Start(t, "max_payload: 8MB")
	folder := t.TempDir()
	written(t, folder, map[string]string{
		"a.yaml": fmt.Sprintf("stream: a\nsource: {nats: {url: %q, subject: camera.a}}\nobjects: {enabled: true}\nnats: {url: \"off\"}\ndashboard: {address: \"off\"}\nsinks: [{jsonl: {path: a.jsonl}}]\n", server.URL()),
		"b.yaml": "stream: b\nsource: {sim: {name: molecule}}\nqueue: 112\nnats: {url: \"off\"}\ndashboard: {address: \"off\"}\nsinks: [{jsonl: {path: b.jsonl}}]\n",
	})
	peak := filepath.Join(folder, "peak")
	t.Setenv(peakFile, peak)
	r := begin(t, folder, "run", "a.yaml", "b.yaml", "--no-status")
	waitForFile(t, filepath.Join(folder, "b.jsonl"))
	nc := dial(t, server.URL())
	h := wire.Header{Session: "a", Width: 8190, Height: 8190, Channels: 1, Depth: tiff.Uint8, Encoding: wire.PNG}
	picture := blackPNG(8190, 8190, 8, 0, 1)
	refused := func() int {
		data, err := os.ReadFile(filepath.Join(folder, "a.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(data, []byte("unfit_frame"))
	}
	for end := time.Now().Add(patience / 10); refused() < 5; h.Seq++ { // events of losses come once a second
		if time.Now().After(end) {
			t.Fatalf("%d events of refused frames, expected 5\n%s", refused(), r.log.String())
		}
		h.Time = time.Now()
		err := wire.Split(h, picture, int(nc.MaxPayload()), func(headers map[string][]string, data []byte) error {
			return nc.PublishMsg(&nats.Msg{Subject: "camera.a", Header: headers, Data: data})
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	account := r.end()
	var in, tracked int
	_, of, _ := strings.Cut(account, "b: ")
	if _, err := fmt.Sscanf(of, "frames in %d, tracked %d, dropped 0,", &in, &tracked); err != nil || in != tracked || in == 0 {
		t.Errorf("the other stream lost frames (%v):\n%s", err, account)
	}
	if text, err := os.ReadFile(peak); err != nil {
		t.Error(err)
	} else if n, _ := strconv.Atoi(string(text)); n == 0 || n > frame.MostMemory {
		t.Errorf("%d MiB were resident, at most %d expected", n>>20, frame.MostMemory>>20)
	}
}
