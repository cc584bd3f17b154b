package soak

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Command is the soak, with its flags.
type Command struct {
	For        time.Duration `name:"for" default:"10m" help:"How long the programs run."`
	Seed       uint64        `default:"0" help:"Seed of all faults; 0 chooses a random seed."`
	Out        string        `default:"out/soak.md" help:"File for the report." placeholder:"FILE"`
	Driftscope string        `default:"bin/driftscope" help:"The driftscope program." placeholder:"FILE"`
	Mats       string        `help:"The program built with -tags matprofile, which counts OpenCV's matrices. Without it they are not audited." placeholder:"FILE"`
	Without    string        `help:"Leave out the faults whose names this regular expression matches." placeholder:"REGEXP"`
	Keep       bool          `help:"Keep the folder with all logs even if the audit passes."`
}

// Run soaks the program. It returns an error if the audit found violations or did not take place.
func (c *Command) Run(ctx context.Context) error {
	if err := isolate(); err != nil {
		return err
	}
	o := *c
	if o.Seed == 0 {
		o.Seed = rand.Uint64() >> 32
	}
	held, err := run(ctx, o)
	if err == nil && !held {
		err = errors.New("the audit failed: " + o.Out + " says what")
	}
	return err
}

// run builds the rig, runs it under the plan's faults, stops it, audits it and writes the account.
func run(ctx context.Context, o Command) (held bool, err error) {
	r, err := newRig(o)
	if err != nil {
		return false, err
	}
	defer func() { r.close(held && err == nil && !o.Keep) }()
	r.say("seed %d, %v, in %s", o.Seed, o.For, r.folder)
	if err := r.start(ctx); err != nil {
		return false, err
	}
	r.suffer(ctx)
	r.heal()
	r.finish()
	held = r.audit.held()
	return held, r.account()
}
