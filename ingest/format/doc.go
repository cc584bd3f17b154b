// Package format is what is known of a file before it is read: its format by the first bytes, or by its name where they do not tell; the order of
// files, in which frame_10 follows frame_9; and that it is a file, and no pipe that would wait for ever.
package format
