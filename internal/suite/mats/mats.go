// Package mats fails the tests of a package, or a process, that leaves one of OpenCV's matrices open. They are counted under -tags matprofile.
package mats

import (
	"fmt"
	"os"
	"testing"

	"driftscope/internal/suite"
)

// Main runs the tests of a package, and fails them if they leave a goroutine or a Mat behind.
func Main(m *testing.M) { os.Exit(Sound(suite.Goroutines(m.Run()))) }

// Sound returns status, or suite.Unsound if a Mat was left open.
func Sound(status int) int {
	if n := Open(); n != 0 {
		fmt.Fprintf(os.Stderr, "%d Mats were not closed\n", n)
		return suite.Unsound
	}
	return status
}
