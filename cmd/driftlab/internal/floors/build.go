package floors

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// build holds the programs of one commit.
type build struct {
	folder  string // the checkout
	program string // driftscope
	lab     string // program with the benchmarks: driftlab, or driftscope in a commit without driftlab
	tests   string // the folder of the test programs
	undo    []string
}

// benchmarked lists the packages whose Go benchmarks are figures.
var benchmarked = []string{"online", "sinks/natsink"}

// checkout builds the benchmarks of a checkout that has its program in bin.
func checkout(ctx context.Context, folder string) (*build, error) {
	b := &build{folder: folder, program: filepath.Join(folder, "bin", "driftscope")}
	if !there(b.program) {
		return nil, fmt.Errorf("%s is missing: run make build", b.program)
	}
	if b.lab = filepath.Join(folder, "bin", "driftlab"); !there(b.lab) {
		b.lab = b.program
	}
	var err error
	if b.tests, err = os.MkdirTemp("", "floors-tests-"); err != nil {
		return nil, err
	}
	for _, name := range benchmarked {
		if err := command(ctx, folder, "go", "test", "-c", "-o", b.test(name), "./"+name); err != nil {
			b.remove()
			return nil, err
		}
	}
	return b, nil
}

// there reports whether a file exists.
func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// test returns the path of a package's test program.
func (b *build) test(name string) string {
	return filepath.Join(b.tests, strings.ReplaceAll(name, "/", "-")+".test")
}

// commit builds another commit in its own worktree, by the commit's own Makefile.
func commit(ctx context.Context, ref string) (*build, error) {
	root, err := os.MkdirTemp("", "floors-base-")
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(root, "tree")
	undo := func(b *build) *build {
		b.undo = []string{folder, root}
		return b
	}
	if err := command(ctx, ".", "git", "worktree", "add", "--detach", folder, ref); err != nil {
		undo(&build{}).remove()
		return nil, err
	}
	// The stamp marks this machine as set up, because this checkout's make has done that.
	err = command(ctx, folder, "sh", "-c", "mkdir -p bin && touch bin/.setup && unset MAKEFLAGS MFLAGS && make build STAMPED=false")
	if err != nil {
		undo(&build{}).remove()
		return nil, err
	}
	b, err := checkout(ctx, folder)
	if err != nil {
		undo(&build{}).remove()
		return nil, err
	}
	return undo(b), nil
}

// remove removes the worktree and the build results outside bin.
func (b *build) remove() {
	if b.tests != "" {
		os.RemoveAll(b.tests)
	}
	if len(b.undo) == 0 {
		return
	}
	// Without the context, so it also runs after Ctrl-C. A worktree that does not exist yet is no error.
	_ = exec.Command("git", "worktree", "remove", "--force", b.undo[0]).Run()
	os.RemoveAll(b.undo[1])
}

// command runs a program in a folder. Its error contains the program's output.
func command(ctx context.Context, folder, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = folder
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
