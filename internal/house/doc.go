// Package house contains no code, only tests that check the rules of this repository, such as the allowed imports, the content of the top level, and the form
// of files. A failing test names the broken rule and the location.
package house
