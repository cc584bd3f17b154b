package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"driftscope/infer/field"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// simulated is a film of 30 frames, 50 per second, of 160x120 px.
const simulated = "sim:vesicle?density=20&width=160&height=120&seed=3&frames=30"

// write writes a file of text in a temporary folder.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// written returns the JSON Lines of a run that followed objects for n frames, 20 ms apart, with a trigger before every tenth frame, health and events.
func written(t *testing.T, n uint64) []string {
	t.Helper()
	e := message.Encoder{Stream: "bead"}
	var messages []latent.Message
	for seq := range n {
		at := sinktest.Noon.Add(time.Duration(seq) * 20 * time.Millisecond)
		if seq%10 == 5 {
			trigger := sinktest.Trigger(seq)
			trigger.Time = at
			messages = append(messages, trigger)
		}
		m := sinktest.Field(seq)
		m.Latent.Time, m.Objects.Width, m.Objects.Height = at, 160, 120
		messages = append(messages, m)
	}
	messages = append(messages, sinktest.Track(n-1), sinktest.Population(n-1), sinktest.Event(), sinktest.Health())
	_, lines := sinktest.Lines(t, e.Encode, messages...)
	return lines
}

// listener subscribes to a stream.
type listener struct {
	*testing.T
	bus      *bus.Conn
	messages *nats.Subscription
}

func listen(t *testing.T, stream string) *listener {
	t.Helper()
	b := sinktest.Bus(t)
	heard, err := b.NATS().SubscribeSync("driftscope.local." + stream + ".*")
	if err != nil {
		t.Fatal(err)
	}
	if err := heard.SetPendingLimits(-1, -1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { heard.Unsubscribe() }) // otherwise Close would wait for unread messages
	return &listener{t, b, heard}
}

// next returns the next message of a kind; it waits a minute for a busy machine.
func (l *listener) next(kind latent.Kind) []byte {
	l.Helper()
	for {
		m, err := l.messages.NextMsg(time.Minute)
		if err != nil {
			l.Fatalf("%s: %v", kind, err)
		}
		if strings.HasSuffix(m.Subject, "."+string(kind)) {
			return m.Data
		}
	}
}

// all returns the received messages by kind, in order.
func (l *listener) all() map[latent.Kind][]string {
	l.Helper()
	if err := l.bus.NATS().Flush(); err != nil {
		l.Fatal(err)
	}
	all := map[latent.Kind][]string{}
	for {
		m, err := l.messages.NextMsg(10 * time.Millisecond)
		if err != nil {
			return all
		}
		kind := latent.Kind(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:])
		all[kind] = append(all[kind], string(m.Data))
	}
}

// ask sends a command and returns the answer and the code of a refusal, if any.
func (l *listener) ask(stream, name string) (code, answer string) {
	l.Helper()
	m, err := l.bus.NATS().Request("driftscope.local."+stream+".cmd."+name, nil, time.Minute)
	if err != nil {
		l.Fatalf("%s: %v", name, err)
	}
	return m.Header.Get(micro.ErrorCodeHeader), string(m.Data)
}

// shows plays a replay to the end.
func (l *listener) shows(o Options) error {
	l.Helper()
	r, err := Open(l.Context(), o)
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Play(l.Context(), l.bus)
}

// TestLines: every record except health is published unchanged, once and in order, and the pictures come from the film.
func TestLines(t *testing.T) {
	t.Parallel()
	lines := written(t, 30)
	l := listen(t, "bead")
	o := Options{Results: write(t, "r.jsonl", strings.Join(lines, "\n")+"\n"), Film: simulated, Speed: 4, Exit: true}
	if err := l.shows(o); err != nil {
		t.Fatal(err)
	}
	all := l.all()
	for _, kind := range []latent.Kind{latent.KindObjects, latent.KindTrigger, latent.KindTrack, latent.KindPopulation, latent.KindEvent} {
		want := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.HasPrefix(line, fmt.Sprintf(`{"v":1,"kind":%q`, kind)) })
		if len(want) == 0 || !slices.Equal(all[kind], want) {
			t.Errorf("%s: %d of %d records came as they are", kind, len(all[kind]), len(want))
		}
	}
	wantPictures(t, all[latent.KindView])
	health := all[latent.KindHealth]
	var last message.HealthRecord
	if err := json.Unmarshal([]byte(health[len(health)-1]), &last); err != nil || last.State != "stopped" || last.Tracked != 30 {
		t.Errorf("%v: %+v", err, last)
	}
}

