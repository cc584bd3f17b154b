// Package follow waits for what a recording in progress will bring. Tail is how long a source waits for more of it. Arrivals are the pictures of
// a folder in the order of their names, as they come.
//
// Arrivals hears of new files by the system's notices (notices_linux.go), which network drives do not give; so folders are listed too, in parts
// (listing.go), in at most a fiftieth of the time. A picture is given only when no earlier one can come any more. In a large folder without
// notices that takes two listings; where names have been counting, the next one is asked for by name instead (successor.go).
package follow
