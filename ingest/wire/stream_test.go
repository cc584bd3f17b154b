package wire

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"driftscope/ingest/tiff"
)

// message is a publisher's message.
type message struct {
	headers map[string][]string
	data    []byte
	pause   time.Duration // before the message arrives
}

// header returns the header of a small frame.
func header(seq uint64) Header {
	return Header{Session: "a", Seq: seq, Time: time.Unix(1, 234567891).UTC(), Width: 6, Height: 5, Channels: 1, Depth: tiff.Uint16}
}

// pixels returns the bytes of a frame, which differ between frames.
func pixels(h Header) []byte {
	p := make([]byte, h.size())
	for i := range p {
		p[i] = byte(7*i + int(h.Seq))
	}
	return p
}

// split returns the messages that Split sends, of each bytes.
func split(t testing.TB, h Header, data []byte, each int) (messages []message) {
	t.Helper()
	err := Split(h, data, headerRoom+each, func(headers map[string][]string, data []byte) error {
		m := message{headers: map[string][]string{}, data: bytes.Clone(data)}
		for name, values := range headers {
			m.headers[name] = []string{values[0]}
		}
		messages = append(messages, m)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// take passes messages to s. It returns one word per result: a frame's "number+dropped", or a cause.
func take(s *Stream, messages ...message) (story []string) {
	now := time.Unix(1e9, 0)
	for _, m := range messages {
		now = now.Add(m.pause + time.Millisecond)
		f, err := s.Take(now, m.headers, m.data)
		var lost *Lost
		if errors.As(err, &lost) {
			story = append(story, lost.Cause)
		}
		if f != nil {
			story = append(story, fmt.Sprintf("%d+%d", f.Number, f.Dropped))
		}
	}
	return story
}

// For all pixel types and numbers of messages, the frame that arrives equals the sent one.
func TestRoundTrip(t *testing.T) {
	for _, depth := range []tiff.Depth{tiff.Uint8, tiff.Uint16, tiff.Float32} {
		for _, channels := range []int{1, 3} {
			for _, each := range []int{1, 7, 1 << 20} {
				h := header(3)
				h.Depth, h.Channels, h.Trajectory = depth, channels, 9
				var s Stream
				var frames int
				for _, m := range split(t, h, pixels(h), each) {
					f, err := s.Take(time.Unix(1, 0), m.headers, m.data)
					if err != nil {
						t.Fatal(err)
					}
					if f == nil {
						continue
					}
					frames++
					h.Chunk, h.Chunks = f.Chunk, f.Chunks
					if f.Header != h || !bytes.Equal(f.Bytes, pixels(h)) || f.Number != 0 || f.Dropped != 0 || f.Renewed {
						t.Errorf("depth %d, %d channels, %d bytes each: %+v", depth, channels, each, f)
					}
				}
				if frames != 1 {
					t.Errorf("%d frames", frames)
				}
			}
		}
	}
}

// with returns m with headers replaced; "" removes a header.
func (m message) with(pairs ...string) message {
	m.headers = maps.Clone(m.headers)
	for i := 0; i < len(pairs); i += 2 {
		m.headers[pairs[i]] = []string{pairs[i+1]}
		if pairs[i+1] == "" {
			delete(m.headers, pairs[i])
		}
	}
	return m
}

// Every sequence number is accounted for once: in a frame, in its Dropped, or in a Lost.
func TestLoss(t *testing.T) {
	whole := func(seq uint64) message { h := header(seq); return split(t, h, pixels(h), 1<<20)[0] }
	part := func(seq uint64, k int) message { h := header(seq); return split(t, h, pixels(h), 20)[k] } // one of three
	session := func(m message, name string) message { return m.with(nameSession, name) }
	after := func(m message) message { m.pause = time.Second; return m }
	back := func(m message) message { m.pause = -time.Hour; return m } // by the server's clock
	long := func(seq uint64) message { m := whole(seq); m.data = append(m.data, 0); return m }
	short := func(seq uint64) message { m := whole(seq); m.data = m.data[1:]; return m }
	tall := func(seq uint64) message { h := header(seq); h.Height = 9; return split(t, h, pixels(h), 1<<20)[0] }
	grey := func(seq uint64) message {
		h := header(seq)
		h.Depth = tiff.Uint8
		return split(t, h, pixels(h), 1<<20)[0]
	}
	at := func(seq uint64, year int) message {
		return whole(seq).with(nameTime, fmt.Sprint(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()))
	}
	for name, c := range map[string]struct {
		messages []message
		story    string
	}{
		"in order":                    {[]message{whole(5), whole(6), whole(7)}, "0+0 1+0 2+0"},
		"gap":                         {[]message{whole(5), whole(9), whole(10)}, "0+0 4+3 5+0"},
		"late and again":              {[]message{whole(5), whole(5), whole(4), whole(6)}, "0+0 late_frame late_frame 1+0"},
		"late part":                   {[]message{whole(5), part(4, 1), part(4, 2), whole(6)}, "0+0 1+0"},
		"end missing":                 {[]message{whole(5), part(6, 0), part(6, 1), whole(7)}, "0+0 torn_frame 2+0"},
		"end missing, gap before it":  {[]message{whole(5), part(8, 0), whole(9)}, "0+0 torn_frame 4+2"},
		"middle missing":              {[]message{whole(5), part(6, 0), part(6, 2), whole(7)}, "0+0 torn_frame 2+0"},
		"beginning missing":           {[]message{whole(5), part(6, 1), part(6, 2), whole(7)}, "0+0 torn_frame 2+0"},
		"only the middle":             {[]message{part(5, 1), part(5, 2), whole(6)}, "torn_frame 1+0"},
		"sent again from the start":   {[]message{whole(5), part(6, 0), part(6, 0), part(6, 1), part(6, 2)}, "0+0 1+0"},
		"two torn in a row":           {[]message{whole(5), part(6, 0), part(7, 1), whole(8)}, "0+0 torn_frame 3+1"},
		"headers change":              {[]message{whole(5), part(6, 0), part(6, 1).with(nameHeight, "4"), part(6, 2), whole(7)}, "0+0 contradictory_frame 2+0"},
		"too long":                    {[]message{whole(5), long(6), whole(7)}, "0+0 contradictory_frame 2+0"},
		"too short":                   {[]message{whole(5), short(6), whole(7)}, "0+0 contradictory_frame 2+0"},
		"unreadable":                  {[]message{whole(5), whole(6).with(nameWidth, "x"), whole(7)}, "0+0 bad_message 2+0"},
		"unreadable, and a gap":       {[]message{whole(5), whole(6).with(nameWidth, "x"), whole(9)}, "0+0 bad_message 4+2"},
		"junk beside":                 {[]message{whole(5), {data: []byte("hello")}, whole(6)}, "0+0 bad_message 1+0"},
		"jump":                        {[]message{whole(5), whole(math.MaxUint64), whole(6)}, "0+0 bad_message 1+0"},
		"junk within a frame":         {[]message{whole(5), part(6, 0), {}, part(6, 1), whole(4), session(whole(9), "b"), part(6, 2)}, "0+0 bad_message late_frame second_publisher 1+0"},
		"restart":                     {[]message{whole(5), whole(6), after(session(whole(0), "b")), session(whole(2), "b")}, "0+0 1+0 2+0 4+1"},
		"restart within a frame":      {[]message{whole(5), part(6, 0), after(session(whole(0), "b"))}, "0+0 torn_frame 2+0"},
		"restart in parts":            {[]message{whole(5), after(session(part(0, 1), "b")), session(part(0, 2), "b"), session(whole(1), "b")}, "0+0 1+0"},
		"clock set back":              {[]message{whole(5), back(whole(6)), whole(7)}, "0+0 1+0 2+0"},
		"clock set back, and restart": {[]message{whole(5), whole(6), back(session(whole(0), "b")), after(session(whole(1), "b"))}, "0+0 1+0 second_publisher 2+0"},
		"two publishers on a subject": {[]message{whole(5), session(whole(90), "b"), whole(6), session(whole(91), "b")}, "0+0 second_publisher 1+0 second_publisher"},
		"no time between":             {[]message{whole(5), whole(6), session(whole(0), "b"), whole(7)}, "0+0 1+0 second_publisher 2+0"},
		"counted anew, same session":  {[]message{whole(5), after(whole(0)), whole(1), whole(2)}, "0+0 late_frame 1+0 2+0"},
		"held up on the way":          {[]message{whole(5), after(whole(4)), whole(6), after(whole(3)), whole(7)}, "0+0 late_frame 1+0 late_frame 2+0"},
		"another size":                {[]message{whole(5), tall(6), tall(7), whole(8), after(tall(9)), tall(10)}, "0+0 size_changed size_changed 3+0 size_changed 4+0"},
		"another type":                {[]message{whole(5), grey(6), whole(7)}, "0+0 type_changed 2+0"},
		"the greatest number":         {[]message{whole(math.MaxUint64), whole(0), whole(1)}, "bad_message 0+0 1+0"},
		"taken in 2200":               {[]message{whole(5), at(6, 2200), whole(7), at(8, 1900), whole(9)}, "0+0 bad_message 2+0 bad_message 4+0"},
		"taken in 2200 at first":      {[]message{at(5, 2200), whole(6), after(whole(7)), whole(8)}, "0+0 bad_message 1+0 2+0"},
		"a number far ahead":          {[]message{whole(5), whole(1 << 30), after(whole(6)), whole(7), whole(8)}, fmt.Sprintf("0+0 %d+%d late_frame %d+0 %d+0", 1<<30-5, 1<<30-6, 1<<30-4, 1<<30-3)},
	} {
		t.Run(name, func(t *testing.T) {
			if story := strings.Join(take(new(Stream), c.messages...), " "); story != c.story {
				t.Errorf("found    %s\nexpected %s", story, c.story)
			}
		})
	}
}

// A path does not continue in the next session of a publisher.
func TestRestartCutsThePath(t *testing.T) {
	var s Stream
	var paths []uint64
	var renewed []bool
	now := time.Unix(1, 0)
	for _, m := range []struct {
		session    string
		trajectory uint64
	}{{"a", 0}, {"a", 4}, {"b", 0}, {"b", 1}, {"c", 0}} {
		h := header(uint64(len(paths)))
		h.Session, h.Trajectory = m.session, m.trajectory
		now = now.Add(time.Minute)
		f, err := s.Take(now, split(t, h, pixels(h), 1<<20)[0].headers, pixels(h))
		if err != nil {
			t.Fatal(err)
		}
		paths, renewed = append(paths, f.Trajectory), append(renewed, f.Renewed)
	}
	if fmt.Sprint(paths, renewed) != "[0 4 5 6 7] [false false true false true]" {
		t.Error(paths, renewed)
	}
}

// The error for a wrong header is one line with its name and the value found.
func TestHeadersRefused(t *testing.T) {
	h := header(1)
	good := split(t, h, pixels(h), 1<<20)[0]
	long := strings.Repeat("9", 1000)
	for _, c := range [][3]string{
		{nameSession, "", "is missing"},
		{nameSession, strings.Repeat("s", 65), "1 to 64 bytes"},
		{nameSeq, "", "is missing"},
		{nameSeq, "-1", `found "-1"`},
		{nameSeq, long, "below 2^64"},
		{nameSeq, strings.Repeat("0", 30), "below 2^64"},
		{nameTime, "", "is missing"},
		{nameTime, "1.5e18", "whole nanoseconds"},
		{nameTrajectory, "x", `found "x"`},
		{nameWidth, "", "is missing"},
		{nameWidth, "0", "from 1 to 16384"},
		{nameHeight, "16385", "from 1 to 16384"},
		{nameChannels, "2", "2 channels"},
		{nameChannels, "4", "from 1 to 3"},
		{namePixelType, "", "is missing"},
		{namePixelType, ">u2", "one of uint8, uint16, float32"},
		{nameEncoding, "jpeg", "one of raw, png"},
		{nameChunks, "5000", "from 1 to 4096"},
		{nameChunk, "1", "from 0 to 0"},
		{nameChunk, "-1", "from 0 to 0"},
	} {
		_, err := parse(good.with(c[0], c[1]).headers)
		if err == nil || !strings.Contains(err.Error(), c[2]) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
			t.Errorf("%s: %.20q: found %v, expected %s", c[0], c[1], err, c[2])
		}
	}
	twice := good.with()
	twice.headers[nameSeq] = []string{"1", "2"}
	if _, err := parse(twice.headers); err == nil || !strings.Contains(err.Error(), `found "1, 2"`) {
		t.Error(err)
	}
	huge := good.with(nameWidth, "16384", nameHeight, "16384")
	if _, err := parse(huge.headers); err == nil || !strings.Contains(err.Error(), "at most 67108864") {
		t.Error(err)
	}
}

func TestSplitRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *Header)
		limit  int
		want   string
	}{
		"no session": {func(h *Header) { h.Session = "" }, 1 << 20, "the session name has 0 bytes"},
		"channels":   {func(h *Header) { h.Channels = 2 }, 1 << 20, "2 channels"},
		"size":       {func(h *Header) { h.Width = 0 }, 1 << 20, "0x5 pixels"},
		"large":      {func(h *Header) { h.Width, h.Height = maxSide, maxSide }, 1 << 20, "at most 67108864"},
		"bytes":      {func(h *Header) { h.Width = 7 }, 1 << 20, "number of bytes differs from its header"},
		"limit":      {func(*Header) {}, headerRoom, "raise the server's max_payload"},
		"chunks":     {func(h *Header) { h.Width, h.Height = 100, 100 }, headerRoom + 1, "needs more than 4096 messages"},
	} {
		h := header(0)
		data := pixels(h)
		c.change(&h)
		if name == "chunks" {
			data = pixels(h)
		}
		err := Split(h, data, c.limit, func(map[string][]string, []byte) error { return nil })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %s", name, err, c.want)
		}
	}
}

