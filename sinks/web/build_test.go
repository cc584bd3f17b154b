package web

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// requireTools, when set, makes a test fail that lacks a program it needs, instead of skipping it: so it is where releases are made.
const requireTools = "DRIFTSCOPE_TEST_TOOLS"

// TestBuild: dist is what the sources in page give, byte for byte, and the page's own tests pass.
func TestBuild(t *testing.T) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			advice := tool + " is not installed: internal/setup/install.sh tests installs it"
			if os.Getenv(requireTools) != "" {
				t.Fatal(advice)
			}
			t.Skip(advice)
		}
	}
	folder := filepath.Join(t.TempDir(), "page") // a copy, so that nobody's libraries are touched
	copySources(t, folder)
	built := filepath.Join(t.TempDir(), "dist")
	for _, args := range [][]string{
		{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"},
		{"node", "--test"},
		{"node", "build.mjs", built},
	} {
		command := exec.CommandContext(t.Context(), args[0], args[1:]...)
		command.Dir = folder
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	entries, err := os.ReadDir(built)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadDir("dist"); err != nil || len(kept) != len(entries) {
		t.Errorf("dist holds %d files (%v), the build makes %d: run make web", len(kept), err, len(entries))
	}
	for _, entry := range entries {
		fresh, err := os.ReadFile(filepath.Join(built, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := os.ReadFile(filepath.Join("dist", entry.Name())); err != nil || !bytes.Equal(kept, fresh) {
			t.Errorf("dist/%s (%v) is not what the sources give: run make web", entry.Name(), err)
		}
	}
}

// copySources copies page but for the libraries that somebody may have installed there.
func copySources(t *testing.T, folder string) {
	t.Helper()
	for _, part := range []string{".", "src", "style", "test"} {
		if err := os.MkdirAll(filepath.Join(folder, part), 0o700); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join("page", part, "*.*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, part, filepath.Base(file)), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
