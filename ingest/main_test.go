package ingest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the suite when a goroutine or a Mat was left behind; leakedMats counts them under -tags matprofile.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if n := leakedMats(); n != 0 && code == 0 {
			fmt.Fprintf(os.Stderr, "%d Mats were not closed\n", n)
			code = 1
		}
		os.Exit(code)
	}))
}
