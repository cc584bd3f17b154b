package frame

import (
	"strings"
	"testing"
)

// TestOpenCV: a build returns the library's version, or "" without the library.
func TestOpenCV(t *testing.T) {
	if v := OpenCV(); v != "" && len(strings.Split(v, ".")) < 3 {
		t.Errorf("found %q", v)
	}
}
