package pin

import (
	"strings"
	"testing"

	"driftscope/internal/suite"
	"driftscope/sinks/sinktest"
)

// withFirmata makes a sink with a board that answers queries with the results of says.
func withFirmata(t *testing.T, says string) (*Sink, board, error) {
	t.Helper()
	b := plugged(t)
	answered := make(chan error)
	go func() {
		asked := make([]byte, 1)
		_, err := b.Read(asked)
		if err == nil {
			_, err = b.WriteString(says)
		}
		answered <- err
	}()
	s, err := NewSerial(sinktest.Decoder(t, map[string]any{"device": b.path, "firmata": map[string]any{"edge": 13, "well": 2}}), Env{})
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	return s, b, err
}

// The sink asks the board for its protocol, makes its pins outputs that are low, and sets them by the rules.
func TestFirmata(t *testing.T) {
	s, b, err := withFirmata(t, "boot\xf9\x02\x05\xf0\x79\x02\x05\xf7")
	if err != nil {
		t.Fatal(err)
	}
	b.hears(t, "\xf4\x0d\x01\xf5\x0d\x00"+"\xf4\x02\x01\xf5\x02\x00")
	give(t, s, turn("edge", true), turn("well", true), turn("edge", false))
	b.hears(t, "\xf5\x0d\x01\xf5\x02\x01\xf5\x0d\x00")
	sinktest.Close(t, s)
	b.hears(t, "\xf5\x02\x00")
}

// An old protocol version cannot set single pins and is refused.
func TestOldFirmata(t *testing.T) {
	if _, _, err := withFirmata(t, "\xf9\x02\x03"); err == nil || !strings.Contains(err.Error(), "uses Firmata 2.3, expected 2.5 or newer") {
		t.Errorf("found %v", err)
	}
}

// The version is found in any other output of the board, however the output is split.
func TestVersion(t *testing.T) {
	for heard, want := range map[string]bool{
		"": false, "\xf9": false, "\xf9\x02": false, "\xf9\x02\x05": true, "\xf9\xf9\x02\x05": true, "\xf9\xff\x02\xf9\x02\x05": true, "\x02\x05": false, "\xf9\x02\xff": false,
	} {
		major, minor, said := version([]byte(heard))
		if said != want || said && (major != 2 || minor != 5) {
			t.Errorf("%q: found %d.%d, %v", heard, major, minor, said)
		}
	}
}

func FuzzVersion(f *testing.F) {
	f.Add([]byte("\xf9\x02\x05"))
	f.Fuzz(func(t *testing.T, heard []byte) {
		if major, minor, said := version(heard); said && (major >= 0x80 || minor >= 0x80) {
			t.Errorf("found %d.%d", major, minor)
		}
	})
}

// If no board answers, the error reports it after a while, and the device is closed.
func TestNoFirmata(t *testing.T) {
	suite.Long(t)
	b := plugged(t)
	_, err := NewSerial(sinktest.Decoder(t, map[string]any{"device": b.path, "firmata": map[string]any{"edge": 13}}), Env{})
	if err == nil || !strings.Contains(err.Error(), "no Firmata answers within 5s: load StandardFirmata") {
		t.Errorf("found %v", err)
	}
}
