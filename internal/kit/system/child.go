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

// Grace is how long a child may take to end in order. A camera that is not told of the end refuses others for some seconds.
const Grace = time.Second

// outputs is the descriptor to which a child writes what its parent reads: not standard output, where libraries print.
const outputs = 3

// inChild is set in the environment of a child, which starts none: a program that does not know the command would start itself for ever.
const inChild = "DRIFTSCOPE_CHILD"

// Child is a process of this program that works on behalf of another. What it prints is kept as its last words.
type Child struct {
	Input   io.WriteCloser // its standard input
	Output  *os.File       // what it writes to ChildOutput()
	process *exec.Cmd
	words   lastWords
	gone    chan struct{} // closed when the process has been reaped
}

// ChildOutput is where a child writes what its parent reads. The parent sees this process's end, whatever it has started.
func ChildOutput() *os.File {
	syscall.CloseOnExec(outputs)
	return os.NewFile(outputs, "output")
}

// StartChild starts this program's hidden command with more in its environment. The child ends with its parent. It is closed or killed by the caller.
func StartChild(command string, environment ...string) (*Child, error) {
	if os.Getenv(inChild) != "" {
		return nil, errors.New("a process that works for another starts none: unset " + inChild)
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
	c.process.WaitDelay = Grace // a plugin scanner that the child left behind may hold its output
	c.process.SysProcAttr = alone()
	c.process.Env = append(os.Environ(), "GOTRACEBACK=none", inChild+"="+command) // last words are a line, not the stacks of every thread
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

// run starts the process and reaps it, all on one thread: the system takes the end of the thread that started a child for its parent's
// (golang/go#27505).
func (c *Child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.process.Start()
	started <- err
	if err != nil {
		return
	}
	_ = c.process.Wait() // ProcessState has it
	close(c.gone)
}

// Close ends the child in order, or else kills it, and reaps it.
func (c *Child) Close() {
	c.Input.Close()
	select {
	case <-c.gone:
		c.Output.Close()
	case <-time.After(Grace):
		c.Kill()
	}
}

// Kill ends the child at once and reaps it.
func (c *Child) Kill() {
	c.process.Process.Kill()
	<-c.gone
	c.Input.Close()
	c.Output.Close()
}

// Fate says how the child ended and what it said last. A child that has closed its output and goes on is killed.
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
