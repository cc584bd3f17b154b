package suite

import (
	"os"
	"path/filepath"
	"testing"
)

// Python puts a shell script called python3 first in the path. If body is empty, no python3 is found.
func Python(t *testing.T, body string) {
	t.Helper()
	folder := t.TempDir()
	if body == "" {
		t.Setenv("PATH", folder)
		return
	}
	if err := os.WriteFile(filepath.Join(folder, "python3"), []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
}
