package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/internal/flow/frame"
	"driftscope/internal/suite"
)

// TestHostileTables: with an untrusted table law, eval and view give a result or one line that names the file and the line, within 1 GiB and 5 s of
// processor time.
func TestHostileTables(t *testing.T) {
	suite.Long(t)
	const head = "frame,particle,x,y\n"
	var rows strings.Builder
	for f := range 40 {
		for i := range 5 {
			fmt.Fprintf(&rows, "%d,%d,%g,%g\n", f, i, 50+10*float64(i)+float64(f*f%7)/3, 50+float64(f*(i+3)%11)/4)
		}
	}
	good := head + rows.String()
	var wide strings.Builder
	for i := range 40000 {
		fmt.Fprintf(&wide, ",c%d", i)
	}
	utf16 := []byte("\xff\xfe")
	for _, c := range good {
		utf16 = append(utf16, byte(c), 0)
	}
	folder := t.TempDir()
	taken := "" // every command gives a result
	for name, c := range map[string]struct{ text, want string }{
		"huge":             {good + "41,0,1e308,1\n42,0,-1e308,1\n", "huge.csv: line 202: "},
		"square":           {good + "41,0,1e154,1\n42,0,-1e154,1\n", "square.csv: line 202: "},
		"nan":              {good + "41,0,NaN,1\n", "nan.csv: line 202: x is"},
		"inf":              {good + "41,0,1,-Inf\n", "inf.csv: line 202: y is"},
		"negative frame":   {good + "-1,0,1,1\n", "line 202: frame -1"},
		"frame 2^62":       {good + "4611686018427387904,0,1,1\n", "line 202: frame 4.6"},
		"particle 2^62":    {good + "3,4611686018427387904,1,1\n", "line 202: frame 3 of particle"},
		"missing column":   {"frame,x,y\n0,1,1\n", "missing column.csv: line 1: "},
		"doubled column":   {"frame,particle,x,y,x\n0,1,1,1,1\n", "doubled column.csv: line 1: "},
		"doubled row":      {good + "3,0,1,1\n", "doubled row.csv: particle 0 is twice in frame 3"},
		"NUL":              {good + "4\x00,9,1,1\n", "NUL.csv: line 202: "},
		"NULs":             {strings.Repeat("\x00", 1<<20), "NULs.csv: line 1: "},
		"a line of 100 MB": {head + "0,1,1," + strings.Repeat("1", 100_000_000), "line 2: a row of more"},
		"a head of 100 MB": {strings.Repeat("frame,", 17_000_000), "line 1: "},
		"old Mac":          {strings.ReplaceAll(good, "\n", "\r"), "old Mac.csv: line 1: "},
		"UTF-16":           {string(utf16), "UTF-16.csv: line 1: "},
		"empty":            {"", "empty.csv: line 1: "},
		"mark":             {"\xef\xbb\xbf" + good, taken},
		"CRLF":             {strings.ReplaceAll(good, "\n", "\r\n"), taken},
		"no newline":       {strings.TrimSuffix(good, "\n"), taken},
		"wide":             {strings.TrimSpace(head) + wide.String() + "\n" + strings.ReplaceAll(rows.String()[:100], "\n", strings.Repeat(",1", 40000)+"\n") + "", "wide.csv: "},
	} {
		file := name + ".csv"
		written(t, folder, map[string]string{file: c.text, "good.csv": good})
		for _, args := range [][]string{
			{"law", file, "--dt", "0.1"}, {"eval", "--tracks", "good.csv", "--result", file}, {"view", file, "--exit", "--speed", "1000", "--dashboard", "off"},
		} {
			o, peak := driveMeasured(t, folder, args...)
			switch {
			case c.want == taken && o.status != 0, c.want != taken && o.status != 2, c.want != taken && !strings.Contains(o.errors, c.want):
				t.Errorf("%s, %s: status %d, %.400q, expected %q", name, args[0], o.status, o.errors, c.want)
			case c.want != taken && (len(o.errors) > 1000 || strings.Contains(o.errors, "goroutine ") || bytes.ContainsRune([]byte(o.errors), 0)):
				t.Errorf("%s, %s: expected one line: %.2000q", name, args[0], o.errors)
			}
			if peak > frame.MostMemory || o.worked > frame.MostTime {
				t.Errorf("%s, %s: %d MiB were resident, %v of a processor, at most %d MiB and %v expected", name, args[0], peak>>20, o.worked, frame.MostMemory>>20, frame.MostTime)
			}
		}
		if err := os.Remove(filepath.Join(folder, file)); err != nil {
			t.Fatal(err)
		}
	}
}
