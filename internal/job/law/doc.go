// Package law finds the law of a population in a table of anyone's tracks.
package law
