package pages

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLocated(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "howto"), 0o755); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(folder, "howto", "cameras.md")
	if err := os.WriteFile(page, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := located("docs/howto/cameras.md", []string{filepath.Join(folder, "none"), folder}); got != page {
		t.Errorf("found %q, expected %q", got, page)
	}
	if got := located("docs/howto/units.md", []string{folder}); got != "docs/howto/units.md" {
		t.Errorf("a page that lies nowhere became %q", got)
	}
}

// What is around a page's name stays, and a page beside the reader keeps its name.
func TestLocatedInText(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("docs/howto", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("docs/howto/cameras.md", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const text = "none; docs/howto/cameras.md says where to look, mydocs/a.md does not"
	if got := Located(text); got != filepath.FromSlash(text) {
		t.Errorf("found %q, expected %q", got, text)
	}
}
