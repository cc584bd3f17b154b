// Package fits reads the pictures of a FITS file (FITS Standard 4.0, 2018) in which the whole file is one picture or one cube: the
// primary array has two axes, or three with time as the last.
//
//	Open ──► header ──► Cube ──► Read(plane)
//
// Files come from strangers: Open checks every size in the header against the file's own before any memory is taken, and Read
// holds one plane. The first row of the file is the first of the picture.
package fits
