// Package house holds no code, only the tests that keep the house in order: who may import whom, what lies at the top level,
// and what a file may look like. A failing test names the broken rule and the place.
package house
