package camera

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gocv.io/x/gocv"

	"driftscope/ingest/ingesttest"
	"driftscope/internal/flow/pipeline"
)

// TestGStreamer: any pipeline is read to its end, and formats are kept if possible.
func TestGStreamer(t *testing.T) {
	for format, kind := range map[string]gocv.MatType{
		"GRAY8": gocv.MatTypeCV8UC1, "GRAY16_LE": gocv.MatTypeCV16UC1, "BGR": gocv.MatTypeCV8UC3, "I420": gocv.MatTypeCV8UC3, "RGBA": gocv.MatTypeCV8UC3,
	} {
		s := openRecording(t, "gst", "{pipeline: 'videotestsrc num-buffers=20 is-live=true ! video/x-raw,format="+format+",width=30,height=20,framerate=100/1'}")
		var n, next uint64
		for ; ; n++ {
			f, err := s.Read(context.Background())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if m := f.Mat(); m.Type() != kind || m.Cols() != 30 || m.Rows() != 20 {
				t.Fatalf("%s: %d x %d of type %v, %v expected", format, m.Cols(), m.Rows(), m.Type(), kind)
			}
			if f.Seq != next+f.Meta.Dropped {
				t.Errorf("%s: frame %d after %d with %d dropped", format, f.Seq, int(next)-1, f.Meta.Dropped)
			}
			next = f.Seq + 1
			f.Close()
		}
		if n == 0 || next > 20 {
			t.Errorf("%s: %d frames, the last is number %d; at most 20 expected", format, n, int(next)-1)
		}
	}
}

func TestCamerasRefused(t *testing.T) {
	for _, c := range []struct{ kind, options, want string }{
		{"gst", "{pipeline: nosuchsrc}", `no element "nosuchsrc"`},
		{"gst", "{pipeline: 'filesrc location=/no/such/file ! decodebin'}", "/no/such/file"},
		{"camera", "{device: 255}", "camera 255 cannot be opened"},
		{"url", "{url: 'http://user:secret@127.0.0.1:1/none'}", "http://user:xxxxx@127.0.0.1:1/none cannot be opened"},
	} {
		s := newRecording(t, c.kind, c.options)
		err := s.Open(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s %s: %v, %q expected", c.kind, c.options, err, c.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestURL: a video on a server is read to its end, and a server that disappears gives ErrNotConnected.
func TestURL(t *testing.T) {
	path := ingesttest.Video(t, 30)
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(path))))
	defer server.Close()
	s := openRecording(t, "url", "{url: '"+server.URL+"/"+filepath.Base(path)+"'}")
	if !s.Info().Live {
		t.Error("not live")
	}
	var got uint64
	for {
		f, err := s.Read(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("after %d frames: %v", got, err)
		}
		if m := f.Mat(); m.Type() != gocv.MatTypeCV8UC3 {
			t.Errorf("type %v", m.Type())
		}
		got += 1 + f.Meta.Dropped
		f.Close()
	}
	if got != 30 {
		t.Errorf("%d frames accounted for, 30 expected", got)
	}

	torn := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "multipart/x-mixed-replace; boundary=frame")
		grey := gocv.NewMatWithSize(16, 16, gocv.MatTypeCV8UC1)
		defer grey.Close()
		jpeg, err := gocv.IMEncode(gocv.JPEGFileExt, grey)
		if err != nil {
			return
		}
		defer jpeg.Close()
		for range 30 {
			io.WriteString(w, "--frame\r\nContent-Type: image/jpeg\r\n\r\n")
			w.Write(jpeg.GetBytes())
			io.WriteString(w, "\r\n")
		}
	}))
	defer torn.Close()
	s = openRecording(t, "url", "{url: '"+torn.URL+"'}")
	for {
		f, err := s.Read(context.Background())
		if err == nil {
			f.Close()
			continue
		}
		if !errors.Is(err, pipeline.ErrNotConnected) {
			t.Errorf("%v, not connected expected", err)
		}
		break
	}
}

func TestSupport(t *testing.T) {
	got := support("General configuration\n  Video I/O:\n    FFMPEG:                      YES\n      avcodec:  YES (59)\n    GStreamer: YES (1.20.3)\n    v4l/v4l2:   YES (linux/videodev2.h)\n")
	if want := []string{"camera: OpenCV's v4l/v4l2: yes (linux/videodev2.h)", "url: H.264, H.265 and MJPEG over RTSP, MJPEG over HTTP; other videos on a server by OpenCV's FFMPEG: yes"}; !slices.Equal(got, want) {
		t.Errorf("%q, %q expected", got, want)
	}
	if lines := Support(); len(lines) != 3 {
		t.Errorf("this build: %q, three lines expected", lines)
	}
	list := "Aravis-Fake-GV01 (127.0.0.1)\nBasler acA-640 (USB3)\nNo device found\nodd name! (x)\n"
	if got, want := genicamCameras(list), []string{"genicam:Aravis-Fake-GV01  at 127.0.0.1", "genicam:Basler acA-640  at USB3"}; !slices.Equal(got, want) {
		t.Errorf("%q, %q expected", got, want)
	}
}
