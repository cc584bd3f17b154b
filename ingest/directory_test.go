package ingest

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"driftscope/ingest/tiff"
)

func TestNaturally(t *testing.T) {
	want := []string{"a", "a01", "a1", "a2", "a9b", "a10", "a10b2", "a10b11", "a123456789012345678901234567890", "b", "b0"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, naturally)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v expected", got, want)
	}
}

func TestDirectoryOrder(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{10, 2, 1, 9} {
		write(t, filepath.Join(dir, fmt.Sprintf("f_%d.png", n)), encodePNG(t, grey(6, 4, uint8(n))))
	}
	write(t, filepath.Join(dir, "f_11.tif"), join(t, page(6, 4, 1, tiff.Uint8, 11), page(6, 4, 1, tiff.Uint8, 12)))
	write(t, filepath.Join(dir, "._f_1.png"), []byte("a shadow"))
	write(t, filepath.Join(dir, "notes.txt"), []byte("read me"))
	if err := os.Mkdir(filepath.Join(dir, "f_3.png"), 0o777); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string][]float64{"": {1, 2, 9, 10, 11, 12}, "/f_1*.*": {1, 10, 11, 12}, "/*_9.png": {9}} {
		s := openRecording(t, "directory", fmt.Sprintf("{path: %q, dt: 0.5}", dir+pattern))
		frames, skipped := readAll(t, s)
		var got []float64
		for i, f := range frames {
			if f.seq != uint64(i) || f.t != 0.5*float64(i) {
				t.Errorf("frame %d is %+v", i, f)
			}
			got = append(got, f.corner[0])
		}
		if !reflect.DeepEqual(got, want) || len(skipped) != 0 {
			t.Errorf("%q: %v, skipped %v; %v expected", pattern, got, skipped, want)
		}
	}
}

func TestDirectoryTimetable(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{1, 2, 3, 4} {
		write(t, filepath.Join(dir, fmt.Sprintf("f%d.png", n)), encodePNG(t, grey(6, 4, uint8(n))))
	}
	const table = "t,file,trajectory,note\n0.5,f2.png,7,x\n0.75,f1.png,7,\n0.1,f4.png,9,\n0.2,f3.png,9,\n"
	write(t, filepath.Join(dir, "frames.csv"), []byte(table))
	s := openRecording(t, "directory", "{path: "+dir+"}")
	if !s.Timed() || s.Frames() != 4 {
		t.Errorf("timed %v, %d frames; true and 4 expected", s.Timed(), s.Frames())
	}
	frames, _ := readAll(t, s)
	want := []seen{
		{seq: 0, t: 0.5, trajectory: 7, file: "f2.png", corner: []float64{2}},
		{seq: 1, t: 0.75, trajectory: 7, file: "f1.png", corner: []float64{1}},
		{seq: 2, t: 0.1, trajectory: 9, file: "f4.png", corner: []float64{4}},
		{seq: 3, t: 0.2, trajectory: 9, file: "f3.png", corner: []float64{3}},
	}
	if !reflect.DeepEqual(frames, want) {
		t.Errorf("%+v\n%+v expected", frames, want)
	}
	t.Run("dt wins over t, not over trajectory", func(t *testing.T) {
		frames, _ := readAll(t, openRecording(t, "directory", "{path: "+dir+", dt: 2}"))
		if f := frames[3]; f.t != 6 || f.trajectory != 9 {
			t.Errorf("%+v, t 6 and trajectory 9 expected", f)
		}
	})
	t.Run("elsewhere", func(t *testing.T) {
		other := write(t, filepath.Join(dir, "other.csv"), []byte("file,t\nf1.png,1\nf2.png,2\nf3.png,3\nf4.png,4.5\n"))
		frames, _ := readAll(t, openRecording(t, "directory", "{path: "+dir+", frames_csv: "+other+"}"))
		if f := frames[3]; f.t != 4.5 || f.file != "f4.png" {
			t.Errorf("%+v, f4.png at 4.5 s expected", f)
		}
	})
	t.Run("a pattern takes a part", func(t *testing.T) {
		frames, _ := readAll(t, openRecording(t, "directory", "{path: '"+dir+"/f[12].png'}"))
		if len(frames) != 2 || frames[0].file != "f2.png" {
			t.Errorf("%+v, f2.png and f1.png expected", frames)
		}
	})
}

