//go:build cgo

package main

import (
	"context"

	"driftscope/infer"
	"driftscope/ingest"
)

// captureCmd runs a source in a child process: see ingest.CaptureProcess.
type captureCmd struct{}

// Run captures until standard input ends. It ignores the terminal's signals: the parent ends its children in order.
func (captureCmd) Run(ctx context.Context) error {
	return ingest.CaptureProcess(context.WithoutCancel(ctx))
}

// tryModelCmd opens an untrusted model in a child process first: see infer.TrialProcess.
type tryModelCmd struct{}

// Run tries the model on standard input.
func (tryModelCmd) Run() error { return infer.TrialProcess() }
