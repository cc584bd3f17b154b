package main

import "driftscope/infer"

// tryModelCmd is what a model of others is opened in first: see infer.TrialProcess.
type tryModelCmd struct{}

// Run tries the model on standard input.
func (tryModelCmd) Run() error { return infer.TrialProcess() }
