// Package child runs a source in a child process of this program. If a driver hangs, the parent kills the child; if a driver
// aborts, only the child ends.
//
// Apart wraps the constructor of a kind. Its Source checks the options, starts the program again under Command at Open, sends
// one line of JSON with the source to open (source.go), and requests each frame with one byte. The child runs Serve
// (serve.go). It reads a few frames ahead (waiting.go), and keeps the newest of a live source. messages.go defines the
// answers: a header of fixed length, a note, pixels. Both ends are the same build, so the format may change; the parent still
// checks every size.
package child
