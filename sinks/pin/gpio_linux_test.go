package pin

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"driftscope/sinks/sinktest"
)

// fakeChip is a simulated chip that uses the kernel's structs, because few machines have a real chip.
type fakeChip struct {
	did     []string
	opens   error
	refuses error
	fails   error
}

func (c *fakeChip) open(path string) (int, error) {
	c.did = append(c.did, "open "+path)
	return 70, c.opens
}

func (c *fakeChip) request(fd int, r *unix.GPIOV2LineRequest) error {
	c.did = append(c.did, fmt.Sprintf("request of %d: %v flags %d as %s", fd, r.Offsets[:r.Num_lines], r.Config.Flags, strings.TrimRight(string(r.Consumer[:]), "\x00")))
	r.Fd = 71
	return c.refuses
}

func (c *fakeChip) set(fd int, v *unix.GPIOV2LineValues) error {
	c.did = append(c.did, fmt.Sprintf("set of %d: %b of %b", fd, v.Bits, v.Mask))
	return c.fails
}

func (c *fakeChip) close(fd int) error {
	c.did = append(c.did, fmt.Sprint("close ", fd))
	return nil
}

// Lines are requested together, and set one by one by their indices in the request.
func TestLines(t *testing.T) {
	c := &fakeChip{}
	o := &gpioOptions{Chip: "/dev/gpiochip0", Lines: map[string]int{"well": 4, "edge": 17}, ActiveLow: true}
	d, err := openLines(o, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []request{{rule: "edge", on: true}, {rule: "well", on: true}, {rule: "edge"}} {
		if err := d.set(&o); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	want := "open /dev/gpiochip0, request of 70: [17 4] flags 10 as driftscope, close 70, set of 71: 1 of 1, set of 71: 10 of 10, set of 71: 0 of 1, close 71"
	if got := strings.Join(c.did, ", "); got != want {
		t.Errorf("found %s\nexpected %s", got, want)
	}
}

// Errors of a chip include advice, and no file stays open.
func TestLinesRefused(t *testing.T) {
	o := &gpioOptions{Chip: "/dev/gpiochip0", Lines: map[string]int{"edge": 17}}
	for want, c := range map[string]*fakeChip{
		"usually gpio": {opens: unix.EACCES}, "gpiodetect lists": {opens: unix.ENOENT}, "gpioinfo names it": {refuses: unix.EBUSY}, "5.10 or newer": {refuses: unix.EINVAL},
	} {
		if _, err := openLines(o, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
		if last := c.did[len(c.did)-1]; c.opens == nil && last != "close 70" {
			t.Errorf("ended with %s", last)
		}
	}
	failing := &fakeChip{fails: errors.New("gone")}
	d, err := openLines(o, failing)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.set(&request{rule: "edge", on: true}); err == nil {
		t.Error("a line that cannot be set is not told")
	}
}

func TestGPIOOptions(t *testing.T) {
	for want, options := range map[string]map[string]any{
		"lines: found 0 rules": {"chip": "gpiochip0"},
		"chip is missing":      {"lines": map[string]any{"edge": 17}},
		"lines.edge: found 5000, expected the offset of a line, 0 to 1023": {"chip": "gpiochip0", "lines": map[string]any{"edge": 5000}},
		"lines.edge and lines.well: both are 17":                           {"chip": "gpiochip0", "lines": map[string]any{"edge": 17, "well": 17}},
		"chip: /dev/gpiochip999: no such file":                             {"chip": "gpiochip999", "lines": map[string]any{"edge": 17}},
	} {
		_, err := NewGPIO(sinktest.Decoder(t, options), Env{Rules: []string{"edge", "well"}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: found %v, expected one line with %s", options, err, want)
		}
	}
}
