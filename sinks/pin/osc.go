package pin

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	dialling = 2 * time.Second // limit for the lookup of the receiver's name
	sending  = 100 * time.Millisecond
)

// oscAddress matches a path of names without OSC's special characters.
var oscAddress = regexp.MustCompile(`^(/[A-Za-z0-9_.-]{1,64}){1,8}$`)

// oscOptions holds the keys of the sink osc.
type oscOptions struct {
	options          // their keys are siblings
	To      string   `yaml:"to" reaches:"address"`      // host:port
	Rules   []string `yaml:"rules" reaches:"nothing"`   // rules to send
	Address string   `yaml:"address" reaches:"nothing"` // prefix of every address; /driftscope
}

// NewOSC sends triggers as Open Sound Control 1.0 messages, one per UDP datagram.
func NewOSC(decode func(any) error, env Env) (*Sink, error) {
	o := oscOptions{options: usual, Address: "/driftscope"}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := errors.Join(o.options.check(), checkRules("rules", o.Rules, env)); err != nil {
		return nil, err
	}
	if _, _, err := net.SplitHostPort(o.To); err != nil {
		return nil, fmt.Errorf("to: found %.80q, expected host:port, such as 127.0.0.1:9000", o.To)
	}
	if !oscAddress.MatchString(o.Address) {
		return nil, fmt.Errorf("address: found %.80q, expected names, each with a / in front, such as /driftscope", o.Address)
	}
	return start("udp "+o.To, o.Rules, o.options, env, func() (device, error) { return o.open(env.Stream) })
}

func (o *oscOptions) open(stream string) (device, error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialling)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "udp", o.To)
	if err != nil {
		return nil, fmt.Errorf("to: %w: check the host's name", err)
	}
	return &osc{conn: conn, prefix: o.Address + "/" + stream + "/"}, nil
}

// osc sends one message per state.
type osc struct {
	conn   net.Conn
	prefix string // prefix of addresses; the rule's name follows
	packet []byte // reused
}

// set sends /driftscope/STREAM/RULE with 1 or 0, the frame's number, and the latent: the forecast at the pulse or, without a forecast, the filtered latent. If
// no program on this machine listens, the system reports the error only with the datagram after the lost one.
func (c *osc) set(o *request) error {
	seq, z := uint64(0), []float64(nil)
	if t := o.trigger; t != nil {
		if seq, z = t.Seq, t.Forecast; len(z) == 0 || slices.ContainsFunc(z, math.IsNaN) {
			z = t.Filtered
		}
	}
	c.packet = appendOSC(c.packet[:0], c.prefix+o.rule, []int32{int32(index(o.on)), int32(seq & math.MaxInt32)}, z)
	if err := c.conn.SetWriteDeadline(time.Now().Add(sending)); err != nil {
		return err
	}
	_, err := c.conn.Write(c.packet)
	if errors.Is(err, syscall.ECONNREFUSED) {
		if _, again := c.conn.Write(c.packet); again == nil || errors.Is(again, syscall.ECONNREFUSED) {
			return passing{fmt.Errorf("no program listens there: %w", err)}
		}
	}
	return err
}

// Close closes the socket.
func (c *osc) Close() error { return c.conn.Close() }

// appendOSC appends an OSC 1.0 message: the address, the types, and the big-endian arguments, first 32-bit integers, then 32-bit floats.
func appendOSC(b []byte, address string, whole []int32, floats []float64) []byte {
	b = appendText(b, address)
	b = appendText(b, ","+strings.Repeat("i", len(whole))+strings.Repeat("f", len(floats)))
	for _, v := range whole {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	for _, v := range floats {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return b
}

// appendText appends a text and one to four zero bytes, so that the length is a multiple of four.
func appendText(b []byte, text string) []byte {
	b = append(b, text...)
	return append(b, make([]byte, 4-len(text)%4)...)
}
