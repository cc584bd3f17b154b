package finder

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

func readRaw(name string) []Picture {
	b, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	t, h, w := int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:])), int(binary.LittleEndian.Uint32(b[8:]))
	b = b[12:]
	f := make([]Picture, t)
	for k := range f {
		f[k] = NewPicture(w, h)
		for i := range f[k].P {
			f[k].P[i] = math.Float32frombits(binary.LittleEndian.Uint32(b))
			b = b[4:]
		}
	}
	return f
}

func TestRaw(t *testing.T) {
	for _, name := range strings.Fields(os.Getenv("RAW")) {
		frames := readRaw("/tmp/films/" + name + ".bin")
		at := Wanted(len(frames))
		in := Sample{At: at}
		for _, k := range at {
			in.Frames = append(in.Frames, frames[k])
		}
		start := time.Now()
		f, err := Learn(in)
		if err != nil {
			t.Fatal(err)
		}
		learnt := time.Since(start)
		all := make([][]Place, len(frames))
		if f.Kind == One || f.Kind == OneBody {
			x, y := math.NaN(), math.NaN()
			for k := range frames {
				all[k] = f.Find(frames[k], x, y)
				if len(all[k]) > 0 {
					x, y = all[k][0].X, all[k][0].Y
				}
			}
		} else {
			run(len(frames), func(k int) { all[k] = f.Find(frames[k], 0, 0) })
		}
		kept, id := all, make([][]int, len(all))
		if f.Kind != One && f.Kind != OneBody {
			kept, id = f.Follow(all)
		} else {
			for k := range all {
				id[k] = make([]int, len(all[k]))
			}
		}
		out, _ := os.Create("/tmp/fc/" + name + ".csv")
		w := bufio.NewWriter(out)
		fmt.Fprintln(w, "frame,particle,x,y")
		n := 0
		for k := range kept {
			for j, p := range kept[k] {
				fmt.Fprintf(w, "%d,%d,%.4f,%.4f\n", k, id[k][j], p.X, p.Y)
				n++
			}
		}
		w.Flush()
		out.Close()
		fmt.Printf("%-26s %-8v s %.2f dark %v both %v coarse %v count %.1f z %.1f share %.2f depth %.2f area %.0f alike %.2f lamp %.2f least %.3g low %.1f ext %v with %v | places %d reach %.1f learn %v find %v/frame\n", name, f.Kind, f.Scale, f.Dark, f.both, f.coarse, f.Count, f.Strength, f.Share, f.Depth, f.Area, f.Alike, f.Lamp, f.least, f.low, f.extended, f.with, n, f.reach, learnt.Round(time.Millisecond), ((time.Since(start) - learnt) / time.Duration(len(frames))).Round(100*time.Microsecond))
	}
}
