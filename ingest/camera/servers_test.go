package camera

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"driftscope/ingest/ingesttest"
	"driftscope/internal/suite"
)

// TestRecordedServer: recorded traffic of GStreamer's server (1.22) gives the original pictures in order, at the times of the server's clock, 10 per second.
func TestRecordedServer(t *testing.T) {
	for name, first := range map[string]string{
		"h264": "2026-11-26T12:43:09.155288222Z", "h265": "2026-11-26T12:43:17.518584111Z", "mjpeg": "2026-11-26T13:02:25.119668999Z",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := opened(t, "{url: '"+ingesttest.Replay(t, filepath.Join("testdata", "gstreamer-"+name+".rtsp"))+"'}")
			frames := watch(t, s, 15)
			followsAt(t, frames, 10)
			if got := frames[0].t.Format(time.RFC3339Nano); got != first || frames[0].seq != 0 {
				t.Errorf("frame %d was taken at %s, frame 0 at %s expected", frames[0].seq, got, first)
			}
		})
	}
}

// TestRecordedRefresh: all pictures of a camera with intra refresh are whole. The recording begins where FFmpeg reports 30 torn pictures as recovered. There
// are 100 pictures per second.
func TestRecordedRefresh(t *testing.T) {
	t.Parallel()
	s := opened(t, "{url: '"+ingesttest.Replay(t, filepath.Join("testdata", "gstreamer-refreshed.rtsp"))+"', clock: arrival}")
	follows(t, watch(t, s, 25))
}

// TestGStreamerServer runs the test of TestRecordedServer with a live server. It needs many packages, which the tests' setup does not install.
func TestGStreamerServer(t *testing.T) {
	suite.Long(t)
	film := filepath.Join(t.TempDir(), "film.yuv")
	var raw []byte
	for i := range ingesttest.Pictures {
		raw = append(append(raw, ingesttest.CodedPicture(i)...), bytes.Repeat([]byte{128}, ingesttest.Width*ingesttest.Height/2)...)
	}
	if err := os.WriteFile(film, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		pipeline string
		who      string
		options  string
	}{
		"H.264, digest": {"openh264enc gop-size=10 bitrate=2000000 slice-mode=n-slices num-slices=2 ! h264parse ! rtph264pay", "digest", ""},
		"H.265, basic":  {"x265enc tune=zerolatency key-int-max=10 bitrate=2000 speed-preset=ultrafast ! rtph265pay", "basic", ", transport: udp"},
		"MJPEG":         {"videoconvert ! video/x-raw,format=I420,colorimetry=(string)1:4:0:0 ! jpegenc quality=95 ! rtpjpegpay", "", ", transport: udp, clock: arrival"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			follows(t, watch(t, opened(t, "{url: '"+gstreamerServer(t, film, c.pipeline+" name=pay0", c.who)+"'"+c.options+"}"), 100))
		})
	}
}

// gstreamerServer starts GStreamer's server, or skips the test if it is not installed.
func gstreamerServer(t *testing.T, film, pipeline, who string) (url string) {
	t.Helper()
	const python = "/usr/bin/python3" // Debian's, which has Debian's modules
	if err := exec.Command(python, "-c", "import gi; gi.require_version('GstRtspServer', '1.0')").Run(); err != nil {
		t.Skip("GStreamer's server is not installed: sudo apt-get install python3-gi gir1.2-gst-rtsp-server-1.0")
	}
	args := []string{"testdata/server.py", film, pipeline}
	user := ""
	if who != "" {
		args, user = append(args, who, "guest", "secret"), "guest:secret@"
	}
	c := exec.Command(python, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var problems strings.Builder
	c.Stderr = &problems
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		c.Wait()
		t.Fatalf("%v: %s", err, problems.String())
	}
	return "rtsp://" + user + "127.0.0.1:" + strings.TrimSpace(port) + "/film"
}
