package pipeline

import (
	"io"
	"testing"
	"time"
)

// TestFrom: a run that ends before its first frame saves the law with the place from which the run resumed.
func TestFrom(t *testing.T) {
	var at Place
	o := Options{From: Place{Sequence: 70, Frames: 7}, Keep: func(_ []byte, p Place) error { at = p; return nil }}
	if err := newCheckpoints(savedNothing{}, &o, time.Now()).end(); err != nil || at != o.From {
		t.Errorf("%v: kept at %+v, expected %+v", err, at, o.From)
	}
}

// savedNothing is an estimator whose state is empty.
type savedNothing struct{ Estimator }

func (savedNothing) Save(io.Writer) error    { return nil }
func (savedNothing) Restore(io.Reader) error { return nil }
