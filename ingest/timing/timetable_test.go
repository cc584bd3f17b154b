package timing

import (
	"encoding/csv"
	"math"
	"strings"
	"testing"
)

// FuzzTimetable: for any text, the resulting rows are bounded and in order.
func FuzzTimetable(f *testing.F) {
	f.Add("file,t,trajectory\na.png,0,0\nb.png,0.5,0\nc.png,0,1\n")
	f.Add("\ufefft,file,note\n1e3,\"a,b.png\",x\n")
	f.Add("file,t\na.png,NaN\n")
	f.Add("file,t\n\"a.png,0\n")
	f.Fuzz(func(t *testing.T, text string) {
		table := &Timetable{Path: "frames.csv", Rows: map[string]Moment{}}
		if table.read(csv.NewReader(strings.NewReader(text))) != nil {
			return
		}
		last := map[uint64]float64{}
		for i, name := range table.Names {
			m := table.Rows[name]
			before, some := last[m.Trajectory]
			if m.Order != i || !(math.Abs(m.T) <= MaxTime) || some && m.T <= before {
				t.Fatalf("row %d of %q is %+v", i, text, m)
			}
			last[m.Trajectory] = m.T
		}
	})
}
