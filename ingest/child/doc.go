// Package child runs a source in a child process of this program. If a driver hangs, the parent kills the child. If a driver aborts, only the child ends.
//
// Apart wraps the constructor of a kind. Its Source checks the options. Open starts this program again with the command Command and sends one line of JSON that
// names the source to open (source.go). Each further byte requests a frame. The child runs Serve (serve.go). It reads a few frames ahead (waiting.go); for a
// live source it keeps only the newest frames. messages.go defines the answers: a header of fixed length, a note, pixels. Both processes run the same build, so
// the format may change between versions. The parent still checks every size.
package child
