package tracking

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// track returns a track along a straight line: x = from + speed·frame.
func track(first, frames int, x, y, speed float64) (points []Point) {
	for f := first; f < first+frames; f++ {
		points = append(points, Point{Frame: f, X: x + speed*float64(f), Y: y})
	}
	return points
}

// TestJudge: cases whose measures can be derived from the definitions by hand.
func TestJudge(t *testing.T) {
	a, b := track(0, 10, 10, 10, 1), track(0, 10, 10, 50, 1)
	half := a[:5]
	// a is dark in three of its frames, b in all
	blinks, black := slices.Clone(a), slices.Clone(b)
	for i := range black {
		blinks[i].Dark, black[i].Dark = i >= 4 && i < 7, true
	}
	astray := slices.Clone(a)
	astray[5].Y += 100
	for name, c := range map[string]struct {
		truth, found [][]Point
		want         Score
	}{
		"perfect": {[][]Point{a, b}, [][]Point{b, a}, Score{Alpha: 1, Beta: 1, JSC: 1, JSCT: 1, True: 2, Found: 2}},
		"nothing": {[][]Point{a, b}, nil, Score{True: 2}},
		// ten places off by 1 px: d = 10 of 50
		"off by one": {[][]Point{a}, [][]Point{track(0, 10, 10, 11, 1)}, Score{Alpha: 0.8, Beta: 0.8, JSC: 1, JSCT: 1, RMSE: 1, True: 1, Found: 1}},
		// five places of ten, then gone
		"half": {[][]Point{a}, [][]Point{half}, Score{Alpha: 0.5, Beta: 0.5, JSC: 0.5, JSCT: 1, True: 1, Found: 1}},
		// two halves: one is matched, the other is false and costs 25 in addition to 50
		"in two": {[][]Point{a}, [][]Point{half, a[5:]}, Score{Alpha: 0.5, Beta: 25.0 / 75, JSC: 0.5 / 1, JSCT: 0.5, True: 1, Found: 2}},
		// a false track of ten frames and a perfect one
		"false":                {[][]Point{a}, [][]Point{a, b}, Score{Alpha: 1, Beta: 0.5, JSC: 0.5, JSCT: 0.5, True: 1, Found: 2}},
		"bridged in the dark":  {[][]Point{blinks, black}, [][]Point{a}, Score{Alpha: 1, Beta: 1, JSC: 1, JSCT: 1, True: 1, Found: 1}},
		"away in the dark":     {[][]Point{blinks}, [][]Point{slices.Concat(a[:4], a[7:])}, Score{Alpha: 1, Beta: 1, JSC: 1, JSCT: 1, True: 1, Found: 1}},
		"anywhere in the dark": {[][]Point{blinks}, [][]Point{astray}, Score{Alpha: 1, Beta: 1, JSC: 1, JSCT: 1, True: 1, Found: 1}},
		// two of the seven lit frames are missed: d = 10 of 35
		"missed in the light": {[][]Point{blinks}, [][]Point{a[:8]}, Score{Alpha: 25.0 / 35, Beta: 25.0 / 35, JSC: 5.0 / 7, JSCT: 1, True: 1, Found: 1}},
		// a track of an always dark object is false: ten frames in addition to ten
		"found in the dark": {[][]Point{a, black}, [][]Point{a, b}, Score{Alpha: 1, Beta: 0.5, JSC: 0.5, JSCT: 0.5, True: 1, Found: 2}},
		"beyond the gate":   {[][]Point{a}, [][]Point{track(0, 10, 10, 15, 1)}, Score{Beta: 0, True: 1, Found: 1}},
	} {
		got := Judge(c.truth, c.found)
		if name == "in two" { // 5 hits; 10 true and 10 found positions
			c.want.JSC = 5.0 / 15
		}
		for what, v := range map[string][2]float64{"alpha": {got.Alpha, c.want.Alpha}, "beta": {got.Beta, c.want.Beta}, "jsc": {got.JSC, c.want.JSC}, "jsct": {got.JSCT, c.want.JSCT}, "rmse": {got.RMSE, c.want.RMSE}} {
			if math.Abs(v[0]-v[1]) > 1e-9 {
				t.Errorf("%s: %s is %g, expected %g", name, what, v[0], v[1])
			}
		}
		if got.True != c.want.True || got.Found != c.want.Found {
			t.Errorf("%s: %d and %d tracks", name, got.True, got.Found)
		}
	}
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"plain":         {"frame,particle,x,y\n0,3,1.5,2\n1,3,2.5,2\n0,1,9,9\n", ""},
		"trackpy":       {"y,x,mass,frame,particle\n2,1.5,7,0,3\n9,9,7,0.0,1\n", ""},
		"saspt":         {"trajectory,frame,y,x\n3,0,2,1.5\n1,0,9,9\n", ""},
		"empty":         {"", "no header"},
		"other columns": {"t,x,y\n", "expected frame, particle, x and y"},
		"not a number":  {"frame,particle,x,y\n0,1,east,2\n", "line 2: x is \"east\""},
		"NaN":           {"frame,particle,x,y\n0,1,NaN,2\n", "line 2: x is \"NaN\""},
		"huge":          {"frame,particle,x,y\n0,1,2,-1e154\n", "line 2: y is \"-1e154\", expected a number of px, at most 1e+09"},
		"mark":          {"\xef\xbb\xbfframe,particle,x,y\n0,3,1.5,2\n0,1,9,9\n", ""},
		"UTF-16":        {"\xff\xfef\x00r\x00", "line 1: text in UTF-16"},
		"two of x":      {"frame,particle,x,y,x\n0,3,1.5,2,1\n", "line 1: found the column x twice"},
		"a long row":    {"frame,particle,x,y\n0,3,1.5,2" + strings.Repeat("0", 2<<20), "line 2: a row of more than"},
		"NULs":          {strings.Repeat("\x00", 1000), "line 1: found the columns \"\\x00"},
		"half a frame":  {"frame,particle,x,y\n0.5,1,1,2\n", "expected whole numbers"},
		"twice":         {"frame,particle,x,y\n4,1,1,2\n4,1,3,4\n", "particle 1 is twice in frame 4"},
		"light":         {"frame,particle,x,y,light\n0,3,1.5,2,0\n0,1,9,9,0.5\n", ""},
		"no light":      {"frame,particle,x,y,light\n0,3,1.5,2,\n", "line 2: light is \"\""},
		"torn":          {"frame,particle,x,y\n4,1\n", "wrong number of fields"},
	} {
		path := filepath.Join(t.TempDir(), "tracks.csv")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		tracks, err := Read(path)
		if c.want == "" {
			if err != nil || len(tracks) != 2 || tracks[1][0] != (Point{X: 1.5, Y: 2, Dark: name == "light"}) || tracks[0][0].Dark {
				t.Errorf("%s: %v, %v", name, tracks, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, expected an error with the path and %q", name, err, c.want)
		}
	}
}

// TestFarFrames: two positions in frames 2^31 apart take the memory of two positions.
func TestFarFrames(t *testing.T) {
	far := [][]Point{{{Frame: 0, X: 1, Y: 1}, {Frame: math.MaxInt32, X: 2, Y: 1}}}
	if s := Judge(far, far); s.Alpha != 1 || s.JSC != 1 {
		t.Errorf("%+v", s)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("frame,particle,x,y\n0,3,1.5,2\n1,3,2.5,2\n")
	f.Add("trajectory,frame,y,x\n-3,0,2,1e300\n")
	f.Fuzz(func(t *testing.T, text string) {
		tracks, err := read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, track := range tracks {
			if len(track) == 0 {
				t.Error("a track without a point")
			}
		}
	})
}

// TestRowsWith: values of further columns are passed unchanged, missing columns are reported, and an error of the callback has its line number.
func TestRowsWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tracks.csv")
	if err := os.WriteFile(path, []byte("frame,marks,trajectory,x,y\n0,4,7,1,2\n1,,7,3,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	each := func(particle int64, at Point, values []string, absent []bool) error {
		got = append(got, fmt.Sprintf("%d %d %g %g %q %v", particle, at.Frame, at.X, at.Y, values[0], absent))
		return nil
	}
	if err := RowsWith(path, nil, []string{"marks", "sd"}, each); err != nil {
		t.Fatal(err)
	}
	if want := []string{`7 0 1 2 "4" [false true]`, `7 1 3 4 "" [false true]`}; !reflect.DeepEqual(got, want) {
		t.Errorf("found %q, expected %q", got, want)
	}
	places := 0
	if err := Rows(path, func(particle int64, at Point) error { places++; return nil }); err != nil || places != 2 {
		t.Errorf("%d rows, %v", places, err)
	}
	refuse := func(int64, Point, []string, []bool) error { return errors.New("not wanted") }
	if err := RowsWith(path, nil, nil, refuse); err == nil || !strings.Contains(err.Error(), "line 2: not wanted") {
		t.Errorf("found %v", err)
	}
	if err := RowsWith(filepath.Join(t.TempDir(), "none.csv"), nil, nil, refuse); err == nil {
		t.Error("a file that is not there was read")
	}
}
