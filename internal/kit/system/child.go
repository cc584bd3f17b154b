package system

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Grace is the time that a child has to end in order. A camera that was not closed in order refuses other programs for some seconds.
const Grace = time.Second

// outputs is the descriptor of a child's output to its parent. It is not standard output, because libraries print there.
const outputs = 3

// inChild is an environment variable of a child. A child may not start another, because a program without the command would start itself for ever.
const inChild = "DRIFTSCOPE_CHILD"

// Child is a child process that runs this program. The parent keeps the last lines that the child printed.
type Child struct {
	Input   io.WriteCloser // its standard input
	Output  *os.File       // the child's ChildOutput()
	process *exec.Cmd
	words   lastWords
	gone    chan struct{} // closed when the process has been reaped
}

// ChildOutput returns a child's output to its parent. The parent detects the end of this process even if processes that it started still run.
func ChildOutput() *os.File {
	syscall.CloseOnExec(outputs)
	return os.NewFile(outputs, "output")
}

// StartChild starts a hidden command of this program, with additional environment variables. The child ends with its parent. The caller must close or kill it.
func StartChild(command string, environment ...string) (*Child, error) {
	if os.Getenv(inChild) != "" {
		return nil, errors.New("a child process may not start another: unset " + inChild)
	}
	path, err := executable()
	if err != nil {
		return nil, err
	}
	output, far, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer far.Close()
	c := &Child{process: exec.Command(path, command), Output: output, gone: make(chan struct{})}
	c.process.Args[0] = os.Args[0]
	c.process.ExtraFiles = []*os.File{far}
	c.process.Stdout, c.process.Stderr = &c.words, &c.words
	c.process.WaitDelay = Grace // a plugin scanner that outlives the child may keep the output open
	c.process.SysProcAttr = alone()
	c.process.Env = append(os.Environ(), "GOTRACEBACK=none", inChild+"="+command) // a crash prints one line, without the stacks of all threads
	c.process.Env = append(c.process.Env, environment...)
	if c.Input, err = c.process.StdinPipe(); err == nil {
		started := make(chan error)
		go c.run(started)
		err = <-started
	}
	if err != nil {
		output.Close()
		return nil, err
	}
	return c, nil
}

// run starts the process and reaps it, all on one thread. When the thread that started a child ends, the system treats this as the end of the parent
// (golang/go#27505).
func (c *Child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.process.Start()
	started <- err
	if err != nil {
		return
	}
	_ = c.process.Wait() // ProcessState holds the result
	close(c.gone)
}

// Close lets the child end in order, kills it after Grace, and waits for its end.
func (c *Child) Close() {
	c.Input.Close()
	select {
	case <-c.gone:
		c.Output.Close()
	case <-time.After(Grace):
		c.Kill()
	}
}

// Kill ends the child at once and waits for its end.
func (c *Child) Kill() {
	c.process.Process.Kill()
	<-c.gone
	c.Input.Close()
	c.Output.Close()
}

// Fate returns how the child ended, and its last lines. It kills a child that has closed its output and still runs.
func (c *Child) Fate() string {
	select {
	case <-c.gone:
	case <-time.After(Grace):
		c.process.Process.Kill()
		<-c.gone
	}
	how := c.process.ProcessState.String()
	if words := c.words.String(); words != "" {
		how += ": " + words
	}
	return how
}
