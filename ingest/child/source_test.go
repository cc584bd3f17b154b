package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"gocv.io/x/gocv"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/kit/system"
)

// trialOptions describe how and when a trial source misbehaves.
type trialOptions struct {
	Open   string        `yaml:"open"`   // instead of opening: fail, hang or abort
	At     uint64        `yaml:"at"`     // number of the Read that misbehaves
	Do     string        `yaml:"do"`     // one of: skip, lose, fail, hang, abort, panic, exit
	Frames uint64        `yaml:"frames"` // number of frames before io.EOF
	Live   bool          `yaml:"live"`
	Every  time.Duration `yaml:"every"`
	Width  int           `yaml:"width"`
	PID    string        `yaml:"pid"`   // file to write the process's number to
	Scale  float64       `yaml:"scale"` // factor of the time
}

// trial is a source whose frame n has the value n modulo 256 in every pixel, and the time n seconds.
type trial struct {
	o     trialOptions
	reads uint64
	seq   uint64
}

func newTrial(decode func(dst any) error) (pipeline.Source, error) {
	o := trialOptions{Frames: 10, Width: 8, Scale: 1}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Width < 1 {
		return nil, errors.New("width is below 1")
	}
	return &trial{o: o}, nil
}

func (s *trial) Close() error { return nil }

func (s *trial) Info() pipeline.Info {
	return pipeline.Info{Live: s.o.Live, Timed: s.o.Scale != 1, Frames: int(s.o.Frames)}
}

func (s *trial) Open(context.Context) error {
	if s.o.PID != "" {
		if err := os.WriteFile(s.o.PID, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			return err
		}
	}
	return misbehave(s.o.Open)
}

// misbehave fails like a faulty driver.
func misbehave(how string) error {
	switch how {
	case "skip":
		return &pipeline.ErrSkip{Cause: "torn_picture", Err: errors.New("a torn picture")}
	case "lose":
		return fmt.Errorf("the cable: %w", pipeline.ErrNotConnected)
	case "fail":
		return errors.New("no such camera: plug one in")
	case "hang":
		select {}
	case "abort":
		empty, grey := gocv.NewMat(), gocv.NewMat()
		gocv.CvtColor(empty, &grey, gocv.ColorBGRToGray)
	case "panic":
		panic("a mistake")
	case "exit":
		fmt.Fprintln(os.Stderr, "the driver gave up")
		os.Exit(7)
	}
	return nil
}

func (s *trial) Read(ctx context.Context) (*frame.Frame, error) {
	time.Sleep(s.o.Every)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.reads++
	if s.reads == s.o.At {
		if err := misbehave(s.o.Do); err != nil {
			return nil, err
		}
	}
	if s.seq == s.o.Frames {
		return nil, io.EOF
	}
	mat := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(float64(s.seq%256), 0, 0, 0), s.o.Width, s.o.Width, gocv.MatTypeCV8UC1)
	f := frame.New(s.seq, time.Unix(0, 0).UTC().Add(timing.Duration(float64(s.seq)*s.o.Scale)), frame.Meta{Arrived: time.Now()}, mat)
	if s.seq == 1 {
		f.Meta.File, f.Meta.Dropped, f.Meta.Trajectory, f.Meta.Centroid = "one.tif", 3, 4, []float64{1.5, 2}
		f.Notice(true, "odd", "an odd frame")
	}
	s.seq++
	return f, nil
}

