package camera

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"gocv.io/x/gocv"

	"driftscope/internal/flow/pipeline"
	"driftscope/internal/suite"
)

// The fake camera's region and rate in these tests: small, and slow enough for a busy machine, fast enough for a short test.
const (
	fakeRegion = "region: [0, 0, 64, 48], exposure: 10ms"
	fakePeriod = 8 * time.Millisecond
	fakeRate   = "fps: 125"
)

// exposure is a test's record of a camera's frame.
type exposure struct {
	t       time.Duration // time since the first frame
	dropped uint64
	number  int // frame number in the pixels, modulo suite.CameraPixels; Mono8 only
}

// shoot reads n frames of an open source.
func shoot(t *testing.T, s pipeline.Source, n int, kind gocv.MatType) []exposure {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var shots []exposure
	var first time.Time
	var next uint64
	for i := range n {
		f, err := s.Read(ctx)
		if err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		m := f.Mat()
		if m.Type() != kind || m.Cols() != 64 || m.Rows() != 48 || f.Seq != next+f.Meta.Dropped {
			t.Fatalf("frame %d is number %d, %d x %d of type %v", i, f.Seq, m.Cols(), m.Rows(), m.Type())
		}
		if i == 0 {
			first = f.Time
			// Times are tied to the arrival of the first frame, which may precede this one. If a busy machine received it late, this frame's time is ahead by
			// the delay.
			if age := time.Since(f.Time); age < -time.Second || age > time.Minute {
				t.Errorf("the first frame was taken %v ago", age)
			}
		}
		next = f.Seq + 1
		one := exposure{t: f.Time.Sub(first), dropped: f.Meta.Dropped}
		if kind == gocv.MatTypeCV8UC1 {
			one.number = int(m.GetUCharAt(0, 0))
			if v := int(m.GetUCharAt(47, 63)); v != (one.number+47+63)%suite.CameraPixels {
				t.Fatalf("frame %d: the last pixel is %d, the first %d: not of one frame", i, v, one.number)
			}
		}
		if age := time.Since(f.Meta.Arrived); age < 0 || age > 5*time.Second {
			t.Errorf("frame %d arrived %v ago", i, age)
		}
		shots = append(shots, one)
		f.Close()
	}
	return shots
}

// account checks that every frame of the camera is accounted for. The returned frames and the counted missing ones must fill the time at one frame per period,
// and include every frame that the camera sent. On a busy machine the camera stamps frames late. The first stamps then do not determine the ticks, and a stamp
// late by nearly a period counts for the next tick until the next gap. So a count may be wrong by one, but errors must not add up.
func account(t *testing.T, shots []exposure, mono8 bool) (dropped, lost int) {
	t.Helper()
	const settled = 20
	phase := phaseOf(shots)
	off := map[int]int{} // number of frames by the difference between the counted and the true tick
	for i, s := range shots {
		dropped += int(s.dropped)
		if i >= settled {
			off[i+dropped-int(math.Floor((s.t-phase).Seconds()/fakePeriod.Seconds()))]++
		}
		if i == 0 || !mono8 {
			continue
		}
		lost += (s.number-shots[i-1].number+suite.CameraPixels)%suite.CameraPixels - 1
		if lost > dropped+1 {
			t.Errorf("frame %d: the camera sent %d that did not come, %d were told to be missing", i, lost, dropped)
		}
	}
	usual := 0
	for d, n := range off {
		if n > off[usual] {
			usual = d
		}
	}
	for d, n := range off {
		if d < usual-1 || d > usual+1 {
			t.Errorf("%d frames are %d off from the %d others", n, d-usual, off[usual])
		}
	}
	return dropped, lost
}

// phaseOf returns the phase of the camera's ticks, which is where most stamps lie closely together. Stamps are on time or late by up to a period.
func phaseOf(shots []exposure) time.Duration {
	const close = fakePeriod / 20
	rest := make([]time.Duration, 0, 2*len(shots))
	for _, s := range shots {
		rest = append(rest, s.t%fakePeriod, s.t%fakePeriod+fakePeriod)
	}
	slices.Sort(rest)
	var phase time.Duration
	most := 0
	for i, r := range rest {
		if end, _ := slices.BinarySearch(rest, r+close); end-i > most {
			phase, most = r, end-i
		}
	}
	return phase - close
}

