package pin

import (
	"bytes"
	"errors"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
)

// The expected bytes follow from the rules of the OSC 1.0 specification.
func TestOSC(t *testing.T) {
	receiver, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer receiver.Close()
	s, err := NewOSC(sinktest.Decoder(t, map[string]any{"to": receiver.LocalAddr().String(), "rules": []string{"edge"}}), Env{Stream: "bead", Rules: []string{"edge"}})
	if err != nil {
		t.Fatal(err)
	}
	trigger := turn("edge", true)
	trigger.Forecast = []float64{1, -2}
	unknown := turn("edge", false)
	unknown.Filtered, unknown.Forecast = []float64{1}, []float64{math.NaN()} // before the first estimate of the law
	last := turn("edge", true)
	last.Filtered, last.Forecast = []float64{0.25, -2}, nil
	give(t, s, trigger, unknown, last)
	sinktest.Close(t, s)
	for _, want := range []string{
		"/driftscope/bead/edge\x00\x00\x00" + ",iiff\x00\x00\x00" + "\x00\x00\x00\x01" + "\x00\x00\x00\x07" + "\x3f\x80\x00\x00" + "\xc0\x00\x00\x00",
		"/driftscope/bead/edge\x00\x00\x00" + ",iif\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x07" + "\x3f\x80\x00\x00",
		"/driftscope/bead/edge\x00\x00\x00" + ",iiff\x00\x00\x00" + "\x00\x00\x00\x01" + "\x00\x00\x00\x07" + "\x3e\x80\x00\x00" + "\xc0\x00\x00\x00",
		"/driftscope/bead/edge\x00\x00\x00" + ",ii\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00", // the end of the run turns it off
	} {
		got := make([]byte, 1500)
		receiver.SetReadDeadline(time.Now().Add(5 * time.Second))
		n, _, err := receiver.ReadFrom(got)
		if err != nil || !bytes.Equal(got[:n], []byte(want)) {
			t.Errorf("found %q, %v, expected %q", got[:n], err, want)
		}
	}
}

// If no program listens, the sink reports it. Once a program listens, later triggers are sent.
func TestOSCToNobody(t *testing.T) {
	receiver, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := receiver.LocalAddr().String()
	receiver.Close()
	s, err := NewOSC(sinktest.Decoder(t, map[string]any{"to": at, "rules": []string{"edge"}}), Env{Stream: "bead"})
	if err != nil {
		t.Fatal(err)
	}
	var lost latent.NotTaken
	for range 500 { // the system reports a lost datagram with a later one
		var is bool
		if lost, is = errors.AsType[latent.NotTaken](s.Write(t.Context(), turn("edge", true))); is {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !strings.Contains(lost.Error(), "udp "+at+": no program listens there") {
		t.Errorf("found %v", lost)
	}
	s.Close(t.Context())
}

func TestOSCOptions(t *testing.T) {
	for want, options := range map[string]map[string]any{
		"rules: found 0 rules, expected 1 to 32":                                      {"to": "127.0.0.1:9000"},
		`to: found "127.0.0.1", expected host:port`:                                   {"to": "127.0.0.1", "rules": []string{"edge"}},
		`address: found "drift", expected names, each with a / in front`:              {"to": "127.0.0.1:9000", "rules": []string{"edge"}, "address": "drift"},
		`rules: found "egde", expected the name of a rule of triggers: one of [edge]`: {"to": "127.0.0.1:9000", "rules": []string{"egde"}},
		"pulse: found 1µs, expected 100µs to 10s, or 0s for as long as the condition": {"to": "127.0.0.1:9000", "rules": []string{"edge"}, "pulse": "1us"},
		"late: found 0s, expected 1ms to 1m0s":                                        {"to": "127.0.0.1:9000", "rules": []string{"edge"}, "late": "0s"},
	} {
		_, err := NewOSC(sinktest.Decoder(t, options), Env{Rules: []string{"edge"}, Check: true})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: found %v, expected one line with %s", options, err, want)
		}
	}
}
