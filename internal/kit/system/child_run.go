package system

import (
	"context"
	"os"
	"os/exec"
	"runtime"
)

// RunChild has a new process of this program run a command to its end in a folder, and says how it ended and what it said last. Unlike a Child it may
// start children. It ends with this process, and is killed where ctx ends, which is then the error.
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
	go func() { // all on one thread, as Child.run
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
