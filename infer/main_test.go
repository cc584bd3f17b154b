package infer_test

import (
	"fmt"
	"os"
	"testing"

	"driftscope/infer"
)

// loadAndExit names the model that the test binary only loads when it runs as a child: see TestLoadIsQuiet.
const loadAndExit = "DRIFTSCOPE_TEST_LOAD"

// TestMain fails the suite when a Mat was left open; leakedMats counts them under -tags matprofile.
func TestMain(m *testing.M) {
	if path := os.Getenv(loadAndExit); path != "" {
		_, err := infer.Load(path)
		fmt.Println(err)
		return
	}
	code := m.Run()
	if n := leakedMats(); n != 0 && code == 0 {
		fmt.Fprintf(os.Stderr, "%d Mats were not closed\n", n)
		code = 1
	}
	os.Exit(code)
}
