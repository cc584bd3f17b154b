package objects

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"driftscope/ingest/sim/field"
	"driftscope/internal/job/evaluation/tracking"
	"driftscope/internal/suite"
)

// small is a film that draws at once.
var small = field.Options{Scenario: field.Directed, Density: 20, SNR: 4, Width: 160, Height: 160, Frames: 20, Seed: 1}

// told is what a script prints that went well; its sixth argument is the file of links.
const told = `; echo '{"version":"9","locate_ms":2}'`

// TestPeerFails: what happens to python3 is told in one line that names it or its tracks, in time.
func TestPeerFails(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"none", "", "pip install trackpy"},
		{"no trackpy", `echo 'Traceback:
ModuleNotFoundError: No module named '"'trackpy'" >&2; exit 1`, "pip install trackpy"},
		{"crash", "echo terminate called >&2; kill -SEGV $$", "segmentation fault"},
		{"exit", "echo out of memory >&2; exit 3", "exit status 3: out of memory"},
		{"garbage", "echo hello", `printed "hello", expected one JSON object`},
		{"no figures", "echo '{}'", "expected positive figures"},
		{"hang", "sleep 1000", "printed no figures within 200ms"},
		{"no file", "true" + told, "no such file"},
		{"no setting", `: >"$6"` + told, "none of its settings: give fewer objects"},
		{"torn", `echo '{"tracks":[[[0,1' >"$6"` + told, "trackpy's tracks: unexpected EOF"},
		{"beyond the film", `echo '{"tracks":[[[20,1,1]]]}' >"$6"` + told, "found frame 20, expected one of 20"},
		{"half a frame", `echo '{"tracks":[[[0.5,1,1]]]}' >"$6"` + told, "found frame 0.5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			suite.Python(t, c.body)
			limit := time.Minute
			if c.name == "hang" {
				limit = 200 * time.Millisecond
			}
			_, err := trackpy(t.Context(), small, limit)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("found %v, expected one line with %q", err, c.want)
			}
			if lacks := strings.Contains(c.want, "pip"); errors.Is(err, errNoTrackpy) != lacks {
				t.Errorf("%v: it says that trackpy is not there: %v", err, !lacks)
			}
		})
	}
}

