package suite

import (
	"fmt"
	"os"
	"testing"
)

// Main runs the tests of a package, and fails if they leave a goroutine or a Mat behind.
func Main(m *testing.M) { os.Exit(Mats(Goroutines(m.Run()))) }

// Mats returns status, or Unsound if a Mat is still open.
func Mats(status int) int {
	if n := OpenMats(); n != 0 {
		fmt.Fprintf(os.Stderr, "%d Mats were not closed\n", n)
		return Unsound
	}
	return status
}