func TestDirectoryRefused(t *testing.T) {
	for _, c := range []struct{ table, want string }{
		{"", "file,t,trajectory expected"},
		{"f1.png,0\n", "file,t,trajectory expected"},
		{"file,t\nf1.png,soon\n", `line 2: t is "soon"`},
		{"file,t\nf1.png,1e300\n", `line 2: t is "1e300"`},
		{"file,t\nf1.png,NaN\n", `line 2: t is "NaN"`},
		{"file,t,trajectory\nf1.png,0,-1\n", `line 2: trajectory is "-1"`},
		{"file,t\nf1.png,1\nf2.png,1\n", "line 3: t is 1 after 1 in trajectory 0"},
		{"file,t\nf1.png,1\nf1.png,2\n", "f1.png is listed twice"},
		{"\ufefffile,t\nf1.png,1\n", "f2.png is not in"}, // Excel's byte order mark is no part of the name
		{"file,t\nf1.png\n", "wrong number of fields"},
		{"file,t\nf1.png,1\n", "f2.png is not in"},
		{"file,t\nf1.png,1\nf2.png,2\nf3.png,3\n", "lists f3.png, which is not there"},
	} {
		dir := t.TempDir()
		for _, name := range []string{"f1.png", "f2.png"} {
			write(t, filepath.Join(dir, name), encodePNG(t, grey(6, 4, 1)))
		}
		write(t, filepath.Join(dir, "frames.csv"), []byte(c.table))
		err := newRecording(t, "directory", "{path: "+dir+"}").Open(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%q: %v, one line with %q expected", c.table, err, c.want)
		}
	}
	empty := t.TempDir()
	for path, want := range map[string]string{empty: "holds no picture", filepath.Join(empty, "absent"): "does not exist", filepath.Join(empty, "[") + "x": "syntax error"} {
		err := newRecording(t, "directory", "{path: '"+path+"'}").Open(context.Background())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %q expected", path, err, want)
		}
	}
}

// TestDirectorySkips: pictures that cannot be read are told one by one, and the others keep their times.
func TestDirectorySkips(t *testing.T) {
	dir := t.TempDir()
	good := encodePNG(t, grey(60, 40, 5))
	for name, data := range map[string][]byte{
		"0.png": good, "1.png": nil, "2.png": []byte("text"), "3.png": good[:len(good)/2], "4.png": hugePNG(t),
		"5.tif": []byte("text"), "6.png": encodePNG(t, grey(40, 60, 5)), "7.png": good,
	} {
		write(t, filepath.Join(dir, name), data)
	}
	frames, skipped := readAll(t, openRecording(t, "directory", "{path: "+dir+"}"))
	want := []string{"unreadable_file", "unreadable_file", "unreadable_file", "unreadable_file", "unreadable_file", "size_changed"}
	if !reflect.DeepEqual(skipped, want) {
		t.Errorf("skipped %v, %v expected", skipped, want)
	}
	if len(frames) != 2 || frames[1].seq != 7 || frames[1].t != 7 || !reflect.DeepEqual(frames[0].events, []string{"no_frame_interval"}) {
		t.Errorf("frames %+v, numbers 0 and 7 expected", frames)
	}
}

// TestDirectoryPagesNeedTimes: a file of several pages has several times, which frames.csv cannot give.
func TestDirectoryPagesNeedTimes(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.tif"), join(t, page(6, 4, 1, tiff.Uint8, 1), page(6, 4, 1, tiff.Uint8, 2)))
	write(t, filepath.Join(dir, "frames.csv"), []byte("file,t\na.tif,0\n"))
	s := openRecording(t, "directory", "{path: "+dir+"}")
	if s.Frames() != 0 {
		t.Errorf("%d frames, 0 for unknown expected", s.Frames())
	}
	frames, skipped := readAll(t, s)
	if len(frames) != 0 || !reflect.DeepEqual(skipped, []string{"unreadable_file"}) {
		t.Errorf("%d frames, skipped %v; a refusal expected", len(frames), skipped)
	}
	if frames, _ := readAll(t, openRecording(t, "directory", "{path: "+dir+", dt: 1}")); len(frames) != 2 {
		t.Errorf("%d frames with dt, 2 expected", len(frames))
	}
}

// FuzzTimetable: whatever the text, the rows that come out are bounded and in order.
func FuzzTimetable(f *testing.F) {
	f.Add("file,t,trajectory\na.png,0,0\nb.png,0.5,0\nc.png,0,1\n")
	f.Add("\ufefft,file,note\n1e3,\"a,b.png\",x\n")
	f.Add("file,t\na.png,NaN\n")
	f.Add("file,t\n\"a.png,0\n")
	f.Fuzz(func(t *testing.T, text string) {
		table := &timetable{path: "frames.csv", rows: map[string]moment{}}
		if table.read(csv.NewReader(strings.NewReader(text))) != nil {
			return
		}
		last := map[uint64]float64{}
		for i, name := range table.names {
			m := table.rows[name]
			before, some := last[m.trajectory]
			if m.order != i || !(math.Abs(m.t) <= maxTime) || some && m.t <= before {
				t.Fatalf("row %d of %q is %+v", i, text, m)
			}
			last[m.trajectory] = m.t
		}
	})
}
