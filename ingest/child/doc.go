// Package child runs a source in a child process of this program: what hangs in a driver is killed there, and what aborts ends the child alone.
//
// Apart wraps the constructor of a kind. The Source that it gives checks the options here, starts the program again under Command at Open, tells
// it by a line of JSON which source to open (source.go), and asks it for every frame by a byte. The child runs Serve (serve.go): it reads ahead by
// a few frames (waiting.go), of a live source the newest. messages.go has the form of what the child writes: a header of fixed length, a note, pixels.
// Both ends are the same build, so the form may change; every size in it is checked all the same.
package child
