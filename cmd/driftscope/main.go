// Driftscope follows a microscope's feed in latent coordinates and publishes them with their law of motion.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"driftscope/internal/demo"
	"driftscope/internal/exit"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal ends the run in order, a second one at once
	os.Exit(execute(ctx, os.Args[1:]))
}

// execute runs one command line and returns its exit status: 0 done, 1 failed while running, 2 wrong usage or configuration.
func execute(ctx context.Context, args []string) (status int) {
	defer func() {
		if bug := recover(); bug != nil {
			exit.Report(fmt.Errorf("driftscope has a bug: please report it with the lines below: %v", bug))
			debug.PrintStack()
			status = 1
		}
	}()
	if len(args) == 0 {
		exit.Report(demo.Welcome(os.Stdout))
		return 0
	}
	exited := -1
	parser, err := kong.New(&commands{}, kong.Name("driftscope"), kong.UsageOnError(), kong.Exit(func(code int) { exited = code }), kong.ValueFormatter(withDefault),
		kong.Description("Track a microscope's feed: what moves, by which law, and when the law changes."),
		kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		exit.Report(err)
		return 1
	}
	command, err := parser.Parse(args)
	if exited >= 0 { // --help has been printed
		return exited
	}
	if err != nil {
		err = exit.Usage(fmt.Errorf("%w: %s --help lists what can be given", err, mistaken(err)))
	} else {
		err = command.Run()
	}
	exit.Report(err)
	return exit.Status(err)
}
