package console

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// Build is the build information from the linker.
type Build struct {
	Version string `json:"version,omitempty"` // a tag, or Go's pseudo-version of the commit; empty if unknown
	Commit  string `json:"commit,omitempty"`  // commit, with a + if files have changed since; empty if unknown
	Date    string `json:"date,omitempty"`    // date of the commit
	Go      string `json:"go"`
	OpenCV  string `json:"opencv"` // version of the library, which the caller sets; empty in a build without it
	System  string `json:"system"`
}

// ReadBuild returns the information of this build.
func ReadBuild() Build {
	b := Build{Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	changed := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				changed = "+"
			}
		}
	}
	b.Commit += changed
	return b
}

// CommandLine returns the running command line as typed.
func CommandLine() string {
	program := "driftscope"
	if filepath.Base(os.Args[0]) == "driftlab" {
		program = "driftlab"
	}
	return strings.Join(append([]string{program}, os.Args[1:]...), " ")
}
