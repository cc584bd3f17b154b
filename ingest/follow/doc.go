// Package follow waits for more of a recording in progress. Tail limits the wait. Arrivals returns the pictures of a folder
// in the order of their names.
//
// Arrivals uses the system's notices of new files (notices_linux.go). Network drives give none, so it also lists folders, in
// parts and in at most 1/50 of the time (listing.go). A picture is ready only when no earlier one can still appear. In a
// large folder without notices, that takes two listings; if the names count up, the next name is checked directly instead
// (successor.go).
package follow
