package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"

	"driftscope/internal/flow/frame"
	"driftscope/internal/kit/console"
)

// versionCmd prints the build.
type versionCmd struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run prints the build.
func (c *versionCmd) Run() error {
	b := console.ReadBuild()
	b.OpenCV = frame.OpenCV()
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(b)
	}
	const unknown = "unknown"
	library := "OpenCV " + b.OpenCV
	if b.OpenCV == "" {
		library = "without OpenCV"
	}
	_, err := fmt.Printf("driftscope %s\ncommit     %s\ndate       %s\nbuilt with %s, %s, for %s\n",
		cmp.Or(b.Version, unknown), cmp.Or(b.Commit, unknown), cmp.Or(b.Date, unknown), b.Go, library, b.System)
	return err
}
