// Package wallclock steps the wall clock of one process and of no other. Tests and the soak measure with it what a step of an hour costs.
// Go reads the clock in the vDSO, so neither a time namespace nor a preloaded library reaches it. This package rewrites the process's own copy of the vDSO.
package wallclock
