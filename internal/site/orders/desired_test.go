package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/config"
	"driftscope/internal/kit/console"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// typed runs driftscope stream with the given arguments, and returns its output.
func typed(t *testing.T, line ...string) (printed string, err error) {
	t.Helper()
	var c struct {
		Command
		Site SiteCommand `cmd:""`
	}
	parser, err := kong.New(&c, kong.BindTo(t.Context(), (*context.Context)(nil)))
	if err != nil {
		t.Fatal(err)
	}
	command, err := parser.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		var b bytes.Buffer
		b.ReadFrom(r)
		read <- b.String()
	}()
	screen := os.Stdout
	os.Stdout = w
	err = command.Run()
	os.Stdout = screen
	w.Close()
	return <-read, err
}

// TestStream: streams are added, listed, shown, replaced, moved and removed. Mistakes are usage errors.
func TestStream(t *testing.T) {
	server := "--nats=" + bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir())).URL()
	file := filepath.Join(t.TempDir(), "bead.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(status int, says string, line ...string) {
		t.Helper()
		if _, err := typed(t, line...); err == nil || console.Status(err) != status || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: found %v, expected status %d and %q", line, err, status, says)
		}
	}
	refused(1, "there is no such site yet", "list", server)
	refused(2, "replicas: found 9, expected 1 to 5", "site", "init", server, "--replicas=9")
	refused(2, `found "a b", expected a name`, "site", "init", server, "--camera=a b")
	if out, err := typed(t, "site", "init", server, "--camera=bead"); err != nil || strings.Count(out, "made  ") != 9 || !strings.Contains(out, "frames_camera_bead") {
		t.Fatalf("found %v\n%s", err, out)
	}
	if out, err := typed(t, "site", "init", server, "--camera=bead"); err != nil || strings.Count(out, "there  ") != 9 {
		t.Fatalf("found %v\n%s", err, out)
	}
	nc, err := nats.Connect(strings.TrimPrefix(server, "--nats="))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := js.Stream(t.Context(), "frames_camera_bead")
	if err != nil {
		t.Fatal(err)
	}
	other := frames.CachedInfo().Config
	other.MaxBytes = 1 << 20
	if _, err := js.UpdateStream(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if out, err := typed(t, "site", "init", server, "--camera=bead"); err != nil || strings.Count(out, "there  ") != 8 || !strings.Contains(out, "differs") || !strings.Contains(out, "max_bytes: found 1048576") {
		t.Errorf("a stream of another size: %v\n%s", err, out)
	}
	refused(1, "start the site's server", "site", "init", "--nats=nats://127.0.0.1:1")
	refused(2, "gone.yaml", "add", "gone.yaml", server)
	if _, err := typed(t, "add", "sim:molecule", "--name=disk", "--model=here.onnx", server); err != nil {
		t.Error(err)
	}
	if _, err := typed(t, "remove", "disk", server); err != nil {
		t.Error(err)
	}
	write("stream: bead\nsource: {nats: {subject: camera.bead}}\nframes: {durable: true}\nmodel: embedded:molecule\n")
	if out, err := typed(t, "add", file, server, "--labels=gpu,hall", "--cores=2"); err != nil || out != "stream bead should run\n" {
		t.Fatalf("found %q, %v", out, err)
	}
	refused(2, "there is a stream of that name", "add", file, server)
	if _, err := typed(t, "add", "sim:molecule", "--name=toy", "--objects", server); err != nil {
		t.Fatal(err)
	}
	out, err := typed(t, "list", "--json", server)
	var all listed
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err != nil || len(all.Streams) != 2 || all.Streams[0].Name != "bead" || all.Streams[0].Cores != 2 || all.Streams[0].Waiting != "there is no worker" || all.Streams[1].Name != "toy" {
		t.Errorf("listed are %+v, %v", all, err)
	}
	if out, err = typed(t, "list", server); err != nil || !strings.Contains(out, "bead    -       -      -      2      gpu,hall  there is no worker") || !strings.Contains(out, "gpu,hall") {
		t.Errorf("found %v\n%s", err, out)
	}
	if out, err = typed(t, "show", "bead", server); err != nil {
		t.Fatal(err)
	}
	shown, err := config.Parse("bead", []byte(out))
	if err != nil || shown.Stream != "bead" || !shown.Frames.Durable {
		t.Errorf("shown is %v, %+v", err, shown)
	}
	write(out + "# changed\n")
	if _, err := typed(t, "add", file, "--replace", "--cores=3", server); err != nil {
		t.Fatal(err)
	}
	if _, err := typed(t, "move", "bead", "--to=hall-2", server); err != nil {
		t.Fatal(err)
	}
	if out, err = typed(t, "list", "--json", server); err != nil || !strings.Contains(out, `"pinned":"hall-2"`) || !strings.Contains(out, `"cores":3`) {
		t.Errorf("found %v, %s", err, out)
	}
	write("stream: spy\nsource: {gst: {pipeline: \"rtspsrc location=rtsp://me:hunter2@host/ ! decodebin\"}}\n")
	refused(2, "${secret:NAME}", "add", file, server)
	refused(2, "there is no stream of that name", "show", "none", server)
	refused(2, "there is no stream of that name", "move", "none", server)
	refused(2, "there is no stream of that name", "add", "sim:molecule", "--name=none", "--replace", server)
	refused(2, "expected the address of a server", "list", "--nats=embedded")
	refused(2, "nats prefix", "list", server, "--prefix=a.b")
	refused(1, "start the site's server", "list", "--nats=nats://127.0.0.1:1")
	for _, name := range []string{"bead", "toy"} {
		if _, err := typed(t, "remove", name, server); err != nil {
			t.Fatal(err)
		}
	}
	if out, err = typed(t, "list", "--json", server); err != nil || !strings.Contains(out, `"streams":[]`) {
		t.Errorf("found %v, %s", err, out)
	}
	refused(2, "there is no stream of that name", "remove", "bead", server)
}
