//go:build cgo

package main

import (
	"context"

	"driftscope/infer"
	"driftscope/ingest"
)

// captureCmd is what a source that works in a process of its own starts: see ingest.CaptureProcess.
type captureCmd struct{}

// Run captures until standard input ends. The terminal's signals are the parent's: it ends its children in order.
func (captureCmd) Run(ctx context.Context) error {
	return ingest.CaptureProcess(context.WithoutCancel(ctx))
}

// tryModelCmd is what a model of others is opened in first: see infer.TrialProcess.
type tryModelCmd struct{}

// Run tries the model on standard input.
func (tryModelCmd) Run() error { return infer.TrialProcess() }
