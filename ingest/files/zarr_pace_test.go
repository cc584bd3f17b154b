package files

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"driftscope/ingest/ingesttest"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/suite"
)

// filmCommand makes the test's binary write a film, as a separate process: filmCommand STORE FRAMES.
const filmCommand = "write-zarr"

const filmSide = 512

// filmFrame returns a frame with its number in the lower bits of every 16-bit pixel, and the pixel's position in the upper bits.
func filmFrame(n int) []byte {
	pix := make([]byte, 0, filmSide*filmSide*2)
	for i := range filmSide * filmSide {
		pix = binary.LittleEndian.AppendUint16(pix, uint16(i*2654435761>>16)<<12|uint16(n+1)&0xfff)
	}
	return pix
}

// writeFilm writes 100 frames per second and prints the time at which each was whole. It writes every other frame in place and renames the others from a
// temporary name.
func writeFilm(store, frames string) error {
	n, err := strconv.Atoi(frames)
	if err != nil {
		return err
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for i := range n {
		<-tick.C
		folder := filepath.Join(store, strconv.Itoa(i), "0")
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		name := filepath.Join(folder, "0")
		if i%2 == 1 {
			name += ".part"
		}
		if err := os.WriteFile(name, filmFrame(i), 0o666); err != nil {
			return err
		}
		if i%2 == 1 {
			if err := os.Rename(name, filepath.Join(folder, "0")); err != nil {
				return err
			}
		}
		fmt.Println(time.Now().UnixNano())
	}
	return nil
}

// python is Debian's interpreter, which has zarr-python.
const python = "/usr/bin/python3"

// filming starts the writing process: this test's binary, or zarr-python.
func filming(t *testing.T, frames int, byPython bool) (store string, writer *exec.Cmd, whole io.Reader) {
	t.Helper()
	store = filepath.Join(t.TempDir(), "film.zarr")
	if err := os.Mkdir(store, 0o777); err != nil {
		t.Fatal(err)
	}
	writer = exec.Command(os.Args[0], filmCommand, store, strconv.Itoa(frames))
	if byPython { // zarr-python also writes the metadata
		writer = exec.Command(python, "../zarr/testdata/film.py", store, strconv.Itoa(frames))
	} else {
		ingesttest.Write(t, filepath.Join(store, ".zarray"), fmt.Appendf(nil,
			`{"zarr_format":2,"shape":[%d,%d,%[2]d],"chunks":[1,%[2]d,%[2]d],"dtype":"<u2","compressor":null,"filters":null,"fill_value":0,"order":"C","dimension_separator":"/"}`, frames, filmSide))
	}
	writer.Stderr = os.Stderr
	whole, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		writer.Process.Kill()
		writer.Wait()
	})
	return store, writer, whole
}

// readFilm reads to the end, compares every frame with the written one, and returns the time at which each was read.
func readFilm(t *testing.T, s pipeline.Source) (came []time.Time, skipped []string) {
	t.Helper()
	for {
		f, err := s.Read(context.Background())
		var skip *pipeline.ErrSkip
		switch {
		case err == io.EOF:
			return came, skipped
		case errors.As(err, &skip):
			skipped = append(skipped, skip.Cause)
			continue
		case err != nil:
			t.Fatal(err)
		}
		at := time.Now()
		if n := len(came); f.Seq != uint64(n) || string(ingesttest.BytesOf(t, f)) != string(filmFrame(n)) {
			t.Fatalf("frame %d is number %d, or has other pixels", n, f.Seq)
		}
		f.Close()
		came = append(came, at)
	}
}

// TestFollowZarrPace: every frame that another process writes at 100 frames per second is returned once, in order and at most 100 ms after its chunk. On an
// overloaded machine, the limit applies to half of the frames.
func TestFollowZarrPace(t *testing.T) {
	suite.Long(t)
	for name, byPython := range map[string]bool{"raw": false, "zarr-python": true} {
		t.Run(name, func(t *testing.T) {
			if byPython && exec.Command(python, "-c", "import zarr").Run() != nil {
				t.Skip("apt-get install python3-zarr")
			}
			pace(t, byPython)
		})
	}
}

func pace(t *testing.T, byPython bool) {
	const (
		frames = 1000
		most   = 100 * time.Millisecond
		idle   = 25 * time.Millisecond // polling interval; if the machine delays a process for longer, the slowest frame is not tested
	)
	store, _, whole := filming(t, frames, byPython)
	written := make(chan []time.Time, 1)
	go func() {
		var times []time.Time
		for lines := bufio.NewScanner(whole); lines.Scan(); {
			ns, _ := strconv.ParseInt(lines.Text(), 10, 64)
			times = append(times, time.Unix(0, ns))
		}
		written <- times
	}()
	stop := make(chan struct{})
	kept := waited(stop)
	came, skipped := readFilm(t, followed(t, "zarr", store, "5s"))
	times := <-written
	close(stop)
	longest := <-kept
	if len(came) != frames || len(times) != frames || len(skipped) > 0 {
		t.Fatalf("%d frames of %d written, skipped %v; %d expected", len(came), len(times), skipped, frames)
	}
	var late []time.Duration
	for n := range came {
		late = append(late, came[n].Sub(times[n]))
	}
	slices.Sort(late)
	t.Logf("%.1f frames a second; after its chunk a frame came p50 %v, p99 %v, max %v; the machine kept this process waiting for up to %v",
		(frames-1)/times[frames-1].Sub(times[0]).Seconds(), late[frames/2], late[frames*99/100], late[frames-1], longest)
	if late[frames/2] > most || late[frames-1] > most && longest <= idle {
		t.Errorf("frames came %v, and one %v after their chunks, at most %v expected", late[frames/2], late[frames-1], most)
	}
}

// waited measures, until stop, the largest excess of a goroutine's sleep over the requested time. It is large on an overloaded machine.
func waited(stop chan struct{}) <-chan time.Duration {
	longest := make(chan time.Duration, 1)
	go func() {
		const nap = time.Millisecond
		most := time.Duration(0)
		for {
			select {
			case <-stop:
				longest <- most
				return
			default:
			}
			began := time.Now()
			time.Sleep(nap)
			most = max(most, time.Since(began)-nap)
		}
	}()
	return longest
}

// TestFollowZarrKilledWriter: if the writing process is killed, every whole frame is returned, the torn frame gives a skip, and nothing else is returned.
func TestFollowZarrKilledWriter(t *testing.T) {
	suite.Long(t)
	for _, after := range []time.Duration{210 * time.Millisecond, 333 * time.Millisecond, 456 * time.Millisecond} {
		store, writer, whole := filming(t, 1000, false)
		s := followed(t, "zarr", store, "3s")
		lines := bufio.NewReader(whole)
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(after, func() { writer.Process.Kill() })
		go io.Copy(io.Discard, lines)
		came, skipped := readFilm(t, s)
		if len(came) < 2 || len(skipped) > 1 || len(skipped) == 1 && skipped[0] != "torn_frame" {
			t.Errorf("killed after %v: %d frames, skipped %v", after, len(came), skipped)
		}
		t.Logf("killed after %v: %d frames, skipped %v", after, len(came), skipped)
	}
}