// TestPeerBest: of three settings that with the best beta counts, judged by the truth that our own tracks are: one has a true track, one has it and a false
// one, and one has nothing.
func TestPeerBest(t *testing.T) {
	f, err := field.New(small)
	if err != nil {
		t.Fatal(err)
	}
	var one [][3]float64
	for _, p := range f.Tracks[0] {
		one = append(one, [3]float64{float64(p.Frame), p.X, p.Y})
	}
	var lines bytes.Buffer
	for _, l := range []linked{
		{setting: setting{Percentile: 20, Reach: 4}, Link: 3, Tracks: [][][3]float64{one, {{0, -90, 0}, {1, -90, 0}}}},
		{setting: setting{Percentile: 40, Reach: 6, Predict: true}, Link: 2, Tracks: [][][3]float64{one}},
		{setting: setting{Percentile: 60, Reach: 8}, Link: 1, Tracks: [][][3]float64{}},
	} {
		if err := json.NewEncoder(&lines).Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	links := t.TempDir() + "/links"
	if err := os.WriteFile(links, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	suite.Python(t, "cp "+links+` "$6"`+told)
	c := &Command{Peer: true, Seeds: 1}
	var found findings
	p, err := c.measurePeer(t.Context(), &found, small)
	if err != nil || p == nil {
		t.Fatalf("%v, %v", p, err)
	}
	places := 0
	for _, track := range f.Tracks {
		places += len(track)
	}
	share := float64(len(one)) / float64(places)
	if math.Abs(p.Beta-share) > 1e-9 || math.Abs(p.JSCT-1/float64(len(f.Tracks))) > 1e-9 || p.RMSE != 0 {
		t.Errorf("%+v, expected a beta of %g and one track of %d", p, share, len(f.Tracks))
	}
	if p.setting != (setting{40, 6, true}) || p.Locate != 2 || p.Link != 2 || p.FPS != 250 || found.Version != "9" {
		t.Errorf("%+v of version %q, expected the second setting's figures", p, found.Version)
	}
}

// TestPeerMissing: without trackpy, and where a film goes wrong, our own figures stand beside null; the first is not tried again.
func TestPeerMissing(t *testing.T) {
	suite.Calculation(t)
	for _, c := range []struct{ body, missing string }{{"", "python3 needs trackpy"}, {"exit 3", ""}} {
		suite.Python(t, c.body)
		bench := &Command{Scenario: []string{"directed"}, Density: []int{20}, SNR: []float64{4}, Size: []int{160}, Frames: 20, Seeds: 2, Seconds: 1, Peer: true, JSON: true}
		out, err := suite.Stdout(t, func() error { return bench.Run(t.Context()) })
		var found findings
		if err := errors.Join(err, json.Unmarshal(out, &found)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(out, []byte(`"peer":null`)) || found.Fields[0].Beta <= 0 || !strings.HasPrefix(found.Missing, c.missing) || (found.Missing == "") != (c.missing == "") {
			t.Errorf("%s", out)
		}
	}
}

// TestPeerInWords: the table has trackpy's figures beside ours, or says why not.
func TestPeerInWords(t *testing.T) {
	films := []peerFilm{
		{score: tracking.Score{Beta: 0.6}, locate: 2, link: 2, setting: setting{Reach: 6, Predict: true}},
		{score: tracking.Score{Beta: 0.9}, locate: 6, link: 4, setting: setting{Reach: 8}},
		{score: tracking.Score{Beta: 0.5}, locate: 1, link: 1, setting: setting{Reach: 4}},
	}
	f := findings{Version: "9", Fields: []row{{Scenario: "directed", Beta: 0.7, Peer: overFilms(films)}}}
	var out bytes.Buffer
	f.printPeer(&out)
	if want := "| directed | 0 | 0 | 0 | 0.700 | 0.600 |"; !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "| 2.00 | 2.00 | 250 | 0.0 | 0 | 6 | yes |") || !strings.Contains(out.String(), "trackpy 9") {
		t.Errorf("it says\n%s", &out)
	}
	f = findings{Fields: []row{{}}, Missing: "python3 is away"}
	out.Reset()
	f.printPeer(&out)
	if got := out.String(); got != "\nNo comparison with trackpy: python3 is away.\n" {
		t.Errorf("alone it says %q", got)
	}
}

// TestPeerLimit: trackpy's time grows with what it has to do; small films have the five minutes that compiling alone may need a part of.
func TestPeerLimit(t *testing.T) {
	for _, c := range []struct {
		density, size, frames int
		want                  time.Duration
	}{{100, 512, 100, 5 * time.Minute}, {500, 512, 100, 5 * time.Minute}, {500, 512, 10, 5 * time.Minute}, {2000, 512, 100, 20 * time.Minute}, {2000, 2048, 100, 80 * time.Minute}, {500, 512, 200, 10 * time.Minute}} {
		o := field.Options{Density: c.density, Width: c.size, Height: c.size, Frames: c.frames}
		if got := peerLimit(o); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestPeerScript: the script itself, where Debian's python3 or another has trackpy: it finds most of a few bright objects, to a third of a pixel (a beta of
// 0.68 and 0.16 px measured).
func TestPeerScript(t *testing.T) {
	t.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH"))
	best, err := trackpy(t.Context(), small, 10*time.Minute)
	if errors.Is(err, errNoTrackpy) {
		t.Skip(err)
	}
	if err != nil || best.version == "" || best.locate <= 0 || best.link <= 0 || best.score.Alpha < best.score.Beta || best.score.Beta < 0.5 || best.rmse > 0.33 {
		t.Errorf("%+v, %v", best, err)
	}
}
