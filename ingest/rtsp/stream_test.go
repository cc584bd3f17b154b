//go:build cgo

package rtsp_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"driftscope/ingest/avcodec"
	"driftscope/ingest/ingesttest"
	"driftscope/ingest/rtsp"
)

// TestStream: units of every codec arrive with the parameter sets that a decoder needs, and Next returns when its context ends.
func TestStream(t *testing.T) {
	for want, o := range map[rtsp.Codec]ingesttest.CameraOptions{
		rtsp.H264: {Codec: avcodec.H264, User: "guest", Password: "secret", Digest: true}, rtsp.H265: {Codec: avcodec.H265, UDP: true}, rtsp.MJPEG: {},
	} {
		camera := ingesttest.StartCamera(t, o)
		s, err := rtsp.Open(t.Context(), rtsp.Options{URL: camera.URL(), UDP: o.UDP})
		if err != nil {
			t.Fatal(err)
		}
		if s.Codec() != want || (len(s.ParameterSets()) == 0) != (want == rtsp.MJPEG) {
			t.Errorf("codec %d, %d bytes of parameter sets; %d expected", s.Codec(), len(s.ParameterSets()), want)
		}
		for i := range 10 {
			u, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(u.Data) == 0 || i > 0 && u.Gap || time.Since(u.Arrived) > 5*time.Second {
				t.Errorf("unit %d: %d bytes, gap %v, arrived at %v", i, len(u.Data), u.Gap, u.Arrived)
			}
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for err == nil {
			_, err = s.Next(gone)
		}
		if err != context.Canceled {
			t.Errorf("%v, canceled expected", err)
		}
		camera.Off()
		for err = nil; err == nil; {
			_, err = s.Next(t.Context())
		}
		if strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
		s.Close()
	}
}

// TestStreamRefused: errors do not contain the password, and Open of a silent server ends with its context.
func TestStreamRefused(t *testing.T) {
	camera := ingesttest.StartCamera(t, ingesttest.CameraOptions{User: "guest", Password: "secret"})
	for address, want := range map[string]string{
		strings.Replace(camera.URL(), "secret", "s3cret", 1): "(401)",
		camera.URL() + "/else":                               "(404)",
		"http://guest:secret@127.0.0.1/":                     "not a valid RTSP address",
		"rtsp://guest:secret@127.0.0.1:1/x":                  "refused",
		"rtsps://" + camera.URL()[7:] + "?x=1":               "",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		s, err := rtsp.Open(ctx, rtsp.Options{URL: address})
		cancel()
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v, %q expected", address, err, want)
		}
	}
}
