package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is a child program with its output in a file.
type process struct {
	program string
	args    []string
	log     string
	run     *exec.Cmd
	ended   chan struct{}
}

// start starts the program, also after a kill.
func (p *process) start() error {
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	p.run = exec.Command(p.program, p.args...)
	p.run.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	p.run.Stdout, p.run.Stderr = out, out
	p.run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the bench
	if err := p.run.Start(); err != nil {
		return err
	}
	p.ended = make(chan struct{})
	go func(run *exec.Cmd, ended chan struct{}) { _ = run.Wait(); close(ended) }(p.run, p.ended)
	return nil
}

// signal sends a signal.
func (p *process) signal(s syscall.Signal) {
	if p.run != nil {
		_ = p.run.Process.Signal(s)
	}
}

// kill ends the program at once, even if frozen.
func (p *process) kill() {
	if p.run != nil {
		p.signal(syscall.SIGKILL)
		<-p.ended
	}
}

// stop ends the program in order, as Ctrl-C does.
func (p *process) stop(ctx context.Context, within time.Duration) error {
	p.signal(syscall.SIGINT)
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(within):
		return fmt.Errorf("%s: did not end within %v of Ctrl-C: see %s", p.args[0], within, p.log)
	}
}

// gone reports whether the program has ended.
func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}
