package files

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
)

func TestDirectoryOrder(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{10, 2, 1, 9} {
		ingesttest.Write(t, filepath.Join(dir, fmt.Sprintf("f_%d.png", n)), ingesttest.EncodePNG(t, ingesttest.Grey(6, 4, uint8(n))))
	}
	ingesttest.Write(t, filepath.Join(dir, "f_11.tif"), join(t, ingesttest.Page(6, 4, 1, tiff.Uint8, 11), ingesttest.Page(6, 4, 1, tiff.Uint8, 12)))
	ingesttest.Write(t, filepath.Join(dir, "._f_1.png"), []byte("a shadow"))
	ingesttest.Write(t, filepath.Join(dir, "notes.txt"), []byte("read me"))
	if err := os.Mkdir(filepath.Join(dir, "f_3.png"), 0o777); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string][]float64{"": {1, 2, 9, 10, 11, 12}, "/f_1*.*": {1, 10, 11, 12}, "/*_9.png": {9}} {
		s := openRecording(t, "directory", fmt.Sprintf("{path: %q, dt: 0.5}", dir+pattern))
		frames, skipped := ingesttest.ReadAll(t, s)
		var got []float64
		for i, f := range frames {
			if f.Seq != uint64(i) || f.T != 0.5*float64(i) {
				t.Errorf("frame %d is %+v", i, f)
			}
			got = append(got, f.Corner[0])
		}
		if !reflect.DeepEqual(got, want) || len(skipped) != 0 {
			t.Errorf("%q: %v, skipped %v; %v expected", pattern, got, skipped, want)
		}
	}
}

func TestDirectoryTimetable(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{1, 2, 3, 4} {
		ingesttest.Write(t, filepath.Join(dir, fmt.Sprintf("f%d.png", n)), ingesttest.EncodePNG(t, ingesttest.Grey(6, 4, uint8(n))))
	}
	const table = "t,file,trajectory,note\n0.5,f2.png,7,x\n0.75,f1.png,7,\n0.1,f4.png,9,\n0.2,f3.png,9,\n"
	ingesttest.Write(t, filepath.Join(dir, "frames.csv"), []byte(table))
	s := openRecording(t, "directory", "{path: "+dir+"}")
	if !s.Info().Timed || s.Info().Frames != 4 {
		t.Errorf("timed %v, %d frames; true and 4 expected", s.Info().Timed, s.Info().Frames)
	}
	frames, _ := ingesttest.ReadAll(t, s)
	want := []ingesttest.Seen{
		{Seq: 0, T: 0.5, Trajectory: 7, File: "f2.png", Corner: []float64{2}},
		{Seq: 1, T: 0.75, Trajectory: 7, File: "f1.png", Corner: []float64{1}},
		{Seq: 2, T: 0.1, Trajectory: 9, File: "f4.png", Corner: []float64{4}},
		{Seq: 3, T: 0.2, Trajectory: 9, File: "f3.png", Corner: []float64{3}},
	}
	if !reflect.DeepEqual(frames, want) {
		t.Errorf("%+v\n%+v expected", frames, want)
	}
	t.Run("dt wins over t, not over trajectory", func(t *testing.T) {
		frames, _ := ingesttest.ReadAll(t, openRecording(t, "directory", "{path: "+dir+", dt: 2}"))
		if f := frames[3]; f.T != 6 || f.Trajectory != 9 {
			t.Errorf("%+v, t 6 and trajectory 9 expected", f)
		}
	})
	t.Run("elsewhere", func(t *testing.T) {
		other := ingesttest.Write(t, filepath.Join(dir, "other.csv"), []byte("file,t\nf1.png,1\nf2.png,2\nf3.png,3\nf4.png,4.5\n"))
		frames, _ := ingesttest.ReadAll(t, openRecording(t, "directory", "{path: "+dir+", frames_csv: "+other+"}"))
		if f := frames[3]; f.T != 4.5 || f.File != "f4.png" {
			t.Errorf("%+v, f4.png at 4.5 s expected", f)
		}
	})
	t.Run("a pattern takes a part", func(t *testing.T) {
		frames, _ := ingesttest.ReadAll(t, openRecording(t, "directory", "{path: '"+dir+"/f[12].png'}"))
		if len(frames) != 2 || frames[0].File != "f2.png" {
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
		{"\ufefffile,t\nf1.png,1\n", "f2.png has no row in"}, // Excel's byte order mark is not part of the column's name
		{"file,t\nf1.png\n", "wrong number of fields"},
		{"file,t\nf1.png,1\n", "f2.png has no row in"},
		{"file,t\nf1.png,1\nf2.png,2\nf3.png,3\n", "lists f3.png, which does not exist"},
	} {
		dir := t.TempDir()
		for _, name := range []string{"f1.png", "f2.png"} {
			ingesttest.Write(t, filepath.Join(dir, name), ingesttest.EncodePNG(t, ingesttest.Grey(6, 4, 1)))
		}
		ingesttest.Write(t, filepath.Join(dir, "frames.csv"), []byte(c.table))
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

// TestDirectorySkips: each unreadable picture gives a skip, and the other pictures keep their times.
func TestDirectorySkips(t *testing.T) {
	dir := t.TempDir()
	good := ingesttest.EncodePNG(t, ingesttest.Grey(60, 40, 5))
	for name, data := range map[string][]byte{
		"0.png": good, "1.png": nil, "2.png": []byte("text"), "3.png": good[:len(good)/2], "4.png": ingesttest.HugePNG(t),
		"5.tif": []byte("text"), "6.png": ingesttest.EncodePNG(t, ingesttest.Grey(40, 60, 5)), "7.png": good,
	} {
		ingesttest.Write(t, filepath.Join(dir, name), data)
	}
	frames, skipped := ingesttest.ReadAll(t, openRecording(t, "directory", "{path: "+dir+"}"))
	want := []string{"unreadable_file", "unreadable_file", "unreadable_file", "unreadable_file", "unreadable_file", "size_changed"}
	if !reflect.DeepEqual(skipped, want) {
		t.Errorf("skipped %v, %v expected", skipped, want)
	}
	if len(frames) != 2 || frames[1].Seq != 7 || frames[1].T != 7 || !reflect.DeepEqual(frames[0].Events, []string{"no_frame_interval"}) {
		t.Errorf("frames %+v, numbers 0 and 7 expected", frames)
	}
}

// TestDirectoryPagesNeedTimes: a file of several pages has several times, which frames.csv cannot give.
func TestDirectoryPagesNeedTimes(t *testing.T) {
	dir := t.TempDir()
	ingesttest.Write(t, filepath.Join(dir, "a.tif"), join(t, ingesttest.Page(6, 4, 1, tiff.Uint8, 1), ingesttest.Page(6, 4, 1, tiff.Uint8, 2)))
	ingesttest.Write(t, filepath.Join(dir, "frames.csv"), []byte("file,t\na.tif,0\n"))
	s := openRecording(t, "directory", "{path: "+dir+"}")
	if s.Info().Frames != 0 {
		t.Errorf("%d frames, 0 for unknown expected", s.Info().Frames)
	}
	frames, skipped := ingesttest.ReadAll(t, s)
	if len(frames) != 0 || !reflect.DeepEqual(skipped, []string{"unreadable_file"}) {
		t.Errorf("%d frames, skipped %v; a refusal expected", len(frames), skipped)
	}
	if frames, _ := ingesttest.ReadAll(t, openRecording(t, "directory", "{path: "+dir+", dt: 1}")); len(frames) != 2 {
		t.Errorf("%d frames with dt, 2 expected", len(frames))
	}
}
