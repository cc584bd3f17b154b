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

	"driftscope/ingest/avcodec"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// httpCamera reads MJPEG pictures or an MPEG transport stream from a server. If the server sends any other video, FFmpeg fetches it itself.
type httpCamera struct {
	name    string // for errors
	address *url.URL
	ca      string
	timing  timing

	cancel context.CancelFunc // ends the download
	pipe   *os.File           // read by FFmpeg
	inner  pipeline.Source    // set once the content type is known
}

func newHTTP(o urlOptions, address *url.URL) pipeline.Source {
	return &httpCamera{name: shown(address), address: address, ca: o.CA, timing: timing{reports: o.Clock == byCamera}}
}

// Info returns the properties that all cameras share.
func (s *httpCamera) Info() pipeline.Info { return aCamera }

// Open requests the address and waits for the first frame.
func (s *httpCamera) Open(ctx context.Context) error {
	whole, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the response outlives Open
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

const adviceHTTP = "open the address in a browser; docs/howto/cameras.md has more help"

// what returns the source that reads a response, chosen by the content type or the first bytes.
func (s *httpCamera) what(response *http.Response) pipeline.Source {
	body := bufio.NewReaderSize(response.Body, readAhead)
	begin, _ := body.Peek(avcodec.PacketSize + 1) // with fewer bytes it is no transport stream
	switch {
	case isMultipart(response.Header.Get("Content-Type")):
		return &mjpegCamera{name: s.name, body: response.Body, cancel: s.cancel, parts: parts{from: body}, timing: s.timing}
	case avcodec.IsTransportStream(begin):
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

// readAhead is the size of one read: several TCP packets.
const readAhead = 64 << 10

// transport feeds a transport stream to FFmpeg through a pipe, up to the last whole picture. The end of a file is the end of the stream; the end of a camera's
// stream is a lost connection.
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
				defer near.Close() // closed last, because the reader of the pipe then checks whether the stream has ended
				defer response.Body.Close()
				whole := avcodec.NewTransportWriter(near)
				_, err := io.Copy(whole, from)
				whole.End() // fails if FFmpeg has exited
				over.Store(err == nil && response.ContentLength >= 0)
			}()
			return gocv.VideoCaptureFileWithAPI(fmt.Sprintf("pipe:%d", far.Fd()), gocv.VideoCaptureFFmpeg)
		},
	}
}

// Read returns the next frame.
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
