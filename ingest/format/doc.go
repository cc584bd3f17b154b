// Package format identifies files before they are read: their format by the first bytes, or else by name; their order, in
// which frame_10 follows frame_9; and that a path is a file, not a pipe that blocks forever.
package format
