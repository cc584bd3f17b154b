package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFieldJudged: simulate writes a field of many objects with its tracks. They score perfectly against themselves, and worse with one left out.
func TestFieldJudged(t *testing.T) {
	folder := t.TempDir()
	if o := drive(t, folder, "simulate", "vesicle", "--frames", "6", "--density", "20", "--size", "64", "--snr", "4", "--out", "field"); o.status != 0 || !strings.Contains(o.out, "6 frames of vesicle") {
		t.Fatalf("%+v", o)
	}
	for _, name := range []string{"frame_0000005.png", "frames.csv", "tracks.csv"} {
		if _, err := os.Stat(filepath.Join(folder, "field", name)); err != nil {
			t.Error(err)
		}
	}
	judged := func(result string) string {
		t.Helper()
		o := drive(t, folder, "eval", "--tracks", "field/tracks.csv", "--result", result)
		if o.status != 0 {
			t.Fatalf("%+v", o)
		}
		return o.out
	}
	if got := judged("field/tracks.csv"); !strings.Contains(got, `"alpha":1,"beta":1,"jsc":1,"jsct":1,"rmse_px":0`) {
		t.Errorf("the truth beside itself: %s", got)
	}
	whole, err := os.ReadFile(filepath.Join(folder, "field", "tracks.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var fewer []string
	for line := range strings.Lines(string(whole)) {
		if !strings.Contains(line, ",0,") || strings.HasPrefix(line, "frame") {
			fewer = append(fewer, line)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "fewer.csv"), []byte(strings.Join(fewer, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := judged("fewer.csv"); strings.Contains(got, `"beta":1,`) {
		t.Errorf("without a track: %s", got)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"eval"}, "give --model, --video and --truth, or --tracks and --result"},
		{[]string{"eval", "--tracks", "field/tracks.csv"}, "give both"},
		{[]string{"eval", "--tracks", "field/tracks.csv", "--result", "field/tracks.csv", "--truth", "centroid"}, "leave --model, --video and --truth out"},
		{[]string{"eval", "--tracks", "field/frames.csv", "--result", "field/tracks.csv"}, "expected frame, particle, x and y"},
		{[]string{"simulate", "vesicles", "--out", "other"}, `scene "vesicles" is not known: give one of molecule`},
		{[]string{"run", "sim:vesicle?density=-1"}, "density is -1: give 0 to 20000"},
		{[]string{"simulate", "vesicle", "--snr", "0", "--out", "other"}, "snr is 0: give 0.1 to 200"},
	} {
		drive(t, folder, c.args...).check(t, 2, c.want)
	}
}
