package rtsp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bluenviron/gortsplib/v5"
	"github.com/bluenviron/gortsplib/v5/pkg/base"
	"github.com/bluenviron/gortsplib/v5/pkg/description"
	"github.com/bluenviron/gortsplib/v5/pkg/format"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
)

// Limits on the silence of a camera and on the time for setting up the stream.
const (
	silence = 10 * time.Second
	opening = 15 * time.Second
)

// Bounds on the queue of units for a slow decoder: some seconds of video, or a few of the largest units.
const (
	maxQueued      = 128
	maxQueuedBytes = 2 * maxUnit
)

// Options describes the connection to a camera.
type Options struct {
	URL string // rtsp:// or rtsps://, with user and password if required
	UDP bool   // receive packets over UDP; otherwise inside the RTSP connection
	TLS *tls.Config
}

// Stream is a connection to a sending camera. Call its methods from one goroutine.
type Stream struct {
	client *gortsplib.Client
	codec  Codec
	sets   []byte

	mu       sync.Mutex
	assembly *assembly
	zero     time.Time
	early    *rtcp.SenderReport // report that arrived before the first packet
	queue    []Unit
	bytes    int
	came     chan struct{} // signals a queued unit
	source   uint32        // SSRC of the camera's packets
	over     chan struct{} // closed when the camera changed its packet source or ended it
	ended    chan struct{} // closed after err is set
	err      error
}

// Open connects, chooses the camera's first supported picture stream, and starts it.
func Open(ctx context.Context, o Options) (*Stream, error) {
	u, err := base.ParseURL(o.URL)
	if err != nil {
		return nil, errors.New("the address is not a valid RTSP address") // the parse error would show the password
	}
	protocol := gortsplib.ProtocolTCP
	if o.UDP {
		protocol = gortsplib.ProtocolUDP
	}
	trust := o.TLS
	if u.Scheme == "rtsps" {
		if trust == nil {
			trust = &tls.Config{}
		}
		trust = trust.Clone()
		trust.ServerName = u.Hostname()
	}
	ctx, cancel := context.WithTimeout(ctx, opening)
	defer cancel()
	var d dialed
	s := &Stream{came: make(chan struct{}, 1), over: make(chan struct{}), ended: make(chan struct{})}
	s.client = &gortsplib.Client{
		Scheme: u.Scheme, Host: u.Host, Protocol: &protocol, TLSConfig: trust, ReadTimeout: silence, WriteTimeout: silence,
		InitialUDPReadTimeout: silence, UserAgent: "driftscope", DisableRTCPSenderReports: true, DialContext: d.dial,
		OnDecodeError: func(error) {}, OnPacketsLost: func(uint64) {}, // units.go counts lost packets
	}
	if err := s.client.Start(); err != nil {
		return nil, err
	}
	forget := context.AfterFunc(ctx, func() {
		d.close()
		s.client.Close()
	})
	err = s.play(u)
	if !forget() || err != nil {
		s.client.Close()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, fmt.Errorf("no answer within %v", opening)
		}
		return nil, errors.Join(ctx.Err(), explained(err))
	}
	go func() {
		s.err = s.ending(s.client.Wait())
		close(s.ended)
	}()
	return s, nil
}

// play chooses a stream and starts it.
func (s *Stream) play(u *base.URL) error {
	session, answer, err := s.client.Describe(u)
	if err != nil {
		return err
	}
	media, chosen, err := s.choose(session)
	if err != nil {
		return err
	}
	if _, err := s.client.Setup(session.BaseURL, media, 0, 0); err != nil {
		return err
	}
	s.assembly = newAssembly(s.codec, chosen.ClockRate())
	s.assembly.jpeg.told = sizeTold(answer.Body, media.Control)
	s.client.OnPacketRTP(media, chosen, s.packet)
	s.client.OnPacketRTCP(media, func(p rtcp.Packet) {
		switch p := p.(type) {
		case *rtcp.SenderReport:
			s.report(p)
		case *rtcp.Goodbye:
			s.leave(p.Sources)
		}
	})
	_, err = s.client.Play(nil)
	return err
}

