// Package follow waits for more of a recording in progress. Tail limits the wait. Arrivals returns the pictures of a folder
// in the order of their names.
//
// Arrivals uses the system's notices of new files (notices_linux.go). Network drives give no notices, so it also lists folders, in parts and for at most 1/50
// of the time (listing.go). A picture is ready when no earlier picture can still appear. In a large folder without notices, this takes two listings. If the
// names count up, Arrivals checks directly for the next name instead (successor.go).
package follow