// FuzzStream: for any messages, a frame has the bytes that its headers announce, numbers only grow, and every number is accounted for. Memory depends on the
// received bytes, not on the headers' claims. A publisher that continues is followed. The input is a list of messages, see readScript.
func FuzzStream(f *testing.F) {
	h := header(2)
	for _, each := range []int{20, 1 << 20} {
		var script []byte
		for _, m := range split(f, h, pixels(h), each) {
			script = append(script, m.script()...)
		}
		f.Add(script)
	}
	f.Add(message{headers: header(0).with(nameWidth, "16384")}.script())
	var mixed []byte
	for seq, m := range []message{{}, {pause: time.Second}, {}, {}} {
		h := header(uint64(seq))
		h.Session = string("abba"[seq])
		m.headers, m.data = h.with(nameSeq, fmt.Sprint(seq)), pixels(h)
		mixed = append(mixed, m.script()...)
	}
	f.Add(mixed)
	f.Fuzz(func(t *testing.T, script []byte) {
		var s Stream
		last, sent := int64(-1), len(script)
		now, accounted := time.Unix(0, 0), uint64(0)
		for len(script) > 0 {
			var m message
			m, script = readScript(script)
			now = now.Add(m.pause)
			frame, err := s.Take(now, m.headers, m.data)
			if err != nil {
				accounted++
			}
			var lost *Lost
			if err != nil && (!errors.As(err, &lost) || lost.Cause == "" || strings.ContainsRune(err.Error(), '\n')) {
				t.Fatalf("%q", err)
			}
			if cap(s.bytes) > 2*sent+64 {
				t.Fatalf("%d bytes kept of %d", cap(s.bytes), sent)
			}
			if frame == nil {
				continue
			}
			if frame.check() != nil || len(frame.Bytes) > frame.room() || frame.Encoding == Raw && len(frame.Bytes) != frame.size() {
				t.Fatalf("%+v", frame.Header)
			}
			if int64(frame.Number) <= last || frame.Dropped > frame.Number {
				t.Fatalf("number %d with %d dropped after %d", frame.Number, frame.Dropped, last)
			}
			last = int64(frame.Number)
			if accounted += 1 + frame.Dropped; accounted < frame.Number+1 {
				t.Fatalf("frame %d, %d are accounted for", frame.Number, accounted)
			}
		}
		goesOn(t, &s, now)
	})
}

