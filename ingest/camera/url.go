package camera

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"gocv.io/x/gocv"

	"driftscope/internal/pipeline"
)

// urlOptions are the keys of a url source.
type urlOptions struct {
	URL string `yaml:"url"` // rtsp://, http:// or https://
}

// urlSchemes are what FFmpeg is let loose on: it knows others, which read files and run commands.
var urlSchemes = []string{"rtsp", "http", "https"}

// maxURL bounds an address.
const maxURL = 2048

// NewURL makes a source of a network camera or a video on a server, read by FFmpeg: 8 bits, three channels.
func NewURL(decode func(dst any) error) (pipeline.Source, error) {
	var o urlOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if len(o.URL) > maxURL {
		return nil, fmt.Errorf("url has %d bytes, at most %d expected", len(o.URL), maxURL)
	}
	address, err := url.Parse(o.URL)
	if err != nil || address.Host == "" || !slices.Contains(urlSchemes, address.Scheme) {
		return nil, errors.New("url is no address that begins with rtsp://, http:// or https://: give the one that the camera's page shows")
	}
	return &opencvStream{
		name: address.Redacted(), file: address.Scheme != "rtsp", advice: "try the address with ffplay, user and password included",
		open: func() (*gocv.VideoCapture, error) {
			return gocv.VideoCaptureFileWithAPI(o.URL, gocv.VideoCaptureFFmpeg)
		},
	}, nil
}
