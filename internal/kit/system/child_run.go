package system

import (
	"context"
	"os"
	"os/exec"
	"runtime"
)

// RunChild runs a command of this program in a new process, in the given folder, and waits for its end. It returns how the process ended, and its last lines.
// Unlike a Child the process may start children. It ends with this process. If ctx ends, RunChild kills the process and returns ctx's error.
func RunChild(ctx context.Context, folder string, args ...string) (how string, err error) {
	path, err := executable()
	if err != nil {
		return "", err
	}
	var words lastWords
	c := exec.CommandContext(ctx, path, args...)
	c.Args[0] = os.Args[0]
	c.Dir, c.Stdout, c.Stderr, c.WaitDelay, c.SysProcAttr = folder, &words, &words, Grace, alone()
	c.Env = append(os.Environ(), "GOTRACEBACK=none")
	ended := make(chan error)
	go func() { // all on one thread, as in Child.run
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ended <- c.Run()
	}()
	err = <-ended
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if c.ProcessState == nil {
		return "", err
	}
	how = c.ProcessState.String()
	if said := words.String(); said != "" {
		how += ": " + said
	}
	return how, nil
}
