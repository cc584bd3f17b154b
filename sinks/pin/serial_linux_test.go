package pin

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"driftscope/internal/suite"
	"driftscope/sinks/sinktest"
)

// board is the other end of a serial device.
type board struct {
	*os.File
	path string
}

func plugged(t *testing.T) board {
	t.Helper()
	here, path, err := suite.OpenTerminal()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close() })
	return board{here, path}
}

// hears fails the test unless exactly these bytes arrive next, within 5 s.
func (b board) hears(t *testing.T, want string) {
	t.Helper()
	got := make([]byte, len(want))
	b.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := io.ReadFull(b, got); err != nil || string(got) != want {
		t.Fatalf("the board hears %q, %v, expected %q", got[:n], err, want)
	}
}

// Bytes arrive unchanged, whatever they mean to a terminal. A rule that is on at the end of the run is turned off.
func TestSerial(t *testing.T) {
	b := plugged(t)
	s, err := NewSerial(sinktest.Decoder(t, map[string]any{"device": b.path, "baud": 9600, "rules": map[string]any{
		"edge": map[string]any{"on": "a\x03\r\n\u00ff", "off": "b\n"}, "well": map[string]any{"on": "w"},
	}}), Env{})
	if err != nil {
		t.Fatal(err)
	}
	give(t, s, turn("edge", true), turn("edge", false), turn("well", true), turn("well", false), turn("edge", true))
	b.hears(t, "a\x03\r\n\xffb\nwa\x03\r\n\xff")
	sinktest.Close(t, s)
	b.hears(t, "b\n")
}

// Only one sink can use a device: a second sink gets an error, and can open the device once the first has ended.
func TestSerialAlone(t *testing.T) {
	b := plugged(t)
	options := map[string]any{"device": b.path, "rules": map[string]any{"edge": map[string]any{"on": "a"}}}
	first, err := NewSerial(sinktest.Decoder(t, options), Env{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewSerial(sinktest.Decoder(t, options), Env{}); err == nil || !strings.Contains(err.Error(), "another sink of this program") {
		t.Errorf("found %v", err)
	}
	sinktest.Close(t, first)
	again, err := NewSerial(sinktest.Decoder(t, options), Env{})
	if err != nil {
		t.Fatal(err)
	}
	sinktest.Close(t, again)
}

// The line has the requested parameters: raw, 8N1, without flow control. Closing it drops no modem line.
func TestLine(t *testing.T) {
	b := plugged(t)
	port, err := openSerial(b.path, 31250)
	if err != nil {
		t.Fatal(err)
	}
	defer closeSerial(port)
	raw, err := port.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) {
		got, err := unix.IoctlGetTermios(int(fd), unix.TCGETS2)
		if err != nil {
			t.Fatal(err)
		}
		if got.Ospeed != 31250 || got.Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) != 0 || got.Oflag&unix.OPOST != 0 || got.Iflag&(unix.IXON|unix.ICRNL) != 0 {
			t.Errorf("found %+v", got)
		}
		if got.Cflag&(unix.CSIZE|unix.PARENB|unix.CSTOPB|unix.CRTSCTS|unix.HUPCL) != unix.CS8 {
			t.Errorf("found the control flags %#o", got.Cflag)
		}
	})
}

// While a board is unplugged, triggers are lost and reported.
func TestUnplugged(t *testing.T) {
	b := plugged(t)
	s, err := NewSerial(sinktest.Decoder(t, map[string]any{"device": b.path, "rules": map[string]any{"edge": map[string]any{"on": "a"}}}), Env{})
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	give(t, s, turn("edge", true))
	if lost := lostIn(t, s); lost.Count != 1 || !strings.Contains(lost.Error(), b.path) {
		t.Errorf("found %d lost because %v", lost.Count, lost)
	}
	sinktest.Close(t, s)
}

func TestSerialOptions(t *testing.T) {
	rules := map[string]any{"edge": map[string]any{"on": "1"}}
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, options := range map[string]map[string]any{
		"device is missing": {"rules": rules},
		"rules: is missing": {"device": "x"},
		"found both":        {"device": "x", "rules": rules, "firmata": map[string]any{"edge": 13}},
		"baud: found 50, expected 300 to 4000000":                       {"device": "x", "rules": rules, "baud": 50},
		"rules.edge.on: is missing":                                     {"device": "x", "rules": map[string]any{"edge": map[string]any{"off": "0"}}},
		`rules.edge.on: found '€', expected only characters up to \xff`: {"device": "x", "rules": map[string]any{"edge": map[string]any{"on": "€"}}},
		"rules.edge.off: found 257 bytes, expected at most 256":         {"device": "x", "rules": map[string]any{"edge": map[string]any{"on": "1", "off": strings.Repeat("x", 257)}}},
		"firmata.edge: found 200, expected a digital pin, 0 to 127":     {"device": "x", "firmata": map[string]any{"edge": 200}},
		"/nowhere: no such file or directory: is it plugged in?":        {"device": "/nowhere", "rules": rules},
		"file: is not a serial device":                                  {"device": file, "rules": rules},
	} {
		_, err := NewSerial(sinktest.Decoder(t, options), Env{Rules: []string{"edge"}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: found %v, expected one line with %s", options, err, want)
		}
	}
	s, err := NewSerial(sinktest.Decoder(t, map[string]any{"device": "/nowhere", "rules": rules}), Env{Check: true})
	if err != nil {
		t.Fatal("a check opens the device:", err)
	}
	sinktest.Close(t, s)
}
