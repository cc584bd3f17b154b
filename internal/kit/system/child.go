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

// Grace is the time in which a child may end in order. A camera without an orderly end refuses other programs for some seconds.
const Grace = time.Second

// outputs is the descriptor of a child's output to its parent. Libraries print to standard output.
const outputs = 3

// inChild is set in the environment of a child, which may start no child: a program without the command would start itself for ever.
const inChild = "DRIFTSCOPE_CHILD"

// Child is a process of this program that works for another. Its last printed lines are kept.
type Child struct {
	Input   io.WriteCloser // its standard input
	Output  *os.File       // the child's ChildOutput()
	process *exec.Cmd
	words   lastWords
	gone    chan struct{} // closed when the process has been reaped
}

// ChildOutput returns a child's output to its parent. The parent detects this process's end, whatever it has started.
func ChildOutput() *os.File {
	syscall.CloseOnExec(outputs)
	return os.NewFile(outputs, "output")
}

// StartChild starts this program's hidden command with an extended environment. The child ends with its parent. The caller closes or kills it.
func StartChild(command string, environment ...string) (*Child, error) {
	if os.Getenv(inChild) != "" {
		return nil, errors.New("a child process may start no other: unset " + inChild)
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
	c.process.Env = append(os.Environ(), "GOTRACEBACK=none", inChild+"="+command) // last words are a line, without the stacks of all threads
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

// run starts the process and reaps it, all on one thread: when the thread that started a child ends, the system takes that for the parent's
// end (golang/go#27505).
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

// Close lets the child end in order, kills it after Grace, and reaps it.
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
