//go:build cgo

package ingesttest

import (
	"bytes"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/bluenviron/gortsplib/v5"
	"github.com/bluenviron/gortsplib/v5/pkg/auth"
	"github.com/bluenviron/gortsplib/v5/pkg/base"
	"github.com/bluenviron/gortsplib/v5/pkg/description"
	"github.com/bluenviron/gortsplib/v5/pkg/format"
	"github.com/bluenviron/gortsplib/v5/pkg/liberrors"
	"github.com/bluenviron/mediacommon/v2/pkg/codecs/h264"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"driftscope/ingest/avcodec"
)

// CameraOptions configures a camera.
type CameraOptions struct {
	Codec     avcodec.Codec // 0 means MJPEG
	Reordered bool
	GOP       int // 0 means 10

	User, Password string
	Digest         bool // digest authentication only, never the password
	UDP            bool
	NoReports      bool          // no sender reports
	Ahead          time.Duration // lead of the camera's clock over the computer's
	Bare           bool          // sends parameter sets only in the session description, not with pictures

	// Lose reports whether to lose a packet of picture n, which is counted from the camera's start.
	Lose func(n, packet, packets int) bool

	// Spoil changes a picture's data before packing.
	Spoil func(data []byte)
}

// The length and the rate of the film that the camera repeats.
const (
	Pictures = 60
	Rate     = 100
	hertz    = 90000
	user     = 96
)

// Camera serves its film until the test ends.
type Camera struct {
	t       testing.TB
	o       CameraOptions
	film    []Unit
	packets func(data []byte) []*rtp.Packet
	address string
	udp     [2]string

	mu     sync.Mutex
	server *gortsplib.Server
	stream *gortsplib.ServerStream
	media  *description.Media
	stop   chan struct{}
	done   sync.WaitGroup
}

// StartCamera starts a camera.
func StartCamera(t testing.TB, o CameraOptions) *Camera {
	t.Helper()
	if o.GOP == 0 {
		o.GOP = 10
	}
	c := &Camera{t: t, o: o, address: free(t, "tcp")}
	if o.Codec == 0 {
		for i := range Pictures {
			c.film = append(c.film, Unit{Data: JPEG(t, i), Number: i, Key: true})
		}
	} else {
		c.film = Stream{Codec: o.Codec, GOP: o.GOP, Reordered: o.Reordered}.Encode(t, Pictures)
	}
	if o.UDP {
		c.udp = pair(t)
	}
	c.On()
	t.Cleanup(c.Off)
	return c
}

