package natsource

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/nats-io/nats.go"

	"driftscope/ingest/wire"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/suite"
)

// placed returns the message of a frame of positions, with the headers that docs/reference/frames.md requires.
func placed(seq int, body string, changes ...string) *nats.Msg {
	m := with(example(seq), []byte(body), append([]string{"Encoding", "places"}, changes...)...)
	delete(m.Header, "Driftscope-Pixel-Type")
	delete(m.Header, "Driftscope-Channels")
	return m
}

// placesSource opens a source of subject "cam" that receives positions.
func placesSource(t testing.TB, url string) pipeline.Source {
	t.Helper()
	s, err := New(func(dst any) error {
		return yaml.UnmarshalWithOptions([]byte("{subject: cam, places: true, url: '"+url+"'}"), dst, yaml.DisallowUnknownField())
	})
	if err == nil {
		err = s.Open(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestPlaces: published positions arrive unchanged, in one or several messages. Gaps, repetitions and other publishers are handled as for pictures.
func TestPlaces(t *testing.T) {
	conn := broker(t)
	s := placesSource(t, conn.URL())
	if i := s.Info(); !i.Places || !i.Live || !i.Public || !i.Timed {
		t.Errorf("%+v", i)
	}
	publish := func(all ...*nats.Msg) {
		for _, m := range all {
			if err := conn.NATS().PublishMsg(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		messages []*nats.Msg
		want     frame.Places
	}{
		"of px":         {[]*nats.Msg{placed(0, `{"id": [7, 3], "x_px": [1.5, 2e1], "y_px": [0, -3], "sd_px": [0.1, 0.2]}`)}, frame.Places{ID: []uint64{7, 3}, X: []float64{1.5, 20}, Y: []float64{0, -3}, SD: []float64{0.1, 0.2}}},
		"of µm":         {[]*nats.Msg{placed(1, `{"x_um": [0.25], "y_um": [4]}`)}, frame.Places{Micrometres: true, X: []float64{0.25}, Y: []float64{4}}},
		"without any":   {[]*nats.Msg{placed(2, `{}`)}, frame.Places{}},
		"empty":         {[]*nats.Msg{placed(3, ``)}, frame.Places{}},
		"one a message": {[]*nats.Msg{placed(4, `{"id": [1], "x_px": [1], "y_px": [2]}`, "Chunks", "2"), placed(4, `{"id": [2], "x_px": [3], "y_px": [4]}`, "Chunks", "2", "Chunk", "1")}, frame.Places{ID: []uint64{1, 2}, X: []float64{1, 3}, Y: []float64{2, 4}}},
		"cut anywhere":  {[]*nats.Msg{placed(5, `{"x_px": [1`, "Chunks", "2"), placed(5, `2], "y_px": [2]}`, "Chunks", "2", "Chunk", "1")}, frame.Places{X: []float64{12}, Y: []float64{2}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := placesSource(t, conn.URL())
			publish(c.messages...)
			f, err := s.Read(suite.Soon(t))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			c.want.Width, c.want.Height = 3, 2
			if !reflect.DeepEqual(*f.Meta.Places, c.want) || f.Mat().Total() != 0 || f.Time.UnixNano() != 1700000000123456789 {
				t.Errorf("found %+v at %v, expected %+v", *f.Meta.Places, f.Time, c.want)
			}
		})
	}
	s = placesSource(t, conn.URL())
	one := `{"x_px": [1], "y_px": [2]}`
	publish(placed(0, one), placed(3, one), placed(3, one), placed(4, one, "Session", "other"), placed(4, one, "Chunks", "2"), placed(5, one))
	if told := story(t, s, 6); told != "0+0 3+2 late_frame second_publisher torn_frame 5+0" {
		t.Errorf("%s", told)
	}
}

// hostile lists invalid bodies.
var hostile = map[string]string{
	"no JSON": `x`, "a number": `3`, "a list": `[1]`, "half": `{"x_px": [1`, "deep": strings.Repeat(`[`, 1<<16), "a deep column": `{"x_px": ` + strings.Repeat(`[`, 1<<16),
	"z": `{"x_px": [1], "y_px": [1], "z_px": [1]}`, "a text": `{"x_px": ["1"], "y_px": [1]}`, "NaN": `{"x_px": [NaN], "y_px": [1]}`, "null": `{"x_px": [null], "y_px": [1]}`,
	"huge": `{"x_px": [1e300], "y_px": [1]}`, "beyond float64": `{"x_px": [1e999], "y_px": [1]}`, "no y": `{"x_px": [1]}`, "no x": `{"y_px": [1]}`, "only an id": `{"id": [1]}`,
	"id 0": `{"id": [0], "x_px": [1], "y_px": [1]}`, "id -1": `{"id": [-1], "x_px": [1], "y_px": [1]}`, "id 2^53": `{"id": [9007199254740992], "x_px": [1], "y_px": [1]}`,
	"an id twice": `{"id": [4, 5, 4], "x_px": [1, 2, 3], "y_px": [1, 2, 3]}`, "id of some": `{"id": [4], "x_px": [1, 2], "y_px": [1, 2]}`, "more ids": `{"id": [4, 5], "x_px": [1], "y_px": [1]}`,
	"sd 0": `{"x_px": [1], "y_px": [1], "sd_px": [0]}`, "sd -1": `{"x_px": [1], "y_px": [1], "sd_px": [-1]}`, "sd of some": `{"x_px": [1, 2], "y_px": [1, 2], "sd_px": [1]}`,
	"two units": `{"x_px": [1], "y_um": [1]}`, "two units after another": `{"x_um": [1], "y_um": [1]} {"x_px": [1], "y_px": [1]}`, "trailing": `{"x_px": [1], "y_px": [1]} x`,
	"too many": fmt.Sprintf(`{"x_px": [0%s], "y_px": [0%[1]s]}`, strings.Repeat(",1", mostPlaces)),
}

// TestHostilePlaces: an invalid body loses its frame, with a cause in one short line, and the next frame arrives with its number.
func TestHostilePlaces(t *testing.T) {
	conn := broker(t)
	s := placesSource(t, conn.URL())
	seq := 0
	bad := func(name string, m *nats.Msg) {
		t.Helper()
		for _, m := range []*nats.Msg{m, placed(seq+1, `{"x_px": [1], "y_px": [2]}`)} {
			if err := conn.NATS().PublishMsg(m); err != nil {
				t.Fatal(err)
			}
		}
		var skip *pipeline.ErrSkip
		if f, err := s.Read(suite.Soon(t)); !errors.As(err, &skip) || skip.Cause != "bad_message" || len(err.Error()) > 500 {
			t.Errorf("%s: found %v, %.600v", name, f, err)
			return
		}
		f, err := s.Read(suite.Soon(t))
		if err != nil || f.Seq != uint64(seq+1) || f.Meta.Dropped != 0 {
			t.Fatalf("%s: then %+v, %v", name, f, err)
		}
		f.Close()
		seq += 2
	}
	for name, body := range hostile {
		bad(name, placed(seq, body))
	}
}

// TestOtherKind: a picture among positions, and positions among pictures, give a skip with advice.
func TestOtherKind(t *testing.T) {
	conn := broker(t)
	for name, c := range map[string]struct {
		source func() pipeline.Source
		m      *nats.Msg
	}{"places": {func() pipeline.Source { return subscribed(t, conn.URL()) }, placed(0, `{"x_px": [1], "y_px": [2]}`)}, "a picture": {func() pipeline.Source { return placesSource(t, conn.URL()) }, example(0)}} {
		s := c.source()
		if err := conn.NATS().PublishMsg(c.m); err != nil {
			t.Fatal(err)
		}
		var skip *pipeline.ErrSkip
		if _, err := s.Read(suite.Soon(t)); !errors.As(err, &skip) || skip.Cause != "bad_message" || !strings.Contains(err.Error(), "--places") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzPlaces: any body is rejected or gives positions within all bounds.
func FuzzPlaces(f *testing.F) {
	for _, body := range hostile {
		f.Add([]byte(body))
	}
	f.Add([]byte(`{"id": [7, 3], "x_px": [1.5, 2e1], "y_px": [0, -3], "sd_px": [0.1, 0.2]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := toPlaces(&wire.Frame{Header: wire.Header{Width: 3, Height: 2}, Bytes: body})
		if err != nil {
			return
		}
		if n := len(p.X); len(p.Y) != n || n > mostPlaces || len(p.ID) != 0 && len(p.ID) != n || len(p.SD) != 0 && len(p.SD) != n {
			t.Errorf("%d x, %d y, %d id, %d sd", n, len(p.Y), len(p.ID), len(p.SD))
		}
	})
}
