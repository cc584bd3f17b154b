package wire

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// The documentation and its Python publisher name exactly the headers that this package reads.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/frames.md")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`Driftscope-[A-Za-z-]+`).FindAllString(string(text), -1)
	for _, name := range said {
		if !slices.Contains(names, name) {
			t.Errorf("docs/reference/frames.md names %s, which is not read", name)
		}
	}
	for _, name := range names {
		if !slices.Contains(said, name) {
			t.Errorf("docs/reference/frames.md does not name %s", name)
		}
	}
}
