package ingest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"driftscope/internal/fakecamera"
)

// TestMain fails the suite when a goroutine or a Mat was left behind; leakedMats counts them under -tags matprofile. Started by a source
// that works apart, the test's own binary is that source's child.
func TestMain(m *testing.M) {
	kinds["trial"] = apart("trial", newTrial)
	if len(os.Args) == 2 && os.Args[1] == captureCommand {
		err := fakecamera.WithoutRawSockets()
		if err == nil {
			err = CaptureProcess(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if n := leakedMats(); n != 0 && code == 0 {
			fmt.Fprintf(os.Stderr, "%d Mats were not closed\n", n)
			code = 1
		}
		os.Exit(code)
	}))
}
