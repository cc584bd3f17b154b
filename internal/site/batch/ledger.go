package batch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"driftscope/internal/kit/system"
)

const (
	ledgerName = "batch.jsonl" // in --out
	heldName   = ".batch.lock" // exists while a batch writes there
	maxLedger  = 1 << 30
)

// entry is the outcome of one film: a result in --out, or a failure.
type entry struct {
	Film     string   `json:"film"`
	Path     string   `json:"path"`
	Job      string   `json:"job"`
	Digest   string   `json:"digest"`
	Settings string   `json:"settings"`
	Out      string   `json:"out,omitempty"` // empty if it failed, or a table has no row
	Bytes    int64    `json:"bytes"`
	SHA256   string   `json:"sha256,omitempty"`
	Failed   []string `json:"failed,omitempty"`
	Attempts int      `json:"attempts"`
	Worker   string   `json:"worker"`
	Build    string   `json:"build"`
	Seconds  float64  `json:"seconds"`
	account
}

// ledger records the outcomes of a batch in its folder. The same command reads it to find existing results.
type ledger struct {
	folder string
	held   *os.File

	mu      sync.Mutex
	entries map[string]entry // by film
}

// openLedger reads the existing ledger, and keeps other batches out of the folder.
func openLedger(folder string) (*ledger, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	l := &ledger{folder: folder, entries: map[string]entry{}}
	lock := filepath.Join(folder, heldName)
	var err error
	if l.held, err = system.Create(lock, 0o600); errors.Is(err, fs.ErrExist) {
		if l.held = system.Take(lock); l.held == nil {
			return nil, fmt.Errorf("--out: another batch writes into %s now: wait for it, or give another folder", folder)
		}
	} else if err != nil {
		return nil, fmt.Errorf("--out: %w: give a folder that can be written to", err)
	}
	if err := l.read(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// close allows other batches to use the folder.
func (l *ledger) close() {
	os.Remove(l.held.Name())
	l.held.Close()
}

func (l *ledger) path() string { return filepath.Join(l.folder, ledgerName) }

// read reads the existing lines.
func (l *ledger) read() error {
	data, err := system.ReadBounded(l.path(), maxLedger)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("%s: line %d was not written by a batch (%w): remove the file, and the command fetches or tracks its films again", l.path(), len(l.entries)+1, err)
		}
		l.entries[e.Film] = e
	}
	return lines.Err()
}

// add writes the ledger with e in it.
func (l *ledger) add(e entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries[e.Film] = e
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	for _, e := range l.sorted() {
		if err := encoder.Encode(e); err != nil {
			return err
		}
	}
	return system.WriteFile(l.path(), text.Bytes())
}

func (l *ledger) sorted() []entry {
	all := make([]entry, 0, len(l.entries))
	for _, e := range l.entries {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.Film, b.Film) })
	return all
}

// has reports whether a complete result from the same film and settings exists.
func (l *ledger) has(ctx context.Context, name string, j *job) bool {
	l.mu.Lock()
	e, found := l.entries[name]
	l.mu.Unlock()
	switch {
	case !found || e.Job != j.ID || len(e.Failed) > 0:
		return false
	case e.Out == "":
		return true
	}
	f := film{path: filepath.Join(l.folder, e.Out)}
	s, err := f.identity(ctx)
	return err == nil && s == sum{e.SHA256, e.Bytes}
}
