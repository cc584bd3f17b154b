package main

import (
	"context"

	"driftscope/ingest"
)

// captureCmd is what a source that works in a process of its own starts: see ingest.CaptureProcess.
type captureCmd struct{}

// Run captures until standard input ends. The terminal's signals are the parent's: it ends its children in order.
func (captureCmd) Run(ctx context.Context) error {
	return ingest.CaptureProcess(context.WithoutCancel(ctx))
}
