package pin

import (
	"strings"
	"testing"

	"driftscope/internal/suite"
	"driftscope/sinks/sinktest"
)

// withFirmata makes a sink whose board answers, once it is asked, what says gives.
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

// A board is asked for its protocol, its pins become outputs that are low, and follow the rules.
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

// An old protocol knows no pin by itself.
func TestOldFirmata(t *testing.T) {
	if _, _, err := withFirmata(t, "\xf9\x02\x03"); err == nil || !strings.Contains(err.Error(), "speaks Firmata 2.3, expected 2.5 or newer") {
		t.Errorf("found %v", err)
	}
}

// Versions are found among what else a board says, however it is cut.
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

// What answers nothing is no Firmata: that is told after a while, and the device is given back.
func TestNoFirmata(t *testing.T) {
	suite.Long(t)
	b := plugged(t)
	_, err := NewSerial(sinktest.Decoder(t, map[string]any{"device": b.path, "firmata": map[string]any{"edge": 13}}), Env{})
	if err == nil || !strings.Contains(err.Error(), "no Firmata answers within 5s: load StandardFirmata") {
		t.Errorf("found %v", err)
	}
}
