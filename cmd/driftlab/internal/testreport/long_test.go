package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	const long = "package p\nfunc TestA(t *testing.T) { t.Run(\"\", func(t *testing.T) { suite.Long(t) }) }\nfunc TestB(t *testing.T) {}\nfunc BenchmarkC(b *testing.B) { suite.Long(b) }\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
		fails string
	}{
		"two packages": {
			files: map[string]string{"a/a_test.go": long, "a/b_test.go": "package p\nfunc TestB(t *testing.T) { if testing.Short() { return } }\n", "b/c/a_test.go": long, "d/d_test.go": "package p\nfunc TestD(t *testing.T) {}\n"},
			want:  []string{"-run=^(TestA|TestB)$", "./a", "./b/c"},
		},
		"none":    {files: map[string]string{"d/d_test.go": "package p\nfunc TestD(t *testing.T) {}\n"}, fails: "found no long test"},
		"another": {files: map[string]string{"d/d_test.go": "package p\nfunc built(t *testing.T) { suite.Long(t) }\n"}, fails: "d_test.go:2:1: built asks"},
		"torn":    {files: map[string]string{"d/d_test.go": "package p\nfunc"}, fails: "expected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for path, text := range c.files {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := arguments(".")
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("found %v, expected an error with %q", err, c.fails)
				}
				return
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("found %q, %v, expected %q", got, err, c.want)
			}
		})
	}
}
