package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"driftscope/ingest/avcodec"
	"driftscope/ingest/ingesttest"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
)

// TestNetworkCameraRestarts: a camera that sometimes loses packets is switched off and on twice during a run. Each time the run reports the loss once and
// the return once, frame numbers continue, missing frames are counted, times span the gap, and nothing remains of earlier connections.
func TestNetworkCameraRestarts(t *testing.T) {
	suite.Long(t)
	const away, restarts = 300 * time.Millisecond, 2
	camera := ingesttest.StartCamera(t, ingesttest.CameraOptions{Codec: avcodec.H264, User: "guest", Password: "secret", Digest: true, Lose: func(n, packet, packets int) bool {
		return n%ingesttest.Pictures == 0 && packet == 1 // of the film's first picture, which takes several and has a key frame's: the first tells that it is missing
	}})
	folder := t.TempDir()
	written(t, folder, map[string]string{
		"net.yaml": fmt.Sprintf("stream: net\nsource: {url: {url: %q}}\nnats: {url: \"off\"}\nsinks: [jsonl: {path: out.jsonl}]\n", camera.URL()),
	})
	r := begin(t, folder, "run", "net.yaml")
	out := filepath.Join(folder, "out.jsonl")
	tracked := func(more int) {
		t.Helper()
		before := resultsIn(t, out)
		r.until("results", func() bool { return resultsIn(t, out) >= before+more })
	}
	tracked(60)
	var held []int // open files of the run, after each restart
	for n := range restarts {
		camera.Off()
		r.until("the loss", func() bool { return strings.Count(r.log.String(), "msg=source_lost") == n+1 })
		time.Sleep(away)
		camera.On()
		r.until("the camera", func() bool { return strings.Count(r.log.String(), `msg="source back"`) == n+1 })
		tracked(60)
		held = append(held, filesOpen(t, r.c.Process.Pid)+100*childrenOf(t, r.c.Process.Pid))
	}
	account := r.end()
	if held[0] != held[1] || held[0] < 100 || held[0] >= 200 {
		t.Errorf("files open and 100 times the processes: %v after each restart", held)
	}
	if strings.Contains(r.log.String()+account, "secret") {
		t.Error("the password is told")
	}
	restarted(t, records(t, out), account, restarts, away)
}

// TestUnreadablePictures runs an HTTP camera that sends only unreadable pictures. The run counts, publishes and logs each from the first on, without
// waiting for a readable one.
func TestUnreadablePictures(t *testing.T) {
	const frames = 150
	var begun atomic.Int64 // when the first was sent, Unix nanoseconds
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "multipart/x-mixed-replace; boundary=frame")
		for r.Context().Err() == nil {
			begun.CompareAndSwap(0, time.Now().UnixNano())
			fmt.Fprintf(w, "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: 400\r\n\r\n%400d\r\n", 0)
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	}))
	defer server.Close()
	folder := t.TempDir()
	written(t, folder, map[string]string{
		"web.yaml": fmt.Sprintf("stream: web\nmodel: embedded:molecule\nsource: {url: {url: %q}}\nnats: {url: \"off\"}\nsinks: [jsonl: {path: out.jsonl}]\n", server.URL+"/video"),
	})
	o := drive(t, folder, "run", "web.yaml", "--frames", fmt.Sprint(frames))
	if o.status != 0 || !strings.Contains(o.out, fmt.Sprintf("frames in %d, tracked 0, dropped %d", frames, frames)) {
		t.Fatalf("%+v", o)
	}
	told := map[string]int{}
	var first time.Time
	for _, r := range records(t, filepath.Join(folder, "out.jsonl")) {
		e, ok := r.(*message.EventRecord)
		if !ok {
			continue
		}
		if told[e.Code] += int(e.Count); e.Code == "damaged_picture" && first.IsZero() {
			first = e.Time
		}
	}
	if told["damaged_picture"] != frames || told["nothing_tracked"] != 1 {
		t.Errorf("events %v, expected %d of damaged_picture and one of nothing_tracked", told, frames)
	}
	if waited := first.Sub(time.Unix(0, begun.Load())); waited > 5*time.Second { // at once; a busy machine takes its time
		t.Errorf("the first is published %v after it was sent", waited)
	}
	if lines := strings.Count(o.errors, "damaged_picture"); lines == 0 || lines > 10 { // one a second for 1.5 s, and more on a busy machine
		t.Errorf("%d log lines:\n%s", lines, o.errors)
	}
}

// TestCameraPassword: a password from the command line does not appear in messages.
func TestCameraPassword(t *testing.T) {
	for _, args := range []string{"probe", "pretrain --latent 2 --out x.onnx"} {
		o := drive(t, t.TempDir(), append(strings.Fields(args), "rtsp://guest:hidden@127.0.0.1:1/x?pwd=hidden")...)
		if o.check(t, 1, "rtsp://guest:xxxxx@127.0.0.1:1/x?..."); strings.Contains(o.out+o.errors, "hidden") {
			t.Errorf("%s tells the password:\n%s%s", args, o.out, o.errors)
		}
	}
}

// restarted compares results and frame counts with the camera's restarts.
func restarted(t *testing.T, all []message.Record, account string, restarts int, away time.Duration) {
	t.Helper()
	told := map[string]int{}
	var last *message.LatentRecord
	var given, dropped uint64
	long := 0
	for _, r := range all {
		switch r := r.(type) {
		case *message.EventRecord:
			told[r.Code]++
		case *message.LatentRecord:
			if last == nil {
				last, given, dropped = r, 1, r.Dropped
				continue
			}
			given, dropped = given+1, dropped+r.Dropped
			if r.Seq != last.Seq+1+r.Dropped {
				t.Errorf("frame %d after frame %d, %d are said to be lost between", r.Seq, last.Seq, r.Dropped)
			}
			// A stamp of 90 kHz is rounded to 11 µs, and the camera's clock may be corrected by a two-thousandth.
			step := time.Duration(r.Dropped+1) * time.Second / ingesttest.Rate
			switch off := r.Time.Sub(last.Time) - step; {
			case off > away/2:
				long++
				if off < away {
					t.Errorf("a step of %v, the camera was away for %v", off, away)
				}
			case off.Abs() > 12*time.Microsecond+step/1000:
				t.Errorf("frame %d was taken %v after frame %d, %v expected", r.Seq, r.Time.Sub(last.Time), last.Seq, step)
			}
			last = r
		}
	}
	if told["source_lost"] != restarts || told["source_back"] != restarts || long != restarts {
		t.Errorf("told %d times to be lost and %d times to be back, %d long steps: %d expected", told["source_lost"], told["source_back"], long, restarts)
	}
	var in, tracked, lost uint64
	if _, err := fmt.Sscanf(account, "frames in %d, tracked %d, dropped %d,", &in, &tracked, &lost); err != nil || in != tracked+lost || tracked != given || lost < dropped || dropped == 0 {
		t.Errorf("%d results, %d dropped before them (%v):\n%s", given, dropped, err, account)
	}
}

// resultsIn counts the results in a file, which may not be there yet.
func resultsIn(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), `"kind":"latent"`)
}

// filesOpen counts the open files of a process.
func filesOpen(t *testing.T, pid int) int {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// childrenOf counts the processes that a process started.
func childrenOf(t *testing.T, pid int) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil { // it has ended
			continue
		}
		var state string
		var parent int
		name := strings.LastIndex(string(text), ") ")
		if _, err := fmt.Sscan(string(text[name+2:]), &state, &parent); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if parent == pid && state != "Z" { // a zombie does not count
			n++
		}
	}
	return n
}
