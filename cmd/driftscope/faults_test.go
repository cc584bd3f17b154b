package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
	"driftscope/sinks/natsink"
)

const (
	faulty    = bus.MaxAge + 700*time.Millisecond // duration of a fault: long enough to be noticed, and longer than the queue of frames lasts
	cameraRun = "stream: bead\nsource: {sim: {name: molecule}}\nqueue: 112\nsinks: [{jsonl: {path: %q}}]\nnats: %s\nonline: {state: %q}\n"
)

// liveCamera starts a run of a simulated camera that publishes the stream bead with the settings nats, and returns when it tracks.
func liveCamera(t *testing.T, nats, state string) *trial {
	t.Helper()
	folder := t.TempDir()
	written(t, folder, map[string]string{"bead.yaml": fmt.Sprintf(cameraRun, "bead.jsonl", nats, state)})
	r := begin(t, folder, "run", "bead.yaml")
	r.until("results", func() bool {
		info, err := os.Stat(filepath.Join(folder, "bead.jsonl"))
		return err == nil && info.Size() > 0
	})
	return r
}

// captured ends the run. It checks that every frame was tracked and none delayed by the fault, because the queue holds two seconds of frames.
// Only NATS may have lost messages, which health counts and the log reports with the reason.
func (r *trial) captured(begun, ended time.Time, reasons ...string) {
	r.t.Helper()
	account := r.end()
	var in, tracked int
	if _, err := fmt.Sscanf(account, "frames in %d, tracked %d,", &in, &tracked); err != nil || in != tracked || strings.Count(account, "dropped") != 2 {
		r.t.Errorf("not every frame was tracked, or more was lost than messages to NATS (%v):\n%s", err, account)
	}
	seconds, rate, lost := 0, 0.0, uint64(0)
	for _, record := range r.records() {
		h, ok := record.(*message.HealthRecord)
		if !ok || h.State != "tracking" {
			continue
		}
		lost = h.Dropped["sink_nats"]
		if h.Time.After(begun.Add(time.Second)) && h.Time.Before(ended) {
			seconds, rate = seconds+1, rate+h.FPS
		}
	}
	if rate == 0 || lost == 0 { // speed depends on the machine, which may be busy; frames delayed for long are lost, see above
		r.t.Errorf("%.1f frames/s in %d seconds of the fault, %d messages lost in the end", rate, seconds, lost)
	}
	for _, reason := range reasons {
		if !r.says(reason) {
			r.t.Errorf("the log does not say %q:\n%s", reason, r.log.String())
		}
	}
	r.t.Logf("%d frames, %.1f/s of the camera's 56 while the fault lasted, %d messages lost to NATS", in, rate/float64(seconds), lost)
}

// records returns the records of the run's own file.
func (r *trial) records() (records []message.Record) {
	r.t.Helper()
	f, err := os.Open(filepath.Join(r.c.Dir, "bead.jsonl"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, message.MaxRecord)
	for lines.Scan() {
		kind, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), `{"v":1,"kind":"`), `"`)
		record, err := message.Decode(latent.Kind(kind), lines.Bytes())
		if err != nil {
			r.t.Fatal(err)
		}
		records = append(records, record)
	}
	return records
}

// TestFrozenServer: a frozen server costs the camera no frame, and gets all messages to store when it resumes.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	server := bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir()))
	r := liveCamera(t, fmt.Sprintf("{url: %q, durable: true, store: store}", server.URL()), "")
	begun := time.Now()
	server.Freeze()
	time.Sleep(faulty)
	ended := time.Now()
	server.Thaw()
	r.until("the log to say that it is back", func() bool { return r.says("the NATS server is away") })
	time.Sleep(500 * time.Millisecond)
	r.captured(begun, ended, "messages wait in the spool", "cause=sink_nats")
	for i, k := range keptRuns(t, server.URL()) {
		k.check(t, i, nil, true)
	}
}

