package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"gocv.io/x/gocv"
)

// versionCmd says which build this is.
type versionCmd struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// build is what the linker wrote into the program.
type build struct {
	Version string `json:"version,omitempty"` // a tag, or what Go makes of the commit; empty where the build knows neither
	Commit  string `json:"commit,omitempty"`  // with a + where files were changed since; empty where it is not known
	Date    string `json:"date,omitempty"`    // the commit's
	Go      string `json:"go"`
	OpenCV  string `json:"opencv"`
	System  string `json:"system"`
}

// Run prints the build.
func (c *versionCmd) Run() error {
	b := thisBuild()
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(b)
	}
	const unknown = "unknown"
	_, err := fmt.Printf("driftscope %s\ncommit     %s\ndate       %s\nbuilt with %s, OpenCV %s, for %s\n",
		cmp.Or(b.Version, unknown), cmp.Or(b.Commit, unknown), cmp.Or(b.Date, unknown), b.Go, b.OpenCV, b.System)
	return err
}

func thisBuild() build {
	b := build{Go: runtime.Version(), OpenCV: gocv.OpenCVVersion(), System: runtime.GOOS + "/" + runtime.GOARCH}
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
