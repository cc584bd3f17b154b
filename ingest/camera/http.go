package camera

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"

	"gocv.io/x/gocv"

	"driftscope/ingest/mpegts"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// httpCamera is what a server gives: pictures of MJPEG one behind the other, an MPEG transport stream, or another video, which FFmpeg fetches itself.
type httpCamera struct {
	name    string // for errors
	address *url.URL
	ca      string
	timing  timing

	cancel context.CancelFunc // ends what is fetched
	pipe   *os.File           // the end that FFmpeg reads
	inner  pipeline.Source    // once it is known what is there
}

func newHTTP(o urlOptions, address *url.URL) pipeline.Source {
	return &httpCamera{name: shown(address), address: address, ca: o.CA, timing: timing{reports: o.Clock == byCamera}}
}

// Info says what all cameras do.
func (s *httpCamera) Info() pipeline.Info { return aCamera }

// Open asks the server, and waits for the first frame.
func (s *httpCamera) Open(ctx context.Context) error {
	whole, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the answer goes on after Open
	s.cancel = cancel
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	response, err := fetch(whole, s.address, s.ca)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s cannot be opened: %w: %s", s.name, err, adviceHTTP)
	}
	s.inner = s.what(response)
	return s.inner.Open(ctx)
}

const adviceHTTP = "open the address in a browser; docs/howto/cameras.md has what helps"

// what reads an answer, by what the server says that it is, or by how it begins.
func (s *httpCamera) what(response *http.Response) pipeline.Source {
	body := bufio.NewReaderSize(response.Body, readAhead)
	begin, _ := body.Peek(mpegts.PacketSize + 1) // fewer bytes are no transport stream
	switch {
	case isMultipart(response.Header.Get("Content-Type")):
		return &mjpegCamera{name: s.name, body: response.Body, cancel: s.cancel, parts: parts{from: body}, timing: s.timing}
	case mpegts.Begins(begin):
		return s.transport(body, response)
	}
	response.Body.Close()
	return &opencvStream{
		name: s.name, file: true, advice: adviceHTTP,
		open: func() (*gocv.VideoCapture, error) {
			return gocv.VideoCaptureFileWithAPI(s.address.String(), gocv.VideoCaptureFFmpeg)
		},
	}
}

// readAhead is how much of an answer is read at once: a packet of TCP, several times.
const readAhead = 64 << 10

// transport has FFmpeg read a transport stream through a pipe, up to its last picture that is whole. A file on a server ends; a camera is lost.
func (s *httpCamera) transport(from io.Reader, response *http.Response) pipeline.Source {
	var over atomic.Bool
	return &opencvStream{
		name: s.name, advice: adviceHTTP, over: func() bool { return over.Load() },
		open: func() (*gocv.VideoCapture, error) {
			far, near, err := os.Pipe()
			if err != nil {
				return nil, err
			}
			s.pipe = far
			go func() {
				defer near.Close() // last: who sees the end of the pipe asks whether it is over
				defer response.Body.Close()
				whole := mpegts.NewWriter(near)
				_, err := io.Copy(whole, from)
				whole.End() // fails where FFmpeg has gone
				over.Store(err == nil && response.ContentLength >= 0)
			}()
			return gocv.VideoCaptureFileWithAPI(fmt.Sprintf("pipe:%d", far.Fd()), gocv.VideoCaptureFFmpeg)
		},
	}
}

// Read gives the next frame.
func (s *httpCamera) Read(ctx context.Context) (*frame.Frame, error) { return s.inner.Read(ctx) }

// Close ends the connection.
func (s *httpCamera) Close() (err error) {
	if s.cancel != nil {
		s.cancel()
	}
	if s.inner != nil {
		err = s.inner.Close()
		s.inner = nil
	}
	if s.pipe != nil {
		s.pipe.Close()
		s.pipe = nil
	}
	return err
}