// TestCutOff: without storage, an unreachable server loses the messages published during the fault, and no message arrives late.
func TestCutOff(t *testing.T) {
	t.Parallel()
	server := bustest.Start(t, "")
	wire := bustest.NewWire(t, strings.TrimPrefix(server.URL(), "nats://"))
	var mu sync.Mutex
	got, oldest := 0, time.Duration(0)
	if _, err := dial(t, server.URL()).Subscribe("driftscope.local.bead.*", func(m *nats.Msg) {
		if strings.HasSuffix(m.Subject, natsink.SampledToken) {
			return // its latents are on .latent too
		}
		r, err := message.Decode(latent.Kind(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]), m.Data)
		if err != nil {
			t.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		switch r := r.(type) { // these two have the time of their creation, unlike a simulation's latents
		case *message.HealthRecord:
			got, oldest = got+1, max(oldest, time.Since(r.Time))
		case *message.EventRecord:
			got, oldest = got+1, max(oldest, time.Since(r.Time))
		}
	}); err != nil {
		t.Fatal(err)
	}
	r := liveCamera(t, fmt.Sprintf("{url: 'nats://%s'}", wire.Address()), "")
	begun := time.Now()
	wire.Turn(suite.Lost)
	time.Sleep(faulty)
	ended := time.Now()
	wire.Turn(suite.Whole)
	mu.Lock()
	before := got
	mu.Unlock()
	r.until("messages again", func() bool { mu.Lock(); defer mu.Unlock(); return got > before+1 })
	r.captured(begun, ended, "the NATS server is away", "cause=sink_nats")
	mu.Lock()
	defer mu.Unlock()
	if t.Logf("the oldest of %d was %v old", got, oldest); oldest > bus.MaxAge {
		t.Errorf("a message was %v old when it arrived, at most %v", oldest, bus.MaxAge)
	}
}

// TestExpiredCredentials: credentials expire in use and are renewed in their file. The run reconnects with them, and every message is stored.
func TestExpiredCredentials(t *testing.T) {
	t.Parallel()
	server, operator := bustest.StartOperated(t, fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir()))
	rig, auditor := filepath.Join(t.TempDir(), "rig.creds"), filepath.Join(t.TempDir(), "auditor.creds")
	operator.Credentials(rig, func(*jwt.UserClaims) {})
	operator.Credentials(auditor, func(*jwt.UserClaims) {})
	r := liveCamera(t, fmt.Sprintf("{url: %q, creds: %q, durable: true, store: store}", server.URL(), rig), "")
	operator.Credentials(rig, func(c *jwt.UserClaims) { c.Expires = time.Now().Add(2 * time.Second).Unix() })
	server.Kill()
	server.Run() // reconnecting clients present the new credentials
	r.until("the credentials to expire", func() bool { return r.says("expired") })
	begun := time.Now()
	time.Sleep(faulty)
	operator.Credentials(rig, func(*jwt.UserClaims) {})
	ended := time.Now()
	nc := dial(t, server.URL(), nats.UserCredentials(auditor))
	again, err := nc.SubscribeSync("driftscope.local.bead.latent")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.NextMsg(10 * time.Second); err != nil {
		t.Errorf("with renewed credentials: %v\n%s", err, r.log.String())
	}
	r.captured(begun, ended, "expired", "cause=sink_nats")
	for i, k := range keptRuns(t, server.URL(), nats.UserCredentials(auditor)) {
		k.check(t, i, nil, true)
	}
}

