package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/suite"
)

// queued is a site with jobs in its queue, and the command of their batch.
type queued struct {
	*site
	c    *Command
	jobs []*job
}

// queue puts a job for each film in the queue of a server in this process.
func queue(t *testing.T, conn *bus.Conn, folder string) *queued {
	t.Helper()
	films, _, err := find([]string{folder}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	q := &queued{c: &Command{Name: "b", Format: "jsonl"}}
	if q.site, err = open(t.Context(), conn, 1); err != nil {
		t.Fatal(err)
	}
	for i := range films {
		s, err := films[i].identity(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		j, err := q.c.job(config.Default(), &films[i], chosen{name: "embedded:molecule"}, s)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second is refused
			if err := q.enqueue(t.Context(), j, 0); err != nil {
				t.Fatal(err)
			}
		}
		q.jobs = append(q.jobs, j)
	}
	return q
}

// work runs a worker until all jobs have ended, and returns its log.
func (q *queued) work(t *testing.T, w *Worker) string {
	t.Helper()
	var said suite.Transcript
	ctx, stop := context.WithCancel(t.Context())
	w.Conn, w.Temp, w.AckWait, w.Log = q.conn, t.TempDir(), 3*time.Second, slog.New(slog.NewTextHandler(&said, nil))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	until(t, "every job has ended", func() bool {
		info, err := q.queue.Info(t.Context())
		return err == nil && info.State.Msgs == 0
	})
	return said.String()
}

// put writes a file into a folder.
func put(t *testing.T, folder, name, content string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFailures: an invalid film, and a film that kills its process, are tried three times and reported with reasons. Other films are not affected.
func TestFailures(t *testing.T) {
	folder := scenes(t, 1, 5)
	put(t, folder, "torn.tif", "II*\x00no film")
	if err := os.Mkdir(filepath.Join(folder, dies), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"frame_0000000.png", "frame_0000001.png"} {
		put(t, filepath.Join(folder, dies), name, string(suite.Content(t, filepath.Join(folder, "film0"), name)))
	}
	q := queue(t, server(t), folder)
	if info, err := q.queue.Info(t.Context()); err != nil || info.State.Msgs != 3 {
		t.Fatalf("%d jobs, %v, expected 3", info.State.Msgs, err)
	}
	said := q.work(t, &Worker{Name: "one", Slots: 2})
	reasons := map[string]string{"film0": "", "torn": "source: torn.tif: page 1", dies: "the process that tracked it ended: signal: killed"}
	for _, j := range q.jobs {
		r, _, err := q.ended(t.Context(), j)
		if err != nil || r == nil {
			t.Fatalf("%s: %v, %v", j.Film, r, err)
		}
		want := reasons[j.Film]
		if failed := strings.Count(strings.Join(r.Failed, "\n"), want); want != "" && (failed != attempts || r.Attempts != attempts) || want == "" && (len(r.Failed) > 0 || r.Account.Tracked != 5) {
			t.Errorf("%s: %+v, expected %q", j.Film, r, want)
		}
	}
	if strings.Contains(said, os.TempDir()+"/"+workName) {
		t.Errorf("the reasons name a folder of the worker's:\n%s", said)
	}
}

// TestDyingWorkers: if three workers died with a film, the next worker reports it and does not track it.
func TestDyingWorkers(t *testing.T) {
	q := queue(t, server(t), scenes(t, 1, 2))
	w := &Worker{site: q.site, Name: "dead"}
	for range attempts {
		if _, err := w.tries(t.Context(), q.jobs[0], func(t []try) []try { return append(t, try{Worker: w.Name}) }); err != nil {
			t.Fatal(err)
		}
	}
	q.work(t, &Worker{Name: "next"})
	r, _, err := q.ended(t.Context(), q.jobs[0])
	if err != nil || len(r.Failed) != attempts || !strings.HasPrefix(r.Failed[0], "worker dead died") {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestStopped: a stopped worker returns its film at once, which does not count as an attempt.
func TestStopped(t *testing.T) {
	suite.Long(t)
	q := queue(t, server(t), scenes(t, 1, 100))
	ctx, stop := context.WithCancel(t.Context())
	w := &Worker{Conn: q.conn, Name: "one", Temp: t.TempDir(), AckWait: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	until(t, "the film is tracked", func() bool {
		lines, _ := filepath.Glob(filepath.Join(w.Temp, workName+"*", "film-*", linesName))
		return len(lines) > 0
	})
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(w.Temp); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
	began := time.Now()
	q.work(t, &Worker{Name: "two"})
	r, _, err := q.ended(t.Context(), q.jobs[0])
	if err != nil || len(r.Failed) > 0 || r.Worker != "two" || r.Attempts != 1 || time.Since(began) > time.Minute {
		t.Errorf("%+v, %v, after %v", r, err, time.Since(began))
	}
}

// TestFirstWins: of two records of one job the first is kept, and the second worker's result is removed.
func TestFirstWins(t *testing.T) {
	q := queue(t, server(t), scenes(t, 1, 2))
	j := q.jobs[0]
	w := &Worker{site: q.site, Name: "late", Log: slog.New(slog.DiscardHandler)}
	if first, err := q.end(t.Context(), j, &record{V: jobVersion, Worker: "early", Object: "result/early"}); !first || err != nil {
		t.Fatal(first, err)
	}
	store, err := q.objects(t.Context(), j.Batch)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.PutBytes(t.Context(), "result/late", []byte("same")); err != nil {
		t.Fatal(err)
	}
	if what, err := w.keep(t.Context(), j, &record{V: jobVersion, Worker: "late", Object: "result/late"}); what != done || err != nil {
		t.Fatal(what, err)
	}
	r, _, err := q.ended(t.Context(), j)
	if _, gone := store.GetInfo(t.Context(), "result/late"); err != nil || r.Worker != "early" || gone == nil {
		t.Errorf("%+v, %v; the late result: %v", r, err, gone)
	}
}

// TestHostileJobs: anyone may have queued a job, but no job makes a worker leave its folder, open a camera or read a model file.
func TestHostileJobs(t *testing.T) {
	good := func() *job {
		cfg, err := (&Command{}).of(config.Default(), &film{path: "/data/a.tif", kind: "tiff"})
		if err != nil {
			t.Fatal(err)
		}
		text, err := cfg.YAML()
		if err != nil {
			t.Fatal(err)
		}
		return &job{V: jobVersion, Batch: "b", File: "a.tif", Config: string(text), Ending: ".jsonl"}
	}
	for name, change := range map[string]func(*job){
		"a good one":    func(*job) {},
		"version":       func(j *job) { j.V = 9 },
		"folders":       func(j *job) { j.File = "../../etc/passwd" },
		"parent":        func(j *job) { j.File = ".." },
		"relative":      func(j *job) { j.Path = "a.tif" },
		"negative":      func(j *job) { j.Bytes = -1 },
		"ending":        func(j *job) { j.Ending = "/../x" },
		"batch":         func(j *job) { j.Batch = "a.b" },
		"camera":        func(j *job) { j.Config = strings.Replace(j.Config, "tiff:", "gst:", 1) },
		"configuration": func(j *job) { j.Config = "sources: 3" },
		"another's times": func(j *job) {
			j.Config = strings.Replace(j.Config, "tiff: {}", "directory: {frames_csv: /etc/passwd}", 1)
		},
		"not its identity": nil,
	} {
		j := good()
		if change != nil {
			change(j)
		}
		j.identify()
		if change == nil {
			j.ID = strings.Repeat("0", 32)
		}
		data, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		read, err := parseJob(data)
		if err == nil {
			_, err = read.configuration()
		}
		if (err == nil) != (name == "a good one") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&models{}).file(t.Context(), &job{Model: "/etc/passwd"}); err == nil {
		t.Error("a job's model was read from the worker's disk")
	}
	written, err := good().configuration()
	if err != nil || written.NATS.URL != config.NATSOff || len(written.Sinks) > 0 || written.Online.State != "" || written.Record.Path != "" {
		t.Errorf("%+v, %v", written, err)
	}
}

// TestRoom: a disk without room does not count as a failure of the film.
func TestRoom(t *testing.T) {
	folder := t.TempDir()
	if err := room(folder, 1); err != nil {
		t.Skip(err)
	}
	err := room(folder, 1<<60)
	if err == nil || !strings.Contains(err.Error(), "has no room") {
		t.Error(err)
	}
}

// TestUnpack: packing twice gives the same tar, unpacking restores the files, and no file leaves the folder.
func TestUnpack(t *testing.T) {
	from := t.TempDir()
	put(t, from, "b_10.png", "ten")
	put(t, from, "b_9.png", "nine")
	put(t, from, "frames.csv", "file,t")
	put(t, from, "notes.txt", "left out")
	f := film{path: from, kind: "directory", folder: true}
	var one, two bytes.Buffer
	s, err := f.write(t.Context(), &one)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.write(t.Context(), &two); err != nil || s != again || !bytes.Equal(one.Bytes(), two.Bytes()) || s.bytes != int64(one.Len()) {
		t.Errorf("%v and %v, %v", s, again, err)
	}
	to := t.TempDir()
	if err := unpack(&one, to, s.bytes); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(to, "*"))
	if len(names) != 3 || string(suite.Content(t, to, "b_10.png")) != "ten" {
		t.Errorf("%v", names)
	}
	evil := bytes.ReplaceAll(two.Bytes(), []byte("b_10.png"), []byte("../x.png"))
	if err := unpack(bytes.NewReader(evil), to, s.bytes); err == nil {
		t.Error("a file beside the folder was written")
	}
}

// TestPathRefused: a film given by path is read only if the worker allows the path.
func TestPathRefused(t *testing.T) {
	refused := errors.New("path: found another folder")
	w := &Worker{Allow: func(_, path string) (string, error) { return "", refused }}
	j := &job{Path: "/etc/passwd"}
	var film errFilm
	if path, err := w.fetch(t.Context(), nil, j, t.TempDir()); !errors.Is(err, refused) || !errors.As(err, &film) {
		t.Errorf("found %s, %v", path, err)
	}
}
