package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"driftscope/ingest/ingesttest"
)

// TestCorpus: every file is recognised by its first bytes, and gives pixels or an error of one line, quickly and in bounded memory. A file that tifffile
// decoded, by the manifest, has the same shape, type, minimum and maximum here, or the error names the unsupported feature.
func TestCorpus(t *testing.T) {
	const (
		effort   = 5 * time.Second // processor time, because a busy machine may need longer
		patience = time.Minute
		memory   = 1 << 30
	)
	folder, files := ingesttest.Corpus(t)
	pixels, agreed := 0, 0
	for name, l := range files {
		// The link's name has no extension, so only the first bytes reveal the format.
		link := filepath.Join(t.TempDir(), "recording")
		if err := os.Symlink(filepath.Join(folder, name), link); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		before := worked(t)
		kind, _, err := Guess(link)
		var m ingesttest.Measured
		if err != nil {
			m.Err = err
		} else if m = ingesttest.Measure(ctx, kinds[kind], "{path: "+link+"}"); kind != "tiff" {
			t.Errorf("%s: kind %s, tiff expected", name, kind)
		}
		if took := worked(t) - before; ctx.Err() != nil || took > effort {
			t.Errorf("%s: not read within %v, or %v of work", name, patience, effort)
		}
		cancel()
		switch {
		case m.Err != nil && strings.ContainsRune(m.Err.Error(), '\n'):
			t.Errorf("%s: the error is not one line: %q", name, m.Err)
		case m.Err == nil && m.Frames == 0:
			t.Errorf("%s: neither pixels nor an error", name)
		case m.Err == nil && l.Decoded:
			m.Compare(t, name, l)
			agreed++
		}
		if m.Frames > 0 {
			pixels++
		}
	}
	if peak := peakMemory(t); peak > memory {
		t.Errorf("%d bytes of memory were resident, at most %d expected", peak, memory)
	}
	t.Logf("%d of %d files gave pixels, %d as the manifest says", pixels, len(files), agreed)
	// The other files have unsupported features (CMYK, half floats, 64-bit counts, palettes of 16 bits), which errors name, or are damaged on purpose.
	if agreed < 100 {
		t.Errorf("%d files agree with the manifest, at least 100 expected", agreed)
	}
}

// worked returns the processor time of this process.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// peakMemory returns the largest resident memory that this process has had.
func peakMemory(t *testing.T) (n int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skipf("no account of resident memory here: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &n); err == nil {
			return n << 10
		}
	}
	t.Fatal("no VmHWM in /proc/self/status")
	return 0
}
