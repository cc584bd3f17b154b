// Driftscope tracks objects in a microscope's feed in latent coordinates and publishes them with their law of motion.
package main

import (
	"context"
	"os"

	"driftscope/internal/job/demo"
	"driftscope/internal/kit/console"
)

func main() { console.Main(execute) }

// execute runs one command line and returns its exit status: 0 done, 1 failed while running, 2 wrong usage or configuration.
func execute(ctx context.Context, args []string) int {
	p := console.Program{Name: "driftscope", Description: "Track a microscope's feed: what moves, by which law, and when the law changes.", Commands: &commands{}, Options: briefHelp}
	if len(args) == 0 {
		p.Report(demo.Welcome(os.Stdout))
		return 0
	}
	return p.Execute(ctx, familiar(args))
}

// familiar translates help COMMAND and --version, which other programs accept, into this program's commands.
func familiar(args []string) []string {
	switch args[0] {
	case "help":
		return append(args[1:len(args):len(args)], "--help")
	case "--version":
		return append([]string{"version"}, args[1:]...)
	}
	return args
}
