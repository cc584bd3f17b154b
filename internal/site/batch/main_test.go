package batch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"driftscope/ingest/sim"
	"driftscope/ingest/sim/field"
	"driftscope/internal/flow/bus"
	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
)

// asBatch makes the test's own binary behave as driftscope batch.
const asBatch = "DRIFTSCOPE_TEST_AS_BATCH"

// dies is the name of a film whose tracking process is killed, as in a crash of OpenCV.
const dies = "dies"

func TestMain(m *testing.M) {
	film := len(os.Args) == 4 && os.Args[2] == filmFlag
	if !film && os.Getenv(asBatch) == "" {
		suite.Main(m)
	}
	if data, err := os.ReadFile(filepath.Join(os.Args[len(os.Args)-1], orderName)); film && err == nil && strings.Contains(string(data), `"file":"`+dies+`"`) {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := execute(ctx)
	stop()
	os.Exit(suite.Mats(suite.Goroutines(status)))
}

// execute runs the two commands of this package, like cmd/driftscope.
func execute(ctx context.Context) int {
	var commands struct {
		Batch Command `cmd:""`
	}
	parser, err := kong.New(&commands, kong.BindTo(ctx, (*context.Context)(nil)))
	if err == nil {
		var command *kong.Context
		if command, err = parser.Parse(os.Args[1:]); err == nil {
			err = command.Run()
		}
	}
	(&console.Program{Name: "driftscope"}).Report(err)
	return console.Status(err)
}

// running is a command in a separate process.
type running struct {
	*exec.Cmd
	said suite.Transcript
}

// start starts driftscope batch.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Cmd: exec.Command(self, append([]string{"batch"}, args...)...)}
	r.Env = append(os.Environ(), asBatch+"=1")
	r.Stdout, r.Stderr, r.WaitDelay = &r.said, &r.said, time.Second
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Process.Kill()
		r.Wait()
		if t.Failed() {
			t.Logf("%v:\n%s", args, r.said.String())
		}
	})
	return r
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	suite.UntilWithin(t, 5*time.Minute, holds, what)
}

// scenes makes films of one molecule each, with different seeds, in subfolders of a folder.
func scenes(t *testing.T, films, frames int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for i := range films {
		scene, err := sim.New("molecule", sim.Options{Frames: frames, Seed: uint64(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		if err := scene.Record(t.Context(), filepath.Join(folder, fmt.Sprintf("film%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// fields makes small films of many objects in the same way.
func fields(t *testing.T, films, frames int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for i := range films {
		f, err := field.New(field.Options{Scenario: "vesicle", Density: 10, SNR: 7, Width: 96, Height: 96, Frames: frames, Seed: uint64(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.Record(t.Context(), f.Film(), filepath.Join(folder, fmt.Sprintf("film%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// server starts a server with JetStream in this process.
func server(t *testing.T) *bus.Conn {
	t.Helper()
	conn, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded, Store: t.TempDir(), Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// same compares the results of two folders, byte by byte.
func same(t *testing.T, one, other string, films int) {
	t.Helper()
	results, err := filepath.Glob(filepath.Join(one, "film*.jsonl"))
	if err != nil || len(results) != films {
		t.Fatalf("found %d results, %v, expected %d", len(results), err, films)
	}
	for _, path := range results {
		name := filepath.Base(path)
		if a, b := suite.Content(t, one, name), suite.Content(t, other, name); len(a) == 0 || string(a) != string(b) {
			t.Errorf("%s: %d and %d bytes, expected the same", name, len(a), len(b))
		}
	}
}
