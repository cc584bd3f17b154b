package system

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReadBounded: a file is read completely, or refused if it is too large, not a regular file, or missing.
func TestReadBounded(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "text")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		limit int64
		want  string
		good  bool
	}{
		{path, 5, "12345", true}, {path, 4, "", false}, {folder, 1 << 20, "", false}, {path + "-not", 5, "", false},
	} {
		if data, err := ReadBounded(c.path, c.limit); (err == nil) != c.good || c.good && string(data) != c.want {
			t.Errorf("%s, at most %d: found %q, %v", c.path, c.limit, data, err)
		}
	}
}
