package console

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestLocated(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "docs")
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
	keys := filepath.Join(folder, "..", "configs", "README.md")
	if err := os.MkdirAll(filepath.Dir(keys), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keys, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := located(ConfigurationPage, []string{folder}); got != keys {
		t.Errorf("found %q, expected %q", got, keys)
	}
	if got := located("docs/howto/units.md", []string{folder}); got != "docs/howto/units.md" {
		t.Errorf("a page that lies nowhere became %q", got)
	}
}

// The text around a page's name stays unchanged, and a page in the current folder keeps its name.
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

// About keeps the text and the identity of an error. PageOf returns the outermost page, or "" if the text already names a page.
func TestAbout(t *testing.T) {
	inner := fmt.Errorf("movie.tif: %w", os.ErrNotExist)
	err := fmt.Errorf("run: %w", About(RecordingsPage, inner))
	if err.Error() != "run: "+inner.Error() || !errors.Is(err, os.ErrNotExist) || PageOf(err) != RecordingsPage {
		t.Errorf("%v has page %q", err, PageOf(err))
	}
	for name, err := range map[string]error{"none": inner, "nil": About(RecordingsPage, nil), "named": About(RecordingsPage, errors.New("no camera: docs/howto/cameras.md says where to look"))} {
		if page := PageOf(err); page != "" {
			t.Errorf("%s: found page %q", name, page)
		}
	}
	if page := PageOf(errors.Join(errors.New("first"), About(ServersPage, errors.New("second")))); page != ServersPage {
		t.Errorf("of joined errors: found page %q", page)
	}
}
