// Package fits reads FITS files (FITS Standard 4.0, 2018) with one picture or one cube. The primary array has two axes, or three with time as the last.
//
// Open reads the header and returns a Cube; Cube.Read reads one plane. Files are untrusted: Open checks every size in the
// header against the file's size before it allocates memory. The first row of the file is the first row of the picture.
package fits
