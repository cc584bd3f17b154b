package soak

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// marker is an environment variable of every child, by which leftovers are found. Its value is the run's folder.
const marker = "DRIFTSCOPE_SOAK"

// process is a child that faults kill, freeze and restart. Its output goes to a file and, line by line, to watchers.
type process struct {
	name    string
	folder  string // working folder
	args    func(life int) ([]string, error)
	line    func(errors bool, text string) // called for each line of output; may be nil
	ended   func(status *os.ProcessState)  // called at an unexpected end; may be nil
	root    string
	mu      sync.Mutex
	command *exec.Cmd
	lives   int
	wanted  bool // the process should be running
	begun   time.Time
	gone    chan struct{}
}

// start begins a life, unless one is running.
func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.command != nil {
		return nil
	}
	args, err := p.args(p.lives + 1)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	log, err := os.OpenFile(filepath.Join(p.root, p.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "--- %s: life %d: %s\n", time.Now().UTC().Format(time.RFC3339), p.lives+1, strings.Join(args, " "))
	c := exec.Command(args[0], args[1:]...)
	c.Dir, c.Env, c.WaitDelay = p.folder, append(os.Environ(), marker+"="+p.root), 10*time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	lines := func(errors bool) (*io.PipeWriter, chan struct{}) {
		r, w := io.Pipe()
		done := make(chan struct{})
		go func() { defer close(done); p.read(r, log, errors) }()
		return w, done
	}
	out, outDone := lines(false)
	problems, problemsDone := lines(true)
	c.Stdout, c.Stderr = out, problems
	if err := c.Start(); err != nil {
		return err
	}
	gone := make(chan struct{})
	p.command, p.wanted, p.begun, p.gone = c, true, time.Now(), gone
	p.lives++
	go func() {
		c.Wait() // ProcessState has the error
		out.Close()
		problems.Close()
		<-outDone
		<-problemsDone
		log.Close()
		p.mu.Lock()
		unwanted := p.wanted && p.command == c
		p.command = nil
		p.mu.Unlock()
		close(gone)
		if unwanted && p.ended != nil {
			p.ended(c.ProcessState)
		}
	}()
	return nil
}

// read copies output to the log and passes it on line by line.
func (p *process) read(r io.Reader, log io.Writer, errors bool) {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		text, err := lines.ReadString('\n')
		if text != "" {
			io.WriteString(log, text)
			if p.line != nil {
				p.line(errors, strings.TrimRight(text, "\n"))
			}
		}
		if err != nil {
			return
		}
	}
}

// again starts a new life unless the last one was ended on purpose.
func (p *process) again() error {
	p.mu.Lock()
	wanted := p.wanted
	p.mu.Unlock()
	if !wanted {
		return nil
	}
	return p.start()
}

// signal sends a signal, and reports whether the process was alive.
func (p *process) signal(what syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.command != nil && p.command.Process.Signal(what) == nil
}

// kill ends the life as a crash would.
func (p *process) kill() {
	p.mu.Lock()
	c, gone := p.command, p.gone
	p.wanted = false
	if c != nil {
		c.Process.Kill()
	}
	p.mu.Unlock()
	if gone != nil {
		<-gone
	}
}

// end asks the process to end in order, as Ctrl-C does, and waits for a limited time. It returns the exit status, or -1 if it had to kill the process.
func (p *process) end(patience time.Duration) int {
	p.mu.Lock()
	c, gone := p.command, p.gone
	p.wanted = false
	p.mu.Unlock()
	if c == nil {
		return 0
	}
	c.Process.Signal(syscall.SIGCONT)
	c.Process.Signal(syscall.SIGINT)
	select {
	case <-gone:
		return c.ProcessState.ExitCode()
	case <-time.After(patience):
		c.Process.Signal(syscall.SIGQUIT) // its log then shows where it hangs
		time.Sleep(time.Second)
		p.kill()
		return -1
	}
}

// alive returns the process ID, 0 if it is not running, the number of its current life, and the start of this life.
func (p *process) alive() (pid, life int, since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.command == nil {
		return 0, p.lives, p.begun
	}
	return p.command.Process.Pid, p.lives, p.begun
}

// leftovers returns the processes started by the run in root that still exist.
func leftovers(root string) (pids []int) {
	entries, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, e := range entries {
		var pid int
		fmt.Sscanf(e, "/proc/%d/", &pid)
		env, err := os.ReadFile(e)
		if err == nil && pid != os.Getpid() && strings.Contains(string(env), marker+"="+root+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}
