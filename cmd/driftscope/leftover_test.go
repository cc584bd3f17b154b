package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/kit/system"
	"driftscope/internal/suite"
)

// unfinishedFiles lists the unfinished files in a folder.
func unfinishedFiles(t *testing.T, folder string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*"+system.Suffix))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestKilledRunIsSwept: a killed run leaves an unfinished file per table and perhaps an unfinished state. The next run removes them and reports
// it. It keeps a user's file with a similar name.
func TestKilledRunIsSwept(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	written(t, folder, map[string]string{"bead.yaml": "stream: bead\nsource: {sim: {name: molecule}}\nonline: {state: law}\nnats: {url: \"off\"}\n" +
		"sinks: [parquet: {path: out.parquet}, jsonl: {path: out.jsonl, append: true}]\n"})
	const kills = 2
	for range kills {
		run := begin(t, folder, "run", "bead.yaml", "--no-status")
		before := int64(0)
		if info, err := os.Stat(filepath.Join(folder, "out.jsonl")); err == nil {
			before = info.Size()
		}
		run.until("lines", func() bool {
			info, err := os.Stat(filepath.Join(folder, "out.jsonl"))
			return err == nil && info.Size() > before
		})
		if left := unfinishedFiles(t, folder); len(left) != 7 {
			t.Fatalf("%v are being written, expected a file for each of the seven tables", left)
		}
		run.kill()
		suite.LeaveUnfinished(t, filepath.Join(folder, "law"))
	}
	mine := filepath.Join(folder, "law.mine"+system.Suffix)
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := drive(t, folder, "run", "bead.yaml", "--no-status", "--frames", "20")
	if o.status != 0 || !strings.Contains(o.errors, "removed ") || !strings.Contains(o.errors, "law.00112233445566ff.partial") || !strings.Contains(o.errors, "files=7") {
		t.Errorf("status %d, expected what was removed:\n%s", o.status, o.errors)
	}
	if left := unfinishedFiles(t, folder); !slices.Equal(left, []string{mine}) {
		t.Errorf("found %v, expected %s alone", left, mine)
	}
}
