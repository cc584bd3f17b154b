// Package console is the command line: what it takes, what it says, where it sends the reader, and how it ends.
//
//	execute.go, exit.go  one command line from its words to its exit status: a person's mistakes told from what failed while it ran
//	console.go           lines on standard error; files.go whole files as commands write them; phases.go long calculations
//	pages.go             where the pages lie that messages name: in the package's folder, beside an unpacked archive's program, or in the checkout
//	manual.go            the manual page; completion.go what shells complete
//	version.go           what the linker wrote into the program
package console
