package console

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"
)

// Program describes a command line: the program's name, its purpose, and its commands (a pointer to a struct for kong).
type Program struct {
	Name, Description string
	Commands          any
	Options           []kong.Option
}

// Main runs the command line of this process, cancels it on signals, and exits with its status.
func Main(execute func(ctx context.Context, args []string) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal ends the run in order, the second at once
	os.Exit(execute(ctx, os.Args[1:]))
}

// Execute runs one command line and returns its exit status: 0 done, 1 failed while running, 2 wrong usage or configuration.
func (p *Program) Execute(ctx context.Context, args []string) (status int) {
	defer func() {
		if bug := recover(); bug != nil {
			p.Report(fmt.Errorf("a mistake in %s itself, please report it with the lines below: %v", p.Name, bug))
			debug.PrintStack()
			status = 1
		}
	}()
	exited := -1
	options := append([]kong.Option{kong.Name(p.Name), kong.UsageOnError(), kong.Exit(func(code int) { exited = code }), kong.ValueFormatter(withDefault),
		kong.Description(p.Description), kong.BindTo(ctx, (*context.Context)(nil))}, p.Options...)
	parser, err := kong.New(p.Commands, options...)
	if err != nil {
		p.Report(err)
		return 1
	}
	placeholders(parser.Model.Node)
	command, err := parser.Parse(args)
	if exited >= 0 { // --help has been printed
		return exited
	}
	if err != nil {
		err = Usage(fmt.Errorf("%w: %s --help lists the options", err, mistaken(p.Name, err)))
	} else if err = intervals(command); err == nil {
		err = interrupted(ctx, command.Run())
	}
	p.Report(err)
	return Status(err)
}
