package house

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A package fits in a head: as many files, and as many lines in them, tests left out.
const (
	mostFiles = 20
	mostLines = 3500
)

// room is what a package may take.
type room struct{ files, lines int }

// rooms are the packages with limits of their own: the command line is flags and printing, one file a sub-command.
var rooms = map[string]room{
	"cmd/driftscope": {24, 3000},
}

func TestRooms(t *testing.T) {
	taken := map[string]room{}
	for _, path := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_go.go") { // what a build without cgo has in place of others
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
