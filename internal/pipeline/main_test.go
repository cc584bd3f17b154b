package pipeline

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the suite when a goroutine or, under -tags matprofile, a Mat outlives it.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if n := leakedMats(); n != 0 {
		fmt.Fprintf(os.Stderr, "%d Mats were not closed\n", n)
		code = 1
	}
	os.Exit(code)
}