// goesOn publishes two frames, which the stream must follow whatever the headers before them were.
func goesOn(t *testing.T, s *Stream, now time.Time) {
	var frame *Frame
	for seq := range uint64(2) {
		h := header(seq)
		h.Session = "the one that goes on"
		now = now.Add(mostPatience + 1)
		frame, _ = s.Take(now, h.with(nameSeq, fmt.Sprint(seq)), pixels(h))
	}
	if frame == nil || frame.Session != "the one that goes on" {
		t.Fatalf("followed %+v", frame)
	}
}

// with returns the headers of h with one replaced.
func (h Header) with(name, text string) map[string][]string {
	h.Chunks = 1
	headers := h.headers()
	headers[name] = []string{text}
	return headers
}

const tenth = 100 * time.Millisecond

// names lists all headers, in the order of a script.
var names = []string{
	nameSession, nameSeq, nameTime, nameTrajectory, nameWidth, nameHeight, nameChannels, namePixelType, nameEncoding, nameFilter, nameChunk, nameChunks,
}

// script encodes m as bytes: the pause in tenths of a second, one line per header, then the length of the data and the data.
func (m message) script() []byte {
	b := []byte{byte(m.pause / tenth)}
	for _, name := range names {
		b = append(append(b, strings.Join(m.headers[name], "")...), '\n')
	}
	return append(append(b, byte(len(m.data))), m.data...)
}

// readScript reads one message. An empty line means that the header is missing.
func readScript(script []byte) (m message, rest []byte) {
	m.headers = map[string][]string{}
	m.pause, script = time.Duration(script[0])*tenth, script[1:]
	for _, name := range names {
		line, after, _ := bytes.Cut(script, []byte("\n"))
		if script = after; len(line) > 0 {
			m.headers[name] = []string{string(line)}
		}
	}
	if len(script) == 0 {
		return m, nil
	}
	n := min(int(script[0]), len(script)-1)
	m.data = script[1 : 1+n]
	return m, script[1+n:]
}
