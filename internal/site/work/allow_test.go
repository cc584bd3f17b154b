package work

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/internal/job/jobtest"
	"driftscope/internal/site"
	"driftscope/internal/suite"
)

// TestRefusedStream: a submitted stream reaches only resources that the worker allows. The worker refuses it with the key, in its record and so in stream list,
// while another stream runs. Earlier builds ran the pipeline, and its filesink wrote the file.
func TestRefusedStream(t *testing.T) {
	p := newPlace(t)
	film := jobtest.NewKeptFilm(t, p.at, "camera.good", 1)
	film.Next(20)
	evil := filepath.Join(t.TempDir(), "evil")
	for name, text := range map[string]string{
		"spy":   "objects: {enabled: true}\nsource: {gst: {pipeline: \"videotestsrc num-buffers=50 ! video/x-raw,format=GRAY8 ! tee name=t ! queue ! filesink location=" + evil + " t. ! queue ! videoconvert ! appsink\"}}\n",
		"write": "source: {sim: {name: molecule}}\nsinks: [{jsonl: {path: " + evil + ".jsonl}}]\n",
	} {
		if _, err := p.of.Add(t.Context(), site.Stream{Name: name, Config: "stream: " + name + "\n" + text, Cores: 1}); err != nil {
			t.Fatal(err)
		}
	}
	p.add("good", "")
	p.work("hall-1")
	jobtest.Results(t, film.Conn, "good", 20)
	problems := map[string]string{}
	suite.UntilWithin(t, patience, func() bool {
		unwritten(t, evil, evil+".jsonl")
		for _, w := range p.of.Workers() {
			for _, r := range w.Streams {
				problems[r.Stream] = r.Problem
			}
		}
		return strings.HasPrefix(problems["spy"], "source.gst.pipeline: found ") && strings.HasPrefix(problems["write"], "sinks[0].jsonl.path: found ")
	}, "the worker's record says", problems)
	film.Next(20)
	jobtest.Once(t, "good", jobtest.Results(t, film.Conn, "good", 40), 40)
	unwritten(t, evil, evil+".jsonl")
}

// unwritten fails if one of the files exists.
func unwritten(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			t.Fatalf("%s was written", path)
		}
	}
}