// wantPictures checks that the views equal the simulated film's frames, bit by bit, and include the first.
func wantPictures(t *testing.T, views []string) {
	t.Helper()
	shown := map[uint64][]byte{}
	for _, line := range views {
		var v message.ViewRecord
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		shown[v.Seq] = v.Preview
	}
	if len(shown) != len(views) || shown[0] == nil || len(shown) < 2 {
		t.Errorf("%d views of %d frames, expected those of several frames, each once, from the first", len(views), len(shown))
	}
	film, err := recording.Open(simulated, 0, 0, "", recording.Whole)
	if err != nil {
		t.Fatal(err)
	}
	_, err = film.Each(t.Context(), nil, func(f *frame.Frame) error {
		picture, seen := shown[f.Seq]
		if !seen {
			return nil
		}
		var v latent.View
		if err := field.NewPicture().Apply(t.Context(), f); err != nil {
			return err
		}
		if err := field.NewViewer().View(&v, f, nil); err != nil {
			return err
		}
		if !bytes.Equal(v.Preview, picture) {
			t.Errorf("frame %d is shown by another picture", f.Seq)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTable: rows in any order become one message per frame, with numbers and positions. Without a film the background has the size of the positions.
func TestTable(t *testing.T) {
	t.Parallel()
	l := listen(t, "tracks")
	path := write(t, "tracks.csv", "y,x,particle,frame,mass\n7.25,99.5,0,2,1\n1.5,2.5,3,0,1\n8,100,0,1,1\n1,2,3,1,1\n79.9999,6,12,1,1\n")
	if err := l.shows(Options{Results: path, Speed: 1, FPS: 100, Exit: true}); err != nil {
		t.Fatal(err)
	}
	all := l.all()
	var got []string
	for _, line := range all[latent.KindObjects] {
		r, err := message.Decode(latent.KindObjects, []byte(line))
		if err != nil {
			t.Fatal(err)
		}
		o := r.(*message.ObjectsRecord)
		got = append(got, fmt.Sprint(o.Seq, o.Time.UnixMilli(), o.Width, o.Height, o.ID, o.X, o.Y))
	}
	want := []string{"0 0 101 80 [3] [2.5] [1.5]", "1 10 101 80 [0 3 12] [100 2 6] [8 1 79.9999]", "2 20 101 80 [0] [99.5] [7.25]"}
	if !slices.Equal(got, want) || len(all[latent.KindView]) != 1 {
		t.Errorf("found %d pictures and\n%s\nexpected one and\n%s", len(all[latent.KindView]), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestPart: a replay of a range of frames, twice in a loop. The times and size of a table's objects come from the film.
func TestPart(t *testing.T) {
	t.Parallel()
	l := listen(t, "tracks")
	var text strings.Builder
	text.WriteString("frame,particle,x,y\n")
	for k := range 40 { // ten more frames than the film has
		fmt.Fprintf(&text, "%d,1,5,5\n", k)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := Open(ctx, Options{Results: write(t, "tracks.csv", text.String()), Film: simulated, Speed: 50, From: 28, Frames: 4, Loop: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ended := make(chan error, 1)
	go func() { ended <- r.Play(ctx, l.bus) }()
	for i := range uint64(8) {
		var o message.ObjectsRecord
		if err := json.Unmarshal(l.next(latent.KindObjects), &o); err != nil {
			t.Fatal(err)
		}
		if k := 28 + i%4; o.Seq != k || o.Width != 160 || o.Height != 120 || k < 30 && o.Time.UnixMilli() != int64(20*k) {
			t.Errorf("message %d is of frame %d at %v, %dx%d px", i, o.Seq, o.Time, o.Width, o.Height)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestCommands: pause stops the replay until resume, stop ends it, start restarts it. Commands that control tracking are refused.
func TestCommands(t *testing.T) {
	t.Parallel()
	l := listen(t, "bead")
	r, err := Open(t.Context(), Options{Results: write(t, "r.jsonl", strings.Join(written(t, 3000), "\n")), Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- r.Play(ctx, l.bus) }()
	seq := func() uint64 {
		var o message.ObjectsRecord
		if err := json.Unmarshal(l.next(latent.KindObjects), &o); err != nil {
			t.Fatal(err)
		}
		return o.Seq
	}
	refused := func(name, want string) {
		t.Helper()
		if code, text := l.ask("bead", name); code != "409" || !strings.Contains(text, want) {
			t.Errorf("%s: %s %s, expected 409: %s", name, code, text, want)
		}
	}
	took := func(name string) {
		t.Helper()
		if code, text := l.ask("bead", name); code != "" || text != "ok" {
			t.Errorf("%s: %s %s", name, code, text)
		}
	}
	seq()
	for _, name := range []string{"freeze", "reset", "model", "follow", "roi", "start", "checkpoint"} {
		refused(name, "this is a replay")
	}
	took("pause")
	if code, text := l.ask("bead", "snapshot"); code != "" || !strings.Contains(text, `"objects":{`) || !strings.Contains(text, `"view":{`) {
		t.Errorf("%s %.200s", code, text)
	}
	held := l.all()[latent.KindObjects]
	for range 2 { // more than a second, enough for fifty frames
		l.next(latent.KindHealth)
	}
	if more := l.all()[latent.KindObjects]; len(more) > 0 {
		t.Errorf("%d frames came while it was paused, behind %d", len(more), len(held))
	}
	took("resume")
	before := seq()
	took("stop")
	var h message.HealthRecord
	for h.State != "stopped" {
		if err := json.Unmarshal(l.next(latent.KindHealth), &h); err != nil {
			t.Fatal(err)
		}
	}
	if h.Tracked < before || h.Tracked >= 3000 {
		t.Errorf("stopped after %d frames, expected more than %d and not all", h.Tracked, before)
	}
	refused("pause", "send start")
	took("start")
	if first := seq(); first != 0 {
		t.Errorf("it began anew with frame %d", first)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestHostile: an invalid result file is a usage error that names the file and the line.
func TestHostile(t *testing.T) {
	t.Parallel()
	good := strings.Join(written(t, 3), "\n") + "\n"
	other := strings.ReplaceAll(good, `"bead"`, `"cell"`)
	for _, test := range []struct {
		name, file, text string
		o                Options
		want             string // empty if the file is valid
	}{
		{"nothing", "r.jsonl", "", Options{}, "no record in it"},
		{"no JSON", "r.jsonl", good + "abc\n" + good, Options{}, "r.jsonl:8: not a driftscope message"},
		{"another kind", "r.jsonl", good + `{"v":1,"kind":"laser"}` + "\n", Options{}, "r.jsonl:8: messages of kind"},
		{"another version", "r.jsonl", `{"v":9,"kind":"event"}` + "\n", Options{}, "r.jsonl:1: event: message version 9"},
		{"uneven columns", "r.jsonl", `{"v":1,"kind":"objects","stream":"bead","id":[1],"x_px":[]}` + "\n", Options{}, "columns of"},
		{"an endless line", "r.jsonl", good + strings.Repeat(" ", message.MaxRecord+2), Options{}, "r.jsonl:8: a line of more than"},
		{"two streams", "r.jsonl", good + other, Options{}, "r.jsonl:8: a record of stream"},
		{"a stream of another's subject", "r.jsonl", strings.ReplaceAll(good, `"bead"`, `"*.>"`), Options{}, `stream "*.>"`},
		{"torn", "r.jsonl", good + `{"v":1,"kind":"obj`, Options{}, ""},
		{"a last line without its end", "r.jsonl", strings.TrimSuffix(good, "\n"), Options{}, ""},
		{"binary", "r.jsonl", "\x00\xff\n\n", Options{}, "r.jsonl:1"},
		{"frames that go back", "r.jsonl", good + good, Options{Film: simulated}, ""},
		{"frames without a time", "r.jsonl", `{"v":1,"kind":"latent","stream":"bead","seq":18446744073709551615,"z":[1]}` + "\n", Options{Film: simulated}, ""},
		{"another film", "r.jsonl", strings.ReplaceAll(good, `"width_px":160`, `"width_px":161`), Options{Film: simulated}, "give the film that was tracked"},
		{"none from there on", "r.jsonl", good, Options{From: 4}, "found no frame numbered 4 or higher"},
		{"no film", "r.jsonl", good, Options{Film: "gone.tif"}, "gone.tif does not exist"},
		{"no recording", "r.jsonl", good, Options{Film: "camera:0"}, "a live source cannot be replayed"},
		{"no columns", "t.csv", "a,b\n1,2\n", Options{}, "expected frame, particle, x and y"},
		{"no rows", "t.csv", "frame,particle,x,y\n", Options{}, "no row in it"},
		{"no number", "t.csv", "frame,particle,x,y\n0,1,2,abc\n", Options{}, "line 2: y is"},
		{"negative number", "t.csv", "frame,particle,x,y\n0,-1,2,3\n", Options{}, "line 2: particle -1"},
		{"far away", "t.csv", "frame,particle,x,y\n0,1,1e8,3\n", Options{}, "at most 16384 px"},
		{"twice", "t.csv", "frame,particle,x,y\n5,1,1,3\n0,1,1,1\n5,1,2,2\n", Options{}, "twice in frame 5"},
		{"an endless row", "t.csv", "frame,particle,x,y\n0,1,\"" + strings.Repeat("9,\n", 1<<19), Options{}, "a row of more than"},
		{"outside the picture", "t.csv", "frame,particle,x,y\n0,1,-3,-4\n2000000000,1,3,4\n", Options{FPS: 10_000, Speed: 1, Frames: 1}, ""},
		{"no pace", "r.jsonl", good, Options{Speed: -1}, "--speed -1"},
		{"two paces", "r.jsonl", good, Options{Speed: 2, FPS: 2}, "give one of them"},
		{"an end without end", "r.jsonl", good, Options{Loop: true, Speed: 1}, "has no end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := test.o
			o.Results, o.Exit = write(t, test.file, test.text), true
			if o.Speed == 0 {
				o.Speed = 100
			}
			err := listen(t, "any").shows(o)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (console.Status(err) != 2 || !strings.Contains(fmt.Sprint(err), test.want)):
				t.Errorf("found %d: %v, expected 2: %s", console.Status(err), err, test.want)
			}
		})
	}
}

// TestPace: by times, by a fixed rate, over pauses, backwards and late.
func TestPace(t *testing.T) {
	t.Parallel()
	now := sinktest.Noon
	for _, test := range []struct {
		name       string
		speed, fps float64
		seq        uint64        // number of the second frame, after frame 1
		later      time.Duration // acquisition time after the first frame
		now        time.Duration // time of the request after the first
		due        time.Duration // due time after the first
	}{
		{"by the times", 2, 0, 2, time.Second, 0, 500 * time.Millisecond},
		{"by the rate", 1, 10, 3, time.Hour, 0, 200 * time.Millisecond},
		{"a pause of the film", 1, 0, 2, time.Hour, 0, longestWait},
		{"another film", 1, 0, 0, -time.Hour, 0, 0},
		{"back, by the rate", 1, 10, 0, time.Hour, 0, 0},
		{"a little late: made up for", 1, 0, 2, 20 * time.Millisecond, 50 * time.Millisecond, 20 * time.Millisecond},
		{"late", 1, 0, 2, 20 * time.Millisecond, time.Second, time.Second - mostLate},
	} {
		p := pace{speed: test.speed, fps: test.fps}
		if due := p.next(1, now, now); !due.Equal(now) {
			t.Errorf("%s: the first frame is due %v late", test.name, due.Sub(now))
		}
		if due := p.next(test.seq, now.Add(test.later), now.Add(test.now)).Sub(now); due != test.due {
			t.Errorf("%s: due after %v, expected %v", test.name, due, test.due)
		}
	}
}
