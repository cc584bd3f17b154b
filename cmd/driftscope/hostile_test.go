package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"driftscope/sinks/message"
)

// publishes matches the line with the address on which a run publishes.
var publishes = regexp.MustCompile(`publishing on nats://(\S+) under`)

// TestHostile: any program on the machine may send commands to this run. Invalid ones are refused and counted, and cost no frame.
func TestHostile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	written(t, folder, map[string]string{
		"bead.yaml": "stream: bead\nsource: {sim: {name: molecule}}\nqueue: 112\nnats: {port: 0}\ndashboard: {address: \"off\"}\nsinks: [{jsonl: {path: bead.jsonl}}]\n"})
	began := time.Now()
	r := begin(t, folder, "run", "bead.yaml")
	waitForFile(t, filepath.Join(folder, "bead.jsonl"))
	address := publishes.FindStringSubmatch(r.log.String())[1]
	nc := dial(t, "nats://"+address)
	const commands = "driftscope.local.bead.cmd."
	refused := map[string]int{} // by command
	for _, test := range []struct {
		command, payload string
		code             int
	}{
		{"pause", strings.Repeat("x", 4097), 400},
		{"pause", "\x00\xff\xfe", 400},
		{"stop", `{"x":1}`, 400},
		{"reset", "[]", 400},
		{"roi", strings.Repeat(" ", 60<<10), 400},
		{"roi", `{"x":`, 400},
		{"roi", `{"x":1,"y":2} {"x":1,"y":2}`, 400},
		{"roi", `{"x":1e999,"y":0}`, 400},
		{"roi", `{"x":1,"y":2,"z":3}`, 400},
		{"roi", `{"x":-1,"y":99999999999999999999}`, 400},
		{"roi", strings.Repeat(`{"x":`, 700), 400},
		{"roi", "{\"x\":\"\xff\x1b[2J\"}", 400},
		{"checkpoint", "", 409},
		{"dance", "", 404},
		{"*", "", 404},
		{strings.Repeat("a", 200), "", 404},
		{"\xff\x1b", "", 404},
	} {
		m, err := nc.Request(commands+test.command, []byte(test.payload), 10*time.Second)
		if err != nil {
			t.Fatalf("%.20q: %v", test.command, err)
		}
		if code := m.Header.Get(micro.ErrorCodeHeader); code != strconv.Itoa(test.code) || bytes.ContainsFunc(m.Data, unicode.IsControl) || !utf8.Valid(m.Data) {
			t.Errorf("%.20q with %.20q: found %q, %q, expected %d", test.command, test.payload, code, m.Data, test.code)
		}
		refused[test.command]++
	}
	for _, subject := range []string{"driftscope.local.*.cmd.stop", "driftscope.*.bead.cmd.stop", "driftscope.>", "driftscope.local.bead.cmd.>"} {
		if m, err := nc.Request(subject, nil, 100*time.Millisecond); err == nil && m.Header.Get(micro.ErrorCodeHeader) != "404" {
			t.Errorf("%s: %s", subject, m.Data)
		}
	}
	if m, err := nc.Request(commands+"roi", make([]byte, 1<<20), 100*time.Millisecond); err == nil { // the payload is too large
		t.Errorf("a payload of 1 MiB: %s", m.Data)
	}
	refused["roi"]++
	if said := tooLarge(t, address, commands+"stop"); !strings.Contains(said, "Maximum Payload") {
		t.Errorf("a message of 9 MB: %q", said)
	}
	answered := flood(t, address, commands)
	counted := func() (errors int) {
		m, err := nc.Request("$SRV.STATS.driftscope", nil, 10*time.Second)
		var s micro.Stats
		if err == nil {
			err = json.Unmarshal(m.Data, &s)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range s.Endpoints {
			errors += e.NumErrors
		}
		return errors
	}
	want := answered
	for _, n := range refused {
		want += n
	}
	r.until("every refusal to be counted", func() bool { return counted() >= want })
	if m, err := nc.Request(commands+"info", nil, 10*time.Second); err != nil || m.Header.Get(micro.ErrorCodeHeader) != "" {
		t.Errorf("info after all that: %v, %v", m, err)
	}
	account := r.end()
	var in, tracked int
	if _, err := fmt.Sscanf(account, "frames in %d, tracked %d, dropped 0,", &in, &tracked); err != nil || in != tracked || strings.Count(account, "dropped") != 1 {
		t.Errorf("something was lost (%v):\n%s", err, account)
	}
	for _, record := range r.records() {
		if e, ok := record.(*message.EventRecord); ok && strings.HasPrefix(e.Code, "command_") {
			t.Errorf("a command was applied: %s", e.Text)
		}
	}
	said := strings.Count(r.log.String(), "command refused")
	if t.Logf("%d frames, %d refusals, %d of them in the log", in, want, said); said == 0 || said > 2+int(time.Since(began).Seconds()) {
		t.Errorf("%d refusals are logged, expected one a second", said)
	}
}

// flood sends thousands of requests at once, from several connections, and returns the number of refusals. The other requests found the
// queue full and got no answer.
func flood(t *testing.T, address, commands string) int {
	t.Helper()
	var refused atomic.Int64
	var flooding sync.WaitGroup
	for range 4 {
		nc := dial(t, "nats://"+address)
		inbox := nats.NewInbox()
		if _, err := nc.Subscribe(inbox, func(m *nats.Msg) {
			if m.Header.Get(micro.ErrorCodeHeader) == "400" {
				refused.Add(1)
			}
		}); err != nil {
			t.Fatal(err)
		}
		flooding.Go(func() {
			for range 1000 {
				for _, command := range []string{"pause", "roi", "stop"} {
					if err := nc.PublishRequest(commands+command, inbox, []byte("flood")); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	flooding.Wait()
	for before := int64(-1); before != refused.Load(); time.Sleep(200 * time.Millisecond) {
		before = refused.Load()
	}
	if refused.Load() == 0 {
		t.Error("12000 requests, and none was refused")
	}
	return int(refused.Load())
}

// tooLarge announces a message larger than the server accepts, and returns the server's answer.
func tooLarge(t *testing.T, address, subject string) string {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "CONNECT {\"verbose\":false}\r\nPUB %s 9000000\r\n", subject); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	for lines := bufio.NewScanner(c); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "-ERR") {
			return lines.Text()
		}
	}
	return ""
}