// free returns an unused address.
func free(t testing.TB, network string) string {
	t.Helper()
	l, err := net.Listen(network, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// pair returns two UDP addresses with consecutive ports, the first even.
func pair(t testing.TB) [2]string {
	t.Helper()
	for port := 20000; port < 60000; port += 2 {
		both := [2]string{fmt.Sprintf("127.0.0.1:%d", port), fmt.Sprintf("127.0.0.1:%d", port+1)}
		first, err := net.ListenPacket("udp", both[0])
		if err != nil {
			continue
		}
		second, err := net.ListenPacket("udp", both[1])
		first.Close()
		if err == nil {
			second.Close()
			return both
		}
	}
	t.Fatal("no two ports of UDP are free")
	return [2]string{}
}

// URL returns the camera's address with user and password.
func (c *Camera) URL() string {
	who := ""
	if c.o.User != "" {
		who = c.o.User + ":" + c.o.Password + "@"
	}
	return "rtsp://" + who + c.address + "/film"
}

// On starts the camera at the beginning of its film.
func (c *Camera) On() {
	c.t.Helper()
	methods := []auth.VerifyMethod{auth.VerifyMethodBasic}
	if c.o.Digest {
		methods = []auth.VerifyMethod{auth.VerifyMethodDigestMD5}
	}
	c.server = &gortsplib.Server{
		Handler: c, RTSPAddress: c.address, UDPRTPAddress: c.udp[0], UDPRTCPAddress: c.udp[1], DisableRTCPSenderReports: true, AuthMethods: methods,
	}
	if err := c.server.Start(); err != nil {
		c.t.Fatal(err)
	}
	f := c.format()
	c.media = &description.Media{Type: description.MediaTypeVideo, Formats: []format.Format{f}}
	stream := &gortsplib.ServerStream{Server: c.server, Desc: &description.Session{Medias: []*description.Media{c.media}}}
	if err := stream.Initialize(); err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	c.stream = stream
	c.mu.Unlock()
	c.stop = make(chan struct{})
	c.done.Go(func() { c.run(c.stop) })
}

// Off stops the camera while it is sending.
func (c *Camera) Off() {
	if c.server == nil {
		return
	}
	close(c.stop)
	c.done.Wait()
	c.stream.Close()
	c.server.Close()
	c.server = nil
}

// format describes the stream. It sets a small packet size, so that a picture has many packets.
func (c *Camera) format() format.Format {
	const size = 200
	switch c.o.Codec {
	case avcodec.H264:
		f := &format.H264{PayloadTyp: user, PacketizationMode: 1}
		f.SPS, f.PPS, _ = c.sets()
		e, err := f.CreateEncoder()
		c.check(err)
		e.PayloadMaxSize = size
		c.packets = func(data []byte) []*rtp.Packet { return c.packed(e.Encode(c.nals(data))) }
		return f
	case avcodec.H265:
		f := &format.H265{PayloadTyp: user}
		f.SPS, f.PPS, f.VPS = c.sets()
		e, err := f.CreateEncoder()
		c.check(err)
		e.PayloadMaxSize = size
		c.packets = func(data []byte) []*rtp.Packet { return c.packed(e.Encode(c.nals(data))) }
		return f
	}
	f := &format.MJPEG{}
	e, err := f.CreateEncoder()
	c.check(err)
	e.PayloadMaxSize = 4 * size // the first packet has tables
	c.packets = func(data []byte) []*rtp.Packet { return c.packed(e.Encode(data)) }
	return f
}

func (c *Camera) check(err error) {
	if err != nil {
		c.t.Error(err)
	}
}

func (c *Camera) packed(packets []*rtp.Packet, err error) []*rtp.Packet {
	c.check(err)
	return packets
}

// nals splits a unit; a bare camera omits the parameter sets.
func (c *Camera) nals(data []byte) (nals [][]byte) {
	var all h264.AnnexB
	c.check(all.Unmarshal(data))
	for _, nal := range all {
		if c.o.Bare && c.set(nal) != 0 {
			continue
		}
		nals = append(nals, nal)
	}
	return nals
}

// set returns the type of a parameter set, 's', 'p' or 'v', or 0.
func (c *Camera) set(nal []byte) byte {
	if c.o.Codec == avcodec.H264 {
		return map[byte]byte{7: 's', 8: 'p'}[nal[0]&0x1f]
	}
	return map[byte]byte{32: 'v', 33: 's', 34: 'p'}[nal[0]>>1&0x3f]
}

func (c *Camera) sets() (sps, pps, vps []byte) {
	var all h264.AnnexB
	c.check(all.Unmarshal(c.film[0].Data))
	for _, nal := range all {
		switch c.set(nal) {
		case 's':
			sps = nal
		case 'p':
			pps = nal
		case 'v':
			vps = nal
		}
	}
	return sps, pps, vps
}

// run sends the film, a sender report at once, and then four reports per second.
func (c *Camera) run(stop chan struct{}) {
	const first = 1 << 31 // makes the stamps wrap around within the film
	start, period := time.Now(), time.Second/Rate
	for i := 0; ; i++ {
		at := start.Add(time.Duration(i) * period)
		select {
		case <-stop:
			return
		case <-time.After(time.Until(at)):
		}
		unit := c.film[i%len(c.film)]
		number := i/len(c.film)*len(c.film) + unit.Number
		stamp := uint32(first) + uint32(first-hertz) + uint32(number*hertz/Rate)
		if i%(Rate/4) == 0 && !c.o.NoReports {
			wall := start.Add(time.Duration(number)*period + c.o.Ahead)
			c.stream.WritePacketRTCP(c.media, &rtcp.SenderReport{NTPTime: ntp(wall), RTPTime: stamp}) // there may be no reader
		}
		data := unit.Data
		if c.o.Spoil != nil {
			data = bytes.Clone(data)
			c.o.Spoil(data)
		}
		packets := c.packets(data)
		for j, p := range packets {
			p.Timestamp = stamp
			if c.o.Lose != nil && c.o.Lose(number, j, len(packets)) {
				continue
			}
			c.stream.WritePacketRTP(c.media, p)
		}
	}
}

// ntp returns a time in the form of a report: seconds since 1900, and fractions of 2^32.
func ntp(t time.Time) uint64 {
	return uint64(t.Unix()+2208988800)<<32 | uint64(t.Nanosecond())<<32/1e9
}

// OnDescribe answers a DESCRIBE request.
func (c *Camera) OnDescribe(ctx *gortsplib.ServerHandlerOnDescribeCtx) (*base.Response, *gortsplib.ServerStream, error) {
	return c.answer(ctx.Conn, ctx.Request)
}

// OnSetup answers a SETUP request.
func (c *Camera) OnSetup(ctx *gortsplib.ServerHandlerOnSetupCtx) (*base.Response, *gortsplib.ServerStream, error) {
	return c.answer(ctx.Conn, ctx.Request)
}

// OnPlay answers a PLAY request.
func (c *Camera) OnPlay(*gortsplib.ServerHandlerOnPlayCtx) (*base.Response, error) {
	return &base.Response{StatusCode: base.StatusOK}, nil
}

func (c *Camera) answer(conn *gortsplib.ServerConn, request *base.Request) (*base.Response, *gortsplib.ServerStream, error) {
	if c.o.User != "" && !conn.VerifyCredentials(request, c.o.User, c.o.Password) {
		return &base.Response{StatusCode: base.StatusUnauthorized}, nil, liberrors.ErrServerAuth{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if request.URL.Path != "/film" && request.URL.Path != "/film/trackID=0" && request.URL.Path != "/film/" {
		return &base.Response{StatusCode: base.StatusNotFound}, nil, nil
	}
	return &base.Response{StatusCode: base.StatusOK}, c.stream, nil
}
