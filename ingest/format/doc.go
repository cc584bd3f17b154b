// Package format identifies files before they are read. It recognises the format by the first bytes, or else by name. It orders names so that frame_10 follows
// frame_9. It checks that a path is a file, not a pipe that would block forever.
package format