// TestGenICam: all of 500 frames of 8 and of 16 bits are accounted for.
func TestGenICam(t *testing.T) {
	suite.StartCamera(t)
	for pixel, kind := range map[string]gocv.MatType{"mono8": gocv.MatTypeCV8UC1, "mono16": gocv.MatTypeCV16UC1} {
		t.Run(pixel, func(t *testing.T) {
			s := openRecording(t, "genicam", "{camera: "+suite.CameraName+", pixel: "+pixel+", "+fakeRate+", "+fakeRegion+"}")
			if !s.Info().Live || !s.Info().Timed {
				t.Error("a camera that is not live or does not know the time")
			}
			shots := shoot(t, s, 500, kind)
			dropped, lost := account(t, shots, pixel == "mono8")
			t.Logf("%d frames in %v, %d missing, of which the camera sent %d", len(shots), shots[len(shots)-1].t, dropped, lost)
		})
	}
}

// TestGenICamUnplugged: a camera that disappears gives ErrNotConnected within a few seconds. Once it is back, the reopened source returns frames, and times
// continue.
func TestGenICamUnplugged(t *testing.T) {
	camera := suite.StartCamera(t)
	s := newRecording(t, "genicam", "{camera: "+suite.CameraName+", "+fakeRate+", "+fakeRegion+"}")
	defer s.Close()
	if err := s.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	shoot(t, s, 50, gocv.MatTypeCV8UC1)
	camera.Unplug()
	unplugged := time.Now()
	for {
		f, err := s.Read(context.Background())
		if err == nil {
			f.Close()
			continue
		}
		if !errors.Is(err, pipeline.ErrNotConnected) || !strings.Contains(err.Error(), suite.CameraName) {
			t.Errorf("%v; the camera's name and not connected expected", err)
		}
		break
	}
	if took := time.Since(unplugged); took > 5*time.Second {
		t.Errorf("the loss was told after %v", took)
	}
	var back time.Time // time when the camera was plugged in again
	for tries := 0; ; tries++ {
		s.Close()
		if tries == 1 {
			camera.Plug()
			back = time.Now()
		}
		err := s.Open(context.Background())
		if err == nil {
			break
		}
		if tries == 0 && !strings.Contains(err.Error(), suite.CameraName) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v; one line with the camera's name expected", err)
		}
	}
	f, err := s.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// It takes up to 3 s on an idle machine, because Aravis searches for cameras for a second and the child loads its libraries. A busy machine takes longer.
	took := time.Since(back)
	t.Logf("frames again %v after the camera was back", took)
	if took > 10*time.Second {
		t.Error("that is too long")
	}
	// Times are tied to the arrival of the first frame. If a busy machine received it late, later times are ahead by the delay.
	if age := time.Since(f.Time); age < -time.Second/2 || age > 3*time.Second {
		t.Errorf("the first frame's time is %v ago", age)
	}
}

// TestGenICamPacketLoss: frames with a missing packet are not returned, but counted.
func TestGenICamPacketLoss(t *testing.T) {
	suite.StartCamera(t, "-r", "20") // of a thousand packets; a frame has five or so
	s := openRecording(t, "genicam", "{camera: "+suite.CameraName+", "+fakeRate+", "+fakeRegion+"}")
	shots := shoot(t, s, 500, gocv.MatTypeCV8UC1)
	dropped, lost := account(t, shots, true)
	t.Logf("%d frames in %v, %d missing, of which the camera sent %d", len(shots), shots[len(shots)-1].t, dropped, lost)
	if lost == 0 {
		t.Error("no frame was lost: the test has shown nothing")
	}
}