// TestApart: a source in a child gives exactly the same frames as in this process, and can be opened again.
func TestApart(t *testing.T) {
	s := newRecording(t, "trial", "{at: 4, do: skip, frames: 6, scale: 2.5e-3}")
	for range 2 {
		if err := s.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		if info := s.Info(); info.Frames != 6 || !info.Timed || info.Live {
			t.Errorf("%+v; 6 frames, timed and not live expected", info)
		}
		frames, skipped := ingesttest.ReadAll(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if len(frames) != 6 || !reflect.DeepEqual(skipped, []string{"torn_picture"}) {
			t.Fatalf("%d frames, skipped %v; 6 and one torn_picture expected", len(frames), skipped)
		}
		for i, f := range frames {
			want := ingesttest.Seen{Seq: uint64(i), T: 2.5e-3 * float64(i), File: ".", Corner: []float64{float64(i)}}
			if i == 1 {
				want.File, want.Dropped, want.Trajectory, want.Events = "one.tif", 3, 4, []string{"odd"}
			}
			if !reflect.DeepEqual(f, want) {
				t.Errorf("frame %d is %+v, %+v expected", i, f, want)
			}
		}
	}
}

// TestApartOptions: wrong options give an error before a process is started.
func TestApartOptions(t *testing.T) {
	for options, want := range map[string]string{"{width: 0}": "width is below 1", "{wide: 3}": "wide"} {
		_, err := construct("trial", func(dst any) error {
			return yaml.UnmarshalWithOptions([]byte(options), dst, yaml.DisallowUnknownField())
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %q expected", options, err, want)
		}
	}
}

// TestApartEnds: however a child ends, the error is one line with the child's last output, and the source can be opened again.
func TestApartEnds(t *testing.T) {
	for _, c := range []struct {
		do, want string
		lost     bool
	}{
		{"lose", "the cable: source is not connected", true},
		{"fail", "no such camera: plug one in", false},
		{"exit", "trial: its process ended: exit status 7: the driver gave up: source is not connected", true},
		{"abort", "(-215:Assertion failed) !_src.empty() in function 'cvtColor'", true},
		{"panic", "panic: a mistake", true},
	} {
		t.Run(c.do, func(t *testing.T) {
			s := newRecording(t, "trial", "{at: 3, every: 100ms, do: "+c.do+"}") // slow, because a child reads ahead
			defer s.Close()
			for range 2 {
				if err := s.Open(context.Background()); err != nil {
					t.Fatal(err)
				}
				var err error
				n := 0
				for ; err == nil; n++ {
					var f *frame.Frame
					if f, err = s.Read(context.Background()); err == nil {
						f.Close()
					}
				}
				if n > 3 || !strings.Contains(err.Error(), c.want) || errors.Is(err, pipeline.ErrNotConnected) != c.lost {
					t.Errorf("Read %d: %v, %q expected, at Read 3 at the latest", n, err, c.want)
				}
				if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "goroutine") || strings.Count(err.Error(), "not connected") > 1 {
					t.Errorf("not one plain line: %v", err)
				}
				if _, again := s.Read(context.Background()); again != err {
					t.Errorf("then %v, the same expected", again)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestApartOpenFails(t *testing.T) {
	for do, want := range map[string]string{"fail": "no such camera", "abort": "cvtColor"} {
		s := newRecording(t, "trial", "{open: "+do+"}")
		if err := s.Open(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %q expected", do, err, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestApartHangs: a driver that never returns blocks neither Open nor Read, and Close only for a moment. Afterwards the process is gone.
func TestApartHangs(t *testing.T) {
	for name, hang := range map[string]string{"open": "open: hang", "read": "at: 2, do: hang"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			s := newRecording(t, "trial", "{"+hang+", pid: "+file+"}")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if name == "open" {
				go func() { // after the source hangs
					childPID(t, file)
					time.Sleep(100 * time.Millisecond)
					cancel()
				}()
			}
			err := s.Open(ctx)
			if name == "read" {
				if err != nil {
					t.Fatal(err)
				}
				f, problem := s.Read(ctx)
				if problem != nil {
					t.Fatal(problem)
				}
				f.Close()
				time.AfterFunc(200*time.Millisecond, cancel)
				_, err = s.Read(ctx)
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v, the end of ctx expected", err)
			}
			ended := time.Now()
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(ended); took > 5*system.Grace { // allows for busy machines
				t.Errorf("closed after %v", took)
			}
			if err := syscall.Kill(childPID(t, file), 0); err != syscall.ESRCH {
				t.Errorf("the child is still there: %v", err)
			}
		})
	}
}

// childPID waits for the process number that a trial source writes. It returns 0 if there is none within a minute.
func childPID(t *testing.T, file string) int {
	t.Helper()
	for range 6000 {
		if data, err := os.ReadFile(file); err == nil && len(data) > 0 {
			pid, err := strconv.Atoi(string(data))
			if err != nil {
				t.Error(err)
			}
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s was not written", file)
	return 0
}

// TestApartKilled: the child receives SIGKILL from outside, as from the kernel when memory runs out.
func TestApartKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	s := openRecording(t, "trial", "{live: true, every: 5ms, frames: 100000, pid: "+file+"}")
	pid := childPID(t, file)
	for n := 0; ; n++ {
		f, err := s.Read(context.Background())
		if err != nil {
			if n < 3 || !errors.Is(err, pipeline.ErrNotConnected) || !strings.Contains(err.Error(), "signal: killed") {
				t.Errorf("Read %d: %v, killed and not connected expected", n, err)
			}
			return
		}
		f.Close()
		if n == 3 {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestApartThread: a child outlives the thread that opened its source.
func TestApartThread(t *testing.T) {
	s := newRecording(t, "trial", "{frames: 3, every: 100ms}")
	defer s.Close()
	opened := make(chan error)
	var open func()
	open = func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with its goroutine, unless it is the main thread
		if syscall.Gettid() == syscall.Getpid() {
			go open()
			return
		}
		opened <- s.Open(context.Background())
	}
	go open()
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	if frames, _ := ingesttest.ReadAll(t, s); len(frames) != 3 {
		t.Errorf("%d frames, 3 expected", len(frames))
	}
}

// TestApartPatience: a Read that is cancelled before a frame arrives loses no frame.
func TestApartPatience(t *testing.T) {
	s := openRecording(t, "trial", "{every: 300ms, frames: 3}")
	var got []uint64
	for {
		soon, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond) // long before the next frame is sent
		f, err := s.Read(soon)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			f, err = s.Read(context.Background())
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f.Seq)
		f.Close()
	}
	if !reflect.DeepEqual(got, []uint64{0, 1, 2}) {
		t.Errorf("frames %v, 0 to 2 expected", got)
	}
}

// TestApartBackPressure: a slow reader gets the newest frames of a live source, at most maxWaiting frames plus the one in transit old, and all others are
// counted. From a source that waits it gets every frame.
func TestApartBackPressure(t *testing.T) {
	const every, pause, frames = 5 * time.Millisecond, 50 * time.Millisecond, 200
	s := openRecording(t, "trial", fmt.Sprintf("{live: true, every: %v, frames: %d}", every, frames))
	var got, dropped, next uint64
	var ages []time.Duration
	for {
		f, err := s.Read(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		lost := f.Meta.Dropped
		if next <= 1 && f.Seq >= 1 {
			lost -= 3 // Dropped of frame 1 itself, which was passed on with it
		}
		if f.Seq != next+lost {
			t.Errorf("frame %d after %d with %d dropped", f.Seq, int(next)-1, lost)
		}
		ages = append(ages, time.Since(f.Meta.Arrived))
		next, got, dropped = f.Seq+1, got+1, dropped+lost
		f.Close()
		time.Sleep(pause)
	}
	// Two frames wait for at most two periods. The scheduler adds the rest, so the test uses the median.
	slices.Sort(ages)
	if age := ages[len(ages)/2]; age < 0 || age > (maxWaiting+1)*every+50*time.Millisecond {
		t.Errorf("frames are %v old", age)
	}
	if got+dropped != frames || dropped < frames/2 {
		t.Errorf("%d frames and %d dropped of %d: all of them, and most of them dropped, expected", got, dropped, frames)
	}

	s = openRecording(t, "trial", "{frames: 20, width: 300}") // larger than a pipe's buffer
	for n := uint64(0); n < 20; n++ {
		f, err := s.Read(context.Background())
		if err != nil || f.Seq != n {
			t.Fatalf("frame %d: %v", n, err)
		}
		f.Close()
		time.Sleep(time.Millisecond)
	}
}

func BenchmarkApart(b *testing.B) {
	for _, width := range []int{64, 512, 2048} {
		b.Run(strconv.Itoa(width), func(b *testing.B) {
			s := openRecording(b, "trial", fmt.Sprintf("{frames: 1000000000, width: %d}", width))
			b.SetBytes(int64(width * width))
			b.ReportAllocs()
			for b.Loop() {
				f, err := s.Read(context.Background())
				if err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
	}
}
