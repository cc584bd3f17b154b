// Package console is the command line: its arguments, messages, help pages and exit status.
//
//	execute.go, exit.go  run one command line and return its exit status; a user's mistake and a failure while running differ
//	console.go           lines on standard error; files.go whole files of commands; phases.go progress of long calculations
//	pages.go             finds the pages that messages name: in the package's folder, beside an unpacked archive's program, or in the checkout
//	manual.go            the manual page; completion.go shell completion
//	version.go           the build information from the linker
package console