func TestGenICamMissing(t *testing.T) {
	suite.StartCamera(t)
	s := newRecording(t, "genicam", "{camera: NOSUCH}")
	err := s.Open(context.Background())
	if err == nil || !strings.Contains(err.Error(), "NOSUCH") || !strings.Contains(err.Error(), "arv-tool") {
		t.Errorf("%v; the camera's name and what to do expected", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestCameraOptions: options out of range, or with characters that could change a pipeline's description, are rejected before anything starts.
func TestCameraOptions(t *testing.T) {
	for _, c := range []struct{ kind, options, want string }{
		{"genicam", "{}", "camera is missing"},
		{"genicam", `{camera: 'a" ! filesink location=/etc/passwd'}`, "letters, digits"},
		{"genicam", "{camera: a!b}", "letters, digits"},
		{"genicam", `{camera: "a\nb"}`, "letters, digits"},
		{"genicam", "{camera: X, pixel: rgb8}", "mono8, mono10"},
		{"genicam", "{camera: X, fps: -1}", "fps is -1"},
		{"genicam", "{camera: X, fps: 1e-9}", "fps is 1e-09"},
		{"genicam", "{camera: X, exposure: -1s}", "exposure is -1s"},
		{"genicam", "{camera: X, gain: 501}", "gain is 501"},
		{"genicam", "{camera: X, region: [-1, 0, 8, 8]}", "region begins at -1,0"},
		{"genicam", "{camera: X, region: [0, 0, 99999, 8]}", "99999x8"},
		{"genicam", "{camera: X, trigger: 'Line0 PixelFormat=RGB8'}", "a line's name"},
		{"genicam", "{camera: X, trigger: Line0, fps: 5}", "give one of them"},
		{"gst", "{}", "pipeline is missing"},
		{"gst", "{pipeline: " + strings.Repeat("a", maxPipeline+1) + "}", "at most 8192"},
		{"camera", "{device: -1}", "device is -1"},
		{"camera", "{width: 640}", "give both"},
		{"camera", "{width: 640, height: 99999}", "640x99999"},
		{"camera", "{fourcc: mjpeg}", "four capitals"},
		{"camera", "{fps: -5}", "fps is -5"},
		{"url", "{}", "url does not begin with rtsp://"},
		{"url", "{url: 'file:///etc/passwd'}", "url does not begin with rtsp://"},
		{"url", "{url: 'concat:http://a|file:///b'}", "url does not begin with rtsp://"},
		{"url", "{url: 'http://" + strings.Repeat("a", maxURL) + "'}", "at most 2048"},
	} {
		_, err := construct(c.kind, func(dst any) error {
			return yaml.UnmarshalWithOptions([]byte(c.options), dst, yaml.DisallowUnknownField())
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %s: %v, %q on one line expected", c.kind, c.options, err, c.want)
		}
	}
}

// TestGenICamDescription: the pipeline contains every option, and its caps name the format.
func TestGenICamDescription(t *testing.T) {
	gain := 1.5
	for want, o := range map[string]genicamOptions{
		"aravissrc ! video/x-raw,format=GRAY8" + appsink: {Camera: "any", Pixel: "mono8"},
		`aravissrc camera-name="Basler-1 2" exposure-auto=off exposure=1500 gain-auto=off gain=1.5 offset-x=4 offset-y=8 features="PixelFormat=Mono12"` +
			" ! video/x-raw,format=GRAY16_LE,width=64,height=32,framerate=29970/1000" + appsink: {
			Camera: "Basler-1 2", Pixel: "mono12", FPS: 29.97, Exposure: 1500 * time.Microsecond, Gain: &gain, Region: &[4]int{4, 8, 64, 32},
		},
		`aravissrc camera-name="X" features="TriggerSelector=FrameStart TriggerMode=On TriggerSource=Line0" ! video/x-raw,format=GRAY16_LE` + appsink: {
			Camera: "X", Pixel: "mono16", Trigger: "Line0",
		},
		`aravissrc features="PixelFormat=Mono12p" ! video/x-raw,format=GRAY8` + appsink: {Camera: "any", Pixel: "mono12p"},
	} {
		if err := o.check(); err != nil {
			t.Error(err)
		}
		if got := o.description(); got != want {
			t.Errorf("%s\n%s expected", got, want)
		}
	}
}
