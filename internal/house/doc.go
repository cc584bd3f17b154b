// Package house holds no code, only the tests that keep the house in order: the allowed imports, the content of the top level, and the form of files. A failing
// test names the broken rule and the place.
package house
