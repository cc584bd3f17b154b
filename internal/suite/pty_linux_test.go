package suite

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Bytes written to the device arrive at the near end, and vice versa.
func TestOpen(t *testing.T) {
	here, path, err := OpenTerminal()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	device, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	for _, way := range []struct{ from, to *os.File }{{device, here}, {here, device}} {
		if _, err := way.from.WriteString("on\n"); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 16)
		here.SetReadDeadline(time.Now().Add(5 * time.Second))
		if n, err := way.to.Read(got); err != nil || string(got[:2]) != "on" {
			t.Errorf("found %q, %v", got[:n], err)
		}
	}
}
