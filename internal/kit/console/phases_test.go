package console

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPhases: a phase shorter than ten seconds prints nothing. A longer one prints a line with its duration every ten seconds.
func TestPhases(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stderr
	os.Stderr = w
	defer func() { os.Stderr = was }()
	synctest.Test(t, func(t *testing.T) {
		p := NewPhases("reading a.csv")
		time.Sleep(9 * time.Second)
		p.Next("fitting")
		time.Sleep(12 * time.Second)
		p.End()
	})
	w.Close()
	said := make([]byte, 1000)
	n, _ := r.Read(said)
	if got := string(said[:n]); got != "fitting: 1s so far\nfitting: 11s so far\n" {
		t.Errorf("found %q", strings.TrimSpace(got))
	}
}
