// Package law implements the command law: it finds the law of a population in a table of tracks from any program.
package law
