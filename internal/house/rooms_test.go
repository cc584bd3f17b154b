package house

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The largest size of a package that a reader can still keep in mind: files and lines, without tests.
const (
	mostFiles = 20
	mostLines = 3500
)

// room is the largest size of a package.
type room struct{ files, lines int }

// rooms lists the packages with their own limits. The command line consists of flags and printing, with one file per sub-command.
var rooms = map[string]room{
	"cmd/driftscope": {24, 3000},
}

func TestRooms(t *testing.T) {
	taken := map[string]room{}
	for _, path := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_go.go") { // files that replace others in a build without cgo
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		r := taken[folder]
		taken[folder] = room{r.files + 1, r.lines + bytes.Count(text, []byte("\n"))}
	}
	for folder, r := range taken {
		most, own := rooms[folder]
		if !own {
			most = room{mostFiles, mostLines}
		}
		if r.files > most.files || r.lines > most.lines {
			t.Errorf("%s has %d files of %d lines, expected at most %d and %d: split it", folder, r.files, r.lines, most.files, most.lines)
		}
	}
	if len(taken) < 30 {
		t.Errorf("found %d packages, expected the whole house", len(taken))
	}
}
