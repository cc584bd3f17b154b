package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"driftscope/internal/flow/config"
)

// following makes the source wait for more frames if the flags request it, until none arrives for untilIdle.
func following(source config.Component, name string, follow bool, untilIdle time.Duration) (_ config.Component, err error) {
	if !follow && untilIdle == 0 {
		return source, nil
	}
	if grows := []string{"directory", "ndtiff", "tiff", "video", "zarr"}; !slices.Contains(grows, source.Kind) {
		return source, fmt.Errorf("--follow: %s is read as %s, but only %s can be followed: leave --follow and --until-idle out", name, source.Kind, strings.Join(grows, ", "))
	}
	if source, err = source.With("follow", follow); err == nil && untilIdle != 0 {
		source, err = source.With("until_idle", untilIdle.String())
	}
	return source, err
}
