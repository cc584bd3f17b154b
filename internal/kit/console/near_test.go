package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/alecthomas/kong"
)

// TestNear: a mistyped name finds the similar file, and a name with more differences finds none.
func TestNear(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"film.tif", "notes", "a"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for asked, want := range map[string]string{"flim.tif": "film.tif", "film.tiff": "film.tif", "Film.tif": "film.tif", "ntes": "notes", "b": "", "movie.tif": "", "none/film.tif": ""} {
		if want != "" {
			want = filepath.Join(folder, want)
		}
		if got := near(filepath.Join(folder, asked)); got != want {
			t.Errorf("%s: found %q, expected %q", asked, got, want)
		}
	}
	t.Chdir(folder)
	if got := near("flim.tif"); got != "film.tif" {
		t.Errorf("found %q", got)
	}
	path := &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}
	for of, err := range map[string]error{"x": fmt.Errorf("law: %w", path), "y": fmt.Errorf("run: %w", Absent("y", errors.New("y does not exist"))), "": errors.New("else")} {
		if got := missing(err); got != of {
			t.Errorf("%v: found %q", err, got)
		}
	}
}

// TestEdits: two exchanged neighbours count as one edit.
func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		n    int
	}{{"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"ca", "abc", 3}, {"kitten", "sitting", 3}} {
		if got := edits(c.a, c.b); got != c.n || edits(c.b, c.a) != c.n {
			t.Errorf("%s, %s: found %d, expected %d", c.a, c.b, got, c.n)
		}
	}
}

// TestIntervals: an interval that a command cannot distinguish from a missing flag is refused.
func TestIntervals(t *testing.T) {
	for arg, fine := range map[string]bool{"--fps=0": false, "--fps=-1": false, "--dt=NaN": false, "--dt=+Inf": false, "--dt=0.02": true, "--fps=25": true, "--dt=60": true} {
		var grammar struct {
			FPS float64 `name:"fps"`
			DT  float64 `name:"dt"`
		}
		k, err := kong.New(&grammar)
		if err != nil {
			t.Fatal(err)
		}
		placeholders(k.Model.Node)
		at, err := k.Parse([]string{arg})
		if err != nil {
			t.Fatal(err)
		}
		if err := intervals(at); (err == nil) != fine || err != nil && Status(err) != 2 {
			t.Errorf("%s: %v", arg, err)
		}
		if got := k.Model.Flags[1].FormatPlaceHolder(); got != "N" {
			t.Errorf("a rate is shown as %s", got)
		}
	}
}

// TestInterrupted: after Ctrl-C one line reports that the work is incomplete, and real errors are kept.
func TestInterrupted(t *testing.T) {
	ended, stop := context.WithCancel(t.Context())
	stop()
	real := errors.New("the disk is full")
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{ended, fmt.Errorf("film: %w", context.Canceled), "interrupted before the work was complete"},
		{ended, real, real.Error()},
		{ended, errors.Join(real, context.Canceled), "the disk is full\ncontext canceled"},
		{t.Context(), context.Canceled, "context canceled"},
	} {
		if got := interrupted(c.ctx, c.err); got.Error() != c.want {
			t.Errorf("found %q, expected %q", got, c.want)
		}
	}
	if interrupted(ended, nil) != nil {
		t.Error("a command that ended in order failed")
	}
}
