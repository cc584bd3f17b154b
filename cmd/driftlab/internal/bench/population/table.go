package population

import (
	"fmt"
	"io"
	"strconv"
)

// column is one of a table.
type column struct {
	head string
	text func(*Cell) string
}

// Columns of several studies, and columns of studies of intervals.
var (
	law      = column{"law", func(c *Cell) string { return c.Law }}
	ratio    = column{"ratio", func(c *Cell) string { return blank(c.Ratio) }}
	count    = column{"states", func(c *Cell) string { return blank(float64(c.States)) }}
	right    = figure("right", func(c *Cell) *float64 { return c.Right })
	coverage = figure("coverage", func(c *Cell) *float64 { return c.Coverage })
	off      = figure("error", func(c *Cell) *float64 { return c.Error })
	bias     = figure("bias", func(c *Cell) *float64 { return c.Bias })
	told     = figure("told", func(c *Cell) *float64 { return c.Told })
	wrong    = figure("false", func(c *Cell) *float64 { return c.False })
	inSE     = figure("error/SE", func(c *Cell) *float64 { return c.InSE })
	bound    = column{"bound", func(c *Cell) string {
		if c.Bound == 0 {
			return ""
		}
		return fmt.Sprintf("%.4f", c.Bound)
	}}
	held = []column{{"exposed", func(c *Cell) string { return number(c.Exposed) }}, ratio, count, coverage, off, bias, bound}
)

// figure is the column of a figure that some cells lack.
func figure(head string, of func(*Cell) *float64) column {
	return column{head, func(c *Cell) string {
		v := of(c)
		if v == nil {
			return ""
		}
		return fmt.Sprintf("%.4f", *v)
	}}
}

// number formats a number as short as possible.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// blank formats a number, or returns nothing for zero.
func blank(v float64) string {
	if v == 0 {
		return ""
	}
	return number(v)
}

// print writes the cells for a person, a table a study.
func print(w io.Writer, cells []Cell) {
	for _, s := range studies {
		begun := false
		for i := range cells {
			c := &cells[i]
			if c.Study != s.name {
				continue
			}
			if !begun {
				begun = true
				fmt.Fprintf(w, "%-9s %-12s %6s %6s %5s %5s", "study", "of", "tracks", "frames", "r", "runs")
				for _, of := range s.columns {
					fmt.Fprintf(w, " %*s", of.width(), of.head)
				}
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "%-9s %-12s %6d %6d %5g %5d", c.Study, c.Of, c.Tracks, c.Frames, c.R, c.Runs)
			for _, of := range s.columns {
				fmt.Fprintf(w, " %*s", of.width(), of.text(c))
			}
			fmt.Fprintln(w)
		}
		if begun {
			fmt.Fprintln(w)
		}
	}
}

// width returns the width of the column, for its longest text.
func (c *column) width() int {
	if c.head == law.head {
		return len("between two states") + 1
	}
	return max(len(c.head), len("-0.0000"))
}
