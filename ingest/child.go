package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// captureCommand is the hidden command under which this program calls CaptureProcess, and captureFrames where it writes frames: not to
// standard output, where libraries print.
const (
	captureCommand = "capture"
	captureFrames  = 3
)

// farewell is how long a child may take to close its source. A camera that is not told of the end refuses others for some seconds.
const farewell = time.Second

// child is a process that reads one source. Its standard input takes the order, a line, and then a byte for each frame that is wanted.
// What it prints is kept as its last words.
type child struct {
	process *exec.Cmd
	input   io.WriteCloser
	frames  *os.File
	words   lastWords
	gone    chan struct{} // closed when the process has been reaped; then state is good
	state   error
}

// startChild starts this program's hidden command with its order.
func startChild(o order) (*child, error) {
	line, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	path, err := executable()
	if err != nil {
		return nil, err
	}
	frames, far, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer far.Close()
	c := &child{process: exec.Command(path, captureCommand), frames: frames, gone: make(chan struct{})}
	c.process.Args[0] = os.Args[0]
	c.process.ExtraFiles = []*os.File{far}
	c.process.Stdout, c.process.Stderr = &c.words, &c.words
	c.process.WaitDelay = farewell // a plugin scanner that the child left behind may hold its output
	c.process.SysProcAttr = alone()
	c.process.Env = append(os.Environ(), "GOTRACEBACK=none") // last words are a line, not the stacks of every thread
	if c.input, err = c.process.StdinPipe(); err == nil {
		started := make(chan error)
		go c.run(started)
		err = <-started
	}
	if err != nil {
		frames.Close()
		return nil, err
	}
	if _, err := c.input.Write(append(line, '\n')); err != nil {
		c.kill()
		return nil, fmt.Errorf("%s", c.fate())
	}
	return c, nil
}

// run starts the process and reaps it, all on one thread: the system takes the end of the thread that started a child for its parent's
// (golang/go#27505).
func (c *child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.process.Start()
	started <- err
	if err != nil {
		return
	}
	c.state = c.process.Wait()
	close(c.gone)
}

// ask lets the child send one frame more.
func (c *child) ask() { c.input.Write([]byte{'\n'}) }

// close ends the child in order, or else kills it, and reaps it.
func (c *child) close() {
	c.input.Close()
	select {
	case <-c.gone:
		c.frames.Close()
	case <-time.After(farewell):
		c.kill()
	}
}

// kill ends the child at once and reaps it.
func (c *child) kill() {
	c.process.Process.Kill()
	<-c.gone
	c.input.Close()
	c.frames.Close()
}

// fate says how the child ended and what it said last. A child that has closed its pipe and goes on is killed.
func (c *child) fate() string {
	select {
	case <-c.gone:
	case <-time.After(farewell):
		c.process.Process.Kill()
		<-c.gone
	}
	how := c.process.ProcessState.String()
	if words := c.words.String(); words != "" {
		how += ": " + words
	}
	return how
}

// The bounds on what is kept of a child's output.
const (
	maxWords    = 3 // lines
	maxWordLine = 300
)

// lastWords keeps the last lines that are written to it. Safe for concurrent use.
type lastWords struct {
	mu    sync.Mutex
	lines []string
	rest  []byte // of a line that has not ended
	over  bool
}

// Write never fails.
func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range bytes.Lines(p) {
		w.rest = append(w.rest, line[:min(len(line), maxWordLine-min(len(w.rest), maxWordLine))]...)
		if line[len(line)-1] == '\n' {
			w.keep()
		}
	}
	return len(p), nil
}

// keep takes the line that has ended. After a signal or a panic the runtime says where, which helps nobody who reads an error.
func (w *lastWords) keep() {
	line := strings.Join(strings.Fields(string(w.rest)), " ")
	w.rest = w.rest[:0]
	if line == "" || w.over || slices.Contains(w.lines, line) {
		return
	}
	w.over = strings.HasPrefix(line, "SIG") || strings.HasPrefix(line, "panic: ")
	w.lines = append(w.lines, line)
	if len(w.lines) > maxWords {
		w.lines = slices.Delete(w.lines, 0, 1)
	}
}

// String is the last lines as one.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.lines, "; ")
}
