//go:build cgo

package main

import (
	"context"
	"fmt"

	"driftscope/internal/flow/config"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
)

// lintCmd checks a configuration: all keys and values, the options of every stage, and the named model. It opens no camera,
// no recording and no port.
type lintCmd struct {
	Config string `arg:"" help:"Configuration, a YAML file."`
}

// Run prints ok, or returns every problem.
func (c *lintCmd) Run(context.Context) error {
	cfg, err := config.Load(c.Config)
	if err == nil {
		err = stream.Check(cfg)
	}
	if err != nil {
		return console.Usage(err)
	}
	fmt.Println("ok")
	return nil
}