// choose returns the first stream with a supported codec, and its parameter sets.
func (s *Stream) choose(session *description.Session) (*description.Media, format.Format, error) {
	var offered []string
	for _, media := range session.Medias {
		for _, f := range media.Formats {
			switch f := f.(type) {
			case *format.H264:
				sps, pps := f.SafeParams()
				s.codec, s.sets = H264, annexB(sps, pps)
				return media, f, nil
			case *format.H265:
				vps, sps, pps := f.SafeParams()
				s.codec, s.sets = H265, annexB(vps, sps, pps)
				return media, f, nil
			case *format.MJPEG:
				s.codec = MJPEG
				return media, f, nil
			}
			offered = append(offered, strings.TrimPrefix(fmt.Sprintf("%T", f), "*format."))
		}
	}
	if len(offered) == 0 {
		return nil, nil, errors.New("the camera offers no video stream")
	}
	return nil, nil, fmt.Errorf("the camera sends %s, expected H.264, H.265 or MJPEG: choose one of these on the camera's web page", strings.Join(offered, ", "))
}

// annexB joins NAL units with start codes.
func annexB(nals ...[]byte) (all []byte) {
	for _, nal := range nals {
		if len(nal) > 0 {
			all = append(append(all, startCode...), nal...)
		}
	}
	return all
}

// Codec returns the coding of the units.
func (s *Stream) Codec() Codec { return s.codec }

// ParameterSets returns the parameter sets from the camera's description, with start codes. A decoder needs them before the
// first unit.
func (s *Stream) ParameterSets() []byte { return s.sets }

// packet handles one packet; the client calls it.
func (s *Stream) packet(p *rtp.Packet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.assembly.begun {
		s.source = p.SSRC
	}
	if s.source != p.SSRC { // numbers and stamps of a new source start at random (RFC 3550, 8)
		s.finish()
		return
	}
	units := s.assembly.add(p, time.Now())
	if s.early != nil {
		s.tie(s.early)
		s.early = nil
	}
	for _, u := range units {
		s.put(u)
	}
}

// put queues a unit, or drops it if the queue is full. The caller holds the lock.
func (s *Stream) put(u Unit) {
	if len(s.queue) >= maxQueued || s.bytes+len(u.Data) > maxQueuedBytes {
		s.assembly.lose(append(u.Lost, u.Stamp)...)
		return
	}
	u.Zero = s.zero
	s.queue = append(s.queue, u)
	s.bytes += len(u.Data)
	select {
	case s.came <- struct{}{}:
	default:
	}
}

// report handles one sender report; the client calls it.
func (s *Stream) report(r *rtcp.SenderReport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.assembly.begun {
		s.early = r
		return
	}
	s.tie(r)
}

// leave handles a message that packet sources have ended; the client calls it.
func (s *Stream) leave(sources []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.assembly.begun && slices.Contains(sources, s.source) {
		s.finish()
	}
}

// finish marks the end of the units. The caller holds the lock.
func (s *Stream) finish() {
	select {
	case <-s.over:
	default:
		close(s.over)
	}
}

// tie sets the camera's wall time at stamp 0 from a report. The caller holds the lock.
func (s *Stream) tie(r *rtcp.SenderReport) {
	a := s.assembly
	if at, ok := zero(r, a.ticks+int64(int32(r.RTPTime-a.stamp)), a.hertz); ok {
		s.zero = at
	}
}

// Next waits for the next unit. If the camera is lost it returns the reason.
func (s *Stream) Next(ctx context.Context) (Unit, error) {
	for {
		if u, ok := s.take(); ok {
			return u, nil
		}
		select {
		case <-ctx.Done():
			return Unit{}, ctx.Err()
		case <-s.came:
		case <-s.over:
			if u, ok := s.take(); ok {
				return u, nil
			}
			return Unit{}, errors.New("the camera ended its stream")
		case <-s.ended:
			return Unit{}, s.err
		}
	}
}

func (s *Stream) take() (Unit, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return Unit{}, false
	}
	u := s.queue[0]
	s.queue[0] = Unit{}
	s.queue = s.queue[1:]
	s.bytes -= len(u.Data)
	return u, true
}

// Refused returns the reason why the packets of the last unreadable unit were rejected, or nil. Use it to explain why no complete unit arrives.
func (s *Stream) Refused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.assembly.refused
}

// Close ends the connection.
func (s *Stream) Close() { s.client.Close() }