// TestFullDisk: stored messages and the law's state find no room. Subscribers still receive every latent, and storage resumes when there
// is room again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := bustest.SmallDisk(t, 1<<20)
	server := bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir()))
	nc := dial(t, server.URL())
	live, err := nc.SubscribeSync("driftscope.local.bead.latent")
	if err != nil {
		t.Fatal(err)
	}
	r := liveCamera(t, fmt.Sprintf("{url: %q, durable: true, store: %q}", server.URL(), disk), filepath.Join(disk, "law"))
	begun := time.Now()
	free := fill(t, filepath.Join(disk, "somebody's"))
	time.Sleep(time.Second) // confirmed messages free their room once
	m, err := nc.Request("driftscope.local.bead.cmd.checkpoint", nil, 10*time.Second)
	if err != nil || !strings.Contains(string(m.Data), syscall.ENOSPC.Error()) {
		t.Errorf("a checkpoint on a full disk: %v, %v", m, err)
	}
	server.Freeze() // nothing is confirmed, so no room becomes free
	time.Sleep(time.Second)
	server.Thaw()
	time.Sleep(time.Until(begun.Add(faulty)))
	ended := time.Now()
	free()
	if m, err := nc.Request("driftscope.local.bead.cmd.checkpoint", nil, 10*time.Second); err != nil || string(m.Data) != "ok" {
		t.Errorf("a checkpoint when there is room again: %v, %v", m, err)
	}
	time.Sleep(250 * time.Millisecond) // time for frames whose latents find room
	r.captured(begun, ended, syscall.ENOSPC.Error(), "cause=sink_nats", "the state was not saved")
	seen, last := 0, uint64(0)
	for m, err := live.NextMsg(time.Second); err == nil; m, err = live.NextMsg(time.Second) {
		record, err := message.Decode(latent.KindLatent, m.Data)
		if err != nil {
			t.Fatal(err)
		}
		l := record.(*message.LatentRecord)
		if seen > 0 && l.Seq != last+1 {
			t.Errorf("those who look on saw latent %d after %d", l.Seq, last)
		}
		seen, last = seen+1, l.Seq
	}
	told := false
	for _, record := range r.records() {
		e, ok := record.(*message.EventRecord)
		told = told || ok && e.Code == "state_not_kept"
	}
	runs := keptRuns(t, server.URL())
	if len(runs) != 1 || !told {
		t.Fatalf("%d runs are kept; state_not_kept was told: %v", len(runs), told)
	}
	kept := runs[0].latents
	for i, l := range kept[1:] {
		if l.Seq <= kept[i].Seq {
			t.Errorf("latent %d is kept after %d", l.Seq, kept[i].Seq)
		}
	}
	if len(kept) >= seen || kept[len(kept)-1].Seq != last {
		t.Errorf("%d of %d latents are kept, the last is %d of %d", len(kept), seen, kept[len(kept)-1].Seq, last)
	}
}

// fill takes all free room on a disk, also room freed by others, until free is called.
func fill(t *testing.T, path string) (free func()) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			if _, err := f.Write(make([]byte, 4096)); err == nil {
				continue
			}
			select {
			case <-ended:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(ended)
		<-stopped
		if err := errors.Join(f.Close(), os.Remove(path)); err != nil {
			t.Error(err)
		}
	})
}

// TestDeadConsumer: a client subscribes to everything and reads nothing. The server disconnects it; the camera and other clients are not affected.
func TestDeadConsumer(t *testing.T) {
	t.Parallel()
	server := bustest.Start(t, "max_pending: 1MB\nwrite_deadline: 1s")
	r := liveCamera(t, fmt.Sprintf("{url: %q}", server.URL()), "")
	nc := dial(t, server.URL())
	live, err := nc.SubscribeSync("driftscope.local.bead.latent")
	if err != nil {
		t.Fatal(err)
	}
	dead(t, server.Port())
	begun := time.Now()
	for r.until("the dead consumer to be noticed", func() bool {
		if err := nc.Publish("driftscope.local.other.view", make([]byte, 256<<10)); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(server.Log(), "Slow Consumer")
	}); time.Since(begun) < 2*time.Second; {
		time.Sleep(10 * time.Millisecond)
	}
	account := r.end()
	var in, tracked int
	if _, err := fmt.Sscanf(account, "frames in %d, tracked %d,", &in, &tracked); err != nil || in != tracked || strings.Count(account, "dropped") != 1 {
		t.Errorf("something was lost (%v):\n%s", err, account)
	}
	seen, last := 0, uint64(0)
	for m, err := live.NextMsg(time.Second); err == nil; m, err = live.NextMsg(time.Second) {
		record, err := message.Decode(latent.KindLatent, m.Data)
		if err != nil {
			t.Fatal(err)
		}
		if l := record.(*message.LatentRecord); seen > 0 && l.Seq != last+1 {
			t.Errorf("a neighbour saw latent %d after %d", l.Seq, last)
		} else {
			seen, last = seen+1, l.Seq
		}
	}
	if int(last) != in-1 || seen == 0 {
		t.Errorf("a neighbour saw %d latents up to %d, of %d frames", seen, last, in)
	}
}

// dead connects a client that never reads.
func dead(t *testing.T, port int) {
	t.Helper()
	narrow := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
	}}
	c, err := narrow.DialContext(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		_, err = c.Write([]byte("CONNECT {\"verbose\":false}\r\nSUB driftscope.> 1\r\n"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
}
