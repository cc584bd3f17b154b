package frame

import (
	"strings"
	"testing"
)

// TestOpenCV: a build says the library's version, or that it has none.
func TestOpenCV(t *testing.T) {
	if v := OpenCV(); v != "" && len(strings.Split(v, ".")) < 3 {
		t.Errorf("found %q", v)
	}
}
