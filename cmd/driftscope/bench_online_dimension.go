package main

import "io"

type dimensionRow struct{}

func measureDimension(f *onlineFindings, s *simulations) error { return nil }
func printDimension(f *onlineFindings, w io.Writer)            {}

type driftRow struct{}

func measureDrift(f *onlineFindings, s *simulations) error { return nil }
func printDrift(f *onlineFindings, w io.Writer)            {}

type changeRow struct{}

func measureChange(f *onlineFindings, s *simulations) error { return nil }
func printChange(f *onlineFindings, w io.Writer)            {}
