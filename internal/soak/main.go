package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the command line's.
type options struct {
	duration time.Duration
	seed     uint64
	account  string // the file that the account is written to
	binary   string // driftscope as it is shipped
	mats     string // the same under -tags matprofile, which tells how many Mats are open
	without  string // a regular expression of faults that are left out
	keep     bool   // the folder stays also where the audit holds
}

func main() {
	var o options
	flag.DurationVar(&o.duration, "for", 10*time.Minute, "how long the programs run")
	flag.Uint64Var(&o.seed, "seed", 0, "of every fault; 0 draws one")
	flag.StringVar(&o.account, "out", "out/soak.md", "the file that the account is written to")
	flag.StringVar(&o.binary, "driftscope", "bin/driftscope", "the program")
	flag.StringVar(&o.mats, "mats", "", "the program built with -tags matprofile, which counts OpenCV's matrices; without one they are not audited")
	flag.StringVar(&o.without, "without", "", "leave out the faults whose names this regular expression matches")
	flag.BoolVar(&o.keep, "keep", false, "keep the folder with all logs also where the audit holds")
	flag.Parse()
	if err := isolate(); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if o.seed == 0 {
		o.seed = rand.Uint64() >> 32
	}
	held, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
	}
	if !held || err != nil {
		os.Exit(1)
	}
}

// run builds the rig, lets it run under the plan's faults, ends it, audits it and writes the account.
func run(ctx context.Context, o options) (held bool, err error) {
	r, err := newRig(o)
	if err != nil {
		return false, err
	}
	defer func() { r.close(held && err == nil && !o.keep) }()
	r.say("seed %d, %v, in %s", o.seed, o.duration, r.folder)
	if err := r.start(ctx); err != nil {
		return false, err
	}
	r.suffer(ctx)
	r.heal()
	r.finish()
	held = r.audit.held()
	return held, r.account()
}
