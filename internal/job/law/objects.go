package law

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"driftscope/online/motion"
	"driftscope/online/states"
)

// table is what is known of every track that was used, a row each. What is not known is empty.
func (f *film) table(l *states.Law, found ways, verdicts []verdict) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(f.header(len(l.States)))
	for i := range f.used {
		row := []string{strconv.FormatInt(f.used[i].number, 10), strconv.Itoa(len(f.used[i].points))}
		o := &l.Objects[i]
		row = append(row, numbers(o.State...)...)
		row = append(row, numbers(o.D.Value, o.D.Low, o.D.High)...)
		var v *motion.Verdict
		if len(verdicts) > 0 && verdicts[0].track == i {
			v, verdicts = &verdicts[0].Verdict, verdicts[1:]
		}
		row = append(row, judged(v)...)
		var switches []string
		for _, c := range found[i] {
			switches = append(switches, fmt.Sprintf("%d:%d>%d", c.frame, c.from, c.to))
		}
		w.Write(append(row, strings.Join(switches, " ")))
	}
	w.Flush() // a buffer takes all
	return b.Bytes()
}

// header names the columns.
func (f *film) header(k int) []string {
	header := []string{"particle", "frames"}
	for j := range k {
		header = append(header, fmt.Sprintf("state_%d", j+1))
	}
	d := "diffusion_shrunk_px2_s"
	if f.unit != "px" {
		d = "diffusion_shrunk_um2_s"
	}
	header = append(header, d, d+"_low", d+"_high", "class")
	for c := range motion.Classes {
		header = append(header, c.String())
	}
	return append(header, "alpha", "alpha_low", "alpha_high", "switches")
}

// judged is the kind of motion, its probabilities and the exponent; empty where the track was not judged.
func judged(v *motion.Verdict) []string {
	if v == nil {
		return make([]string, 1+motion.Classes+3)
	}
	row := append([]string{v.Class.String()}, numbers(v.Probabilities[:]...)...)
	return append(row, numbers(v.Alpha.Value, v.Alpha.Low, v.Alpha.High)...)
}

func numbers(values ...float64) (out []string) {
	for _, v := range values {
		out = append(out, strconv.FormatFloat(v, 'g', 6, 64))
	}
	return out
}
