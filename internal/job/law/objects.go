package law

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"

	"driftscope/online/exact"
	"driftscope/online/states"
)

// table writes one row per track in use. An unknown value is empty.
func (f *film) table(found *Findings, l *states.Law, e *exact.Law) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(f.header(len(found.States)))
	for i := range f.used {
		o := &e.Objects[i]
		row := []string{strconv.FormatInt(f.used[i].number, 10), strconv.Itoa(len(f.used[i].points))}
		switch {
		case o.State != nil && len(o.State) == len(found.States):
			row = append(row, numbers(o.State...)...)
		case len(l.Objects[i].State) == len(found.States):
			row = append(row, numbers(l.Objects[i].State...)...)
		default:
			row = append(row, make([]string, len(found.States))...)
		}
		if d := l.Objects[i].D; e.Kind == exact.Free || e.Kind == exact.Late {
			row = append(row, numbers(d.Value, d.Low, d.High)...)
		} else {
			row = append(row, numbers(o.D.Value/f.dt, o.D.Low/f.dt, o.D.High/f.dt)...)
		}
		if o.Judged {
			row = append(append(row, classOf(o).String()), numbers(o.Class[:]...)...)
		} else {
			row = append(row, make([]string, 1+exact.Classes)...)
		}
		row = append(row, numbers(o.Alpha.Value, o.Alpha.Low, o.Alpha.High)...)
		var switches []string
		for _, c := range o.Changes {
			switches = append(switches, fmt.Sprintf("%d:%d>%d", c.Frame, c.From+1, c.To+1))
		}
		w.Write(append(row, strings.Join(switches, " ")))
	}
	w.Flush() // writes to a buffer never fail
	return b.Bytes()
}

// header names the columns.
func (f *film) header(k int) []string {
	header := append([]string{"particle", "frames"}, stateNames(k)...)
	d := "diffusion_shrunk_px2_s"
	if f.unit != "px" {
		d = "diffusion_shrunk_um2_s"
	}
	header = append(header, d, d+"_low", d+"_high", "class")
	for c := range exact.Classes {
		header = append(header, c.String())
	}
	return append(header, "alpha", "alpha_low", "alpha_high", "switches")
}

func stateNames(k int) (out []string) {
	for j := range k {
		out = append(out, fmt.Sprintf("state_%d", j+1))
	}
	return out
}

// over writes the probability of every state in the step that begins in a frame, for every track. If objects do not switch, it writes only the header.
func (f *film) over(e *exact.Law) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(append([]string{"particle", "frame"}, stateNames(len(e.States))...))
	for i := range e.Objects {
		for k, row := range e.Objects[i].Over {
			w.Write(append([]string{strconv.FormatInt(f.used[i].number, 10), strconv.Itoa(f.used[i].points[k].Frame)}, numbers(row...)...))
		}
	}
	w.Flush()
	return b.Bytes()
}

// numbers formats numbers; unknown ones are empty.
func numbers(values ...float64) (out []string) {
	for _, v := range values {
		if math.IsNaN(v) {
			out = append(out, "")
			continue
		}
		out = append(out, strconv.FormatFloat(v, 'g', 6, 64))
	}
	return out
}
