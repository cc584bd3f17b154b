package web

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus"
)

// fieldSide is the side of the frames that these tests tell of, px.
const fieldSide = 512

// field tells of objects as a run does, and hears what the page asks.
type field struct {
	t         *testing.T
	nc        *nats.Conn
	page      context.Context
	seq       int
	following uint64
	also      map[string]any // what population says beside what it always says
	asked     chan string
}

// openField opens the page of a field stream in a browser. The page may command where pages says so.
func openField(t *testing.T, pages bus.Pages) *field {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv(requireTools) != "" {
			t.Fatal(err)
		}
		t.Skip("chromium is not installed: internal/setup/install.sh tests installs it")
	}
	s, b := start(t, Options{Address: "127.0.0.1:0", Commands: pages == bus.PagesSteer}, pages)
	f := &field{t: t, nc: b.NATS(), asked: make(chan string, 16)}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path),
		chromedp.NoSandbox, // tests may run as root
		chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1440, 1100))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	page, cancel := chromedp.NewContext(allocator)
	f.page = page
	t.Cleanup(func() {
		if err := chromedp.Cancel(page); err != nil {
			t.Error(err)
		}
		cancel()
		end()
	})
	if _, err := f.nc.Subscribe("driftscope.local.field.cmd.*", f.answer); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(page, chromedp.Navigate(s.URL())); err != nil { // without a limit: it would end the browser
		t.Fatal(err)
	}
	return f
}

// before is what every page of these tests asks first, with the answers: two zones, and an event of the time before it was opened.
var before = map[string]string{
	"info":     `{"v":1,"kind":"info","rules":[{"zone":{"name":"left","object":"any","box":{"z1":[-0.5,127.5]}}},{"zone":{"name":"disc","object":"any","ball":{"centre":{"z1":255.5,"z2":255.5},"radius":64}}},{"lost":{"name":"gone"}}]}`,
	"snapshot": `{"v":1,"kind":"snapshot","events":[{"v":1,"kind":"event","level":"warning","code":"queue_full","text":"<b>slow</b>","count":1,"time":"1970-01-01T00:00:00Z"}]}`,
}

// answer does what a run does of a command.
func (f *field) answer(m *nats.Msg) {
	name := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	if answer, known := before[name]; known {
		m.Respond([]byte(answer))
		return
	}
	f.asked <- strings.TrimSpace(name + " " + string(m.Data))
	m.Respond([]byte("ok"))
}

// tell publishes a message of a kind under a token.
func (f *field) tell(token, kind string, more map[string]any) {
	f.t.Helper()
	message := map[string]any{"v": 1, "kind": kind, "stream": "field", "seq": f.seq, "time": time.UnixMilli(int64(40 * f.seq)).UTC()}
	for name, value := range more {
		message[name] = value
	}
	data, err := json.Marshal(message)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.nc.Publish("driftscope.local.field."+token, data); err != nil {
		f.t.Fatal(err)
	}
}

// object is one of a field.
type object struct {
	id   uint64
	x, y float64
	d    any // nil where it is not known yet
	mark int
	z    []any // what it looks like, where a model says it; nil where it is not detected
	in   []any // the probability of each state of the law, where there is one; nil where it is not known
}

// show tells of a frame with these objects; more replaces what the message has.
func (f *field) show(objects []object, more map[string]any) {
	f.t.Helper()
	f.seq++
	message := map[string]any{"latency_ms": 3, "width_px": fieldSide, "height_px": fieldSide, "pixel_um": 0.1, "left_out": 0}
	ids, x, y, sd, d, marks := []uint64{}, []float64{}, []float64{}, []float64{}, []any{}, []int{}
	for _, o := range objects {
		if o.id == f.following {
			o.mark |= 16
		}
		ids, x, y, sd, d, marks = append(ids, o.id), append(x, o.x), append(y, o.y), append(sd, 0.2), append(d, o.d), append(marks, o.mark)
	}
	if len(objects) > 0 && objects[0].z != nil {
		message["z"] = columns(objects, func(o object) []any { return o.z })
		message["z_sd"] = message["z"]
	}
	if len(objects) > 0 && objects[0].in != nil {
		message["state"] = columns(objects, func(o object) []any { return o.in })
	}
	message["id"], message["x_px"], message["y_px"], message["sd_px"], message["diffusion_px2_s"], message["marks"] = ids, x, y, sd, d, marks
	for name, value := range more {
		message[name] = value
	}
	f.tell("glance", "objects", message)
	f.tell("health", "health", map[string]any{"state": "tracking", "uptime_s": f.seq, "fps": 25, "frames_in": f.seq, "frames_tracked": f.seq, "frames_dropped": map[string]int{}, "stages": []any{}})
}

// columns are what every object has of one kind, an object in each row of them.
func columns(objects []object, of func(object) []any) [][]any {
	columns := make([][]any, len(of(objects[0])))
	for _, o := range objects {
		for l, v := range of(o) {
			columns[l] = append(columns[l], v)
		}
	}
	return columns
}

// view tells of a black picture of the newest frame.
func (f *field) view() {
	f.t.Helper()
	var b strings.Builder
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, fieldSide, fieldSide)), nil); err != nil {
		f.t.Fatal(err)
	}
	f.tell("view", "view", map[string]any{"preview_jpeg": base64.StdEncoding.EncodeToString([]byte(b.String()))})
}

// population tells of all of them together.
func (f *field) population() {
	message := map[string]any{"count": 3, "spots": 3, "density_px": 1e-4, "density_um": 0.01, "births": 2 * f.seq, "deaths": f.seq, "directed": 1, "detected": 0.97,
		"tracks": 500, "steps": 9000, "noise_px": 0.2, "diffusion_px2_s": 20, "diffusion_px2_s_low": 19, "diffusion_px2_s_high": 21, "common_velocity_px_s": []float64{1.5, -0.5},
		"common_velocity_sd_px_s": 0.2, "spectrum_px2_s": []float64{1, 10, 100}, "spectrum": []float64{0.2, 0.7, 0.1}}
	maps.Copy(message, f.also)
	f.tell("population", "population", message)
}

// pageDoes carries out an action within what a busy machine needs.
func pageDoes[T any](f *field, action chromedp.Action[T]) T {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.page, 2*time.Minute)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	if err != nil {
		f.t.Fatal(err)
	}
	return result
}

func (f *field) do(actions ...chromedp.Action[chromedp.Void]) {
	f.t.Helper()
	pageDoes(f, chromedp.Steps(actions...))
}

// js evaluates an expression.
func js[T any](f *field, expression string) T {
	f.t.Helper()
	return pageDoes(f, chromedp.Evaluate[T](expression))
}

// until tells of frames with these objects until an expression is true.
func (f *field) until(what, expression string, objects []object) {
	f.t.Helper()
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(30 * time.Millisecond) {
		if f.show(objects, nil); f.seq%10 == 0 {
			f.population()
		}
		f.view()
		if js[bool](f, "Boolean("+expression+")") {
			return
		}
	}
	f.shoot("failed")
	f.t.Fatalf("%s: not within a minute; the page says %q", what, js[string](f, "document.body.innerText"))
}

// wantAsked wants a command, and does what it says.
func (f *field) wantAsked(want string) {
	f.t.Helper()
	select {
	case got := <-f.asked:
		if got != want {
			f.t.Errorf("found %q, expected %q", got, want)
		}
	case <-time.After(20 * time.Second):
		f.t.Errorf("nothing was asked, expected %q", want)
	}
	f.following = 0
	fmt.Sscanf(want, `follow {"id":%d}`, &f.following)
}

// shoot keeps a picture of the page with the test's artefacts.
func (f *field) shoot(name string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.t.ArtifactDir(), name+".png"), pageDoes(f, chromedp.FullScreenshot(100)), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// few are objects of which everything is known: far apart, one not detected.
func few() []object {
	return []object{{id: 7, x: 100, y: 50, d: 40.0}, {id: 17, x: 400, y: 300, d: 2.0, mark: 4}, {id: 3, x: 256, y: 450, mark: 1}}
}

// inked counts the pixels of the marks' canvas that are not clear around a place of the frame, within half a mark's size.
const inked = `(() => {
	const c = document.querySelector('#marks'), s = c.width / 512;
	const d = c.getContext('2d').getImageData((%v + 0.5) * s - 12, (%v + 0.5) * s - 12, 24, 24).data;
	return d.filter((v, i) => i %% 4 === 3 && v > 0).length;
})()`

// clickAt clicks the frame's place x, y as a mouse does.
func clickAt(f *field, x, y float64) {
	f.t.Helper()
	type place struct{ X, Y float64 }
	p := js[place](f, fmt.Sprintf(`(() => { document.querySelector('#marks').scrollIntoView({block: 'center'}); const r = document.querySelector('#marks').getBoundingClientRect();
		return {x: r.x + (%v + 0.5) * r.width / 512, y: r.y + (%v + 0.5) * r.height / 512}; })()`, x, y))
	f.do(chromedp.MouseClickXY(p.X, p.Y))
}

// TestField: marks stand where objects are; what is clicked is followed, and let go; the table sorts; what is no message changes nothing.
func TestField(t *testing.T) {
	f := openField(t, bus.PagesSteer)
	f.until("a field", `document.body.dataset.shows === 'field' && document.querySelectorAll('#objects tr').length === 3 && /± 5.0 %/.test(document.querySelector('#field-checks').textContent)`, few())
	for _, o := range few() {
		if js[int](f, fmt.Sprintf(inked, o.x, o.y)) == 0 {
			t.Errorf("no mark at %v, %v", o.x, o.y)
		}
	}
	if n := js[int](f, fmt.Sprintf(inked, 100, 300)); n != 0 {
		t.Errorf("%d pixels of a mark where no object is", n)
	}
	if got := js[string](f, `getComputedStyle(document.querySelector('.path')).display`); got != "none" {
		t.Errorf("the path of no object is shown: %s", got)
	}
	for selector, want := range map[string]string{"#many": "3 objects", "#motion": "D 0.200 µm²/s [0.190, 0.210]", "#motion-more": "together 1.5, −0.5 ± 0.2 px/s", "#many-more": "0.010 /µm²"} {
		if got := js[string](f, fmt.Sprintf("document.querySelector(%q).textContent", selector)); !strings.Contains(got, want) {
			t.Errorf("%s says %q, expected %q", selector, got, want)
		}
	}
	f.shoot("field")
	t.Run("zones", func(t *testing.T) { zones(f) })
	t.Run("looks", func(t *testing.T) { looks(f) })
	t.Run("sorts", func(t *testing.T) { sorts(f) })
	t.Run("follows", func(t *testing.T) { follows(f) })
	t.Run("hostile", func(t *testing.T) { hostile(f) })
	t.Run("narrow", func(t *testing.T) { narrow(f) })
}

// zones: those of rules lie where they are in the frame, and are marked while their condition holds; events of the time before are listed, and kept in bounds.
func zones(f *field) {
	const places = `Array.from(document.querySelectorAll('.crowd .zone'), (z) => [z.textContent, z.className, ...['left', 'top', 'width', 'height'].map((s) => parseFloat(z.style[s]))].join(' ')).join()`
	f.until("the zones", places+` === 'left zone 0 0 25 100,disc zone round 37.5 37.5 25 25'`, few())
	trigger := func(on bool) {
		f.tell("trigger", "trigger", map[string]any{"name": "disc", "rule": "zone", "on": on, "value": 3, "threshold": 0, "unit": "px", "object": 7})
	}
	trigger(true)
	f.until("an object in the disc", places+` === 'left zone 0 0 25 100,disc zone round on 37.5 37.5 25 25'`, few())
	f.shoot("zones")
	trigger(false)
	f.until("none in the disc", places+`.includes('disc zone round 37.5')`, few())
	const list = `Array.from(document.querySelectorAll('#events li'), (li) => li.querySelector('strong').textContent).join()`
	f.until("the trigger, and the event of before", list+` === 'disc,queue full' && document.querySelector('#events').textContent.includes('<b>slow</b>')`, few())
	for i := range 600 {
		f.tell("event", "event", map[string]any{"level": "info", "code": fmt.Sprintf("code_%d", i), "text": "", "count": 1})
	}
	f.until("the newest 500 events", `document.querySelectorAll('#events li').length === 500 && document.querySelector('#events li').textContent.includes('code 599')`, few())
	f.tell("event", "event", map[string]any{"level": "info", "code": "code_599", "text": "", "count": 1})
	f.until("the same again in one line", `document.querySelectorAll('#events li').length === 500 && document.querySelector('#events li strong').textContent === 'code 599 × 2'`, few())
}

// hued is the sum of blue less that of red of the pixels of a mark: more than 0 at the ramp's low end, less at its high end.
const hued = `(() => {
	const c = document.querySelector('#marks'), s = c.width / 512;
	const d = c.getContext('2d').getImageData((%v + 0.5) * s - 12, (%v + 0.5) * s - 12, 24, 24).data;
	return d.reduce((sum, v, i) => sum + (i %% 4 === 2 ? v : i %% 4 === 0 ? -v : 0), 0);
})()`

// looking are few with two latents each: by the first the third looks like the second, and by the second nothing is known of the second.
func looking(third any) []object {
	objects := few()
	objects[0].z, objects[1].z, objects[2].z = []any{-3.0, 1.0}, []any{3.0, nil}, []any{third, 2.0}
	return objects
}

// looks: colours and columns of latents are there while messages have them; an object that is not detected keeps its last.
func looks(f *field) {
	const buttons = `Array.from(document.querySelectorAll('#tints button'), (b) => b.textContent + (b.ariaPressed === 'true' ? '!' : '')).join()`
	const heads = `Array.from(document.querySelectorAll('#objects-head th'), (th) => th.textContent).slice(5).join()`
	const rows = `Array.from(document.querySelectorAll('#objects tr'), (tr) => Array.from(tr.cells).slice(6).map((td) => td.textContent).join(' ')).join()`
	without := buttons + ` === 'D!,age,class' && ` + heads + ` === 'class'`
	f.until("nothing of latents", without, few())
	f.until("two latents", buttons+` === 'D!,age,class,latent 1,latent 2' && `+heads+` === 'class,latent 1,latent 2'`, looking(nil))
	f.do(chromedp.Click(chromedp.CSS("#tints button:nth-child(4)")), chromedp.Click(chromedp.CSS("#objects-head th:nth-child(7) button")))
	f.until("the order by latent 1", rows+` === '−3.00 1.00,3.00 –,– 2.00'`, looking(nil))
	f.until("the third as the second", rows+` === '−3.00 1.00,3.00 2.00,3.00 –'`, looking(3.0))
	f.until("a frame without it", `true`, looking(nil))
	f.do(chromedp.Sleep(time.Second)) // the table is written twice a second
	f.until("the last that is known", rows+` === '−3.00 1.00,3.00 2.00,3.00 –' && document.querySelector('#ramp-low').textContent.startsWith('−')`, looking(nil))
	for i, o := range few() {
		if hue := js[int](f, fmt.Sprintf(hued, o.x, o.y)); (hue > 0) != (i == 0) {
			f.t.Errorf("object %d: blue is %d more than red, expected it more of 7 alone, which has the lowest latent", o.id, hue)
		}
	}
	f.shoot("looks")
	f.until("nothing of latents any more", without, few())
}

// sorts: a heading sorts by its column, and once more the other way round; what is not known stands last.
func sorts(f *field) {
	ids := func() string {
		return js[string](f, `Array.from(document.querySelectorAll('#objects tr'), (tr) => tr.cells[0].textContent).join(' ')`)
	}
	for _, c := range []struct{ column, want, way string }{{"1", "3 7 17", "ascending"}, {"1", "17 7 3", "descending"}, {"2", "7 3 17", "ascending"}, {"4", "7 17 3", "descending"}, {"4", "17 7 3", "ascending"}} {
		head := fmt.Sprintf("#objects-head th:nth-child(%s)", c.column)
		f.do(chromedp.Click(chromedp.CSS(head + " button")))
		f.until("rows "+c.want, fmt.Sprintf(`document.querySelector(%q).ariaSort === %q && Array.from(document.querySelectorAll('#objects tr'), (tr) => tr.cells[0].textContent).join(' ') === %q`, head, c.way, c.want), few())
		if got := ids(); got != c.want {
			f.t.Errorf("column %s: found %s, expected %s", c.column, got, c.want)
		}
	}
}

// follows: by the mouse in the picture, by a row, by the keyboard; let go by another click, by one beside, and by its button.
func follows(f *field) {
	followed := `document.body.dataset.shows === 'followed' && getComputedStyle(document.querySelector('.path')).display !== 'none'`
	alone := `document.body.dataset.shows === 'field'`
	clickAt(f, 400, 300)
	f.wantAsked(`follow {"id":17}`)
	f.until("the object that is followed", followed+` && document.querySelector('#followed-text').textContent.startsWith('Following 17')`, few())
	f.until("its row", `document.querySelector('#objects .chosen')?.cells[0].textContent === '17'`, few())
	f.shoot("followed")
	clickAt(f, 400, 300)
	f.wantAsked("unfollow")
	f.until("none that is followed", alone, few())
	f.do(chromedp.Click(chromedp.CSS("#objects tr:first-child td:nth-child(3)")))
	f.wantAsked(`follow {"id":17}`) // the first by D ascending
	f.until("the row's object", followed, few())
	clickAt(f, 100, 300)
	f.wantAsked("unfollow")
	f.until("none that is followed", alone, few())
	f.do(chromedp.Focus(chromedp.CSS("#objects tr:nth-child(2) button")), chromedp.KeyEvent("\r"))
	f.wantAsked(`follow {"id":7}`)
	f.until("the key's object", followed, few())
	f.do(chromedp.Click(chromedp.CSS("#unfollow")))
	f.wantAsked("unfollow")
	f.until("none that is followed", alone, few())
	clickAt(f, 100, 300) // where no object is: nothing is asked
	f.until("a frame more", `true`, few())
	if len(f.asked) > 0 {
		f.t.Errorf("a click beside all objects asks %q", <-f.asked)
	}
}

// hostile: messages that do not hold together change nothing.
func hostile(f *field) {
	for name, more := range map[string]map[string]any{
		"a short column": {"x_px": []float64{1}}, "words": {"y_px": []string{"a", "b", "c", "d"}}, "no width": {"width_px": 0}, "a wide frame": {"width_px": 1e9}, "no ids": {"id": nil},
		"halves": {"id": []float64{0.5, 1, 2, 3}}, "no time": {"time": "yesterday"}, "markup": {"pixel_um": "<b>"}, "too many": {"id": make([]uint64, 1<<16+1)}, "another version": {"v": 2},
	} {
		f.show([]object{{id: 1, x: 1, y: 1}, {id: 2, x: 2, y: 2}, {id: 4, x: 3, y: 3}, {id: 5, x: 4, y: 4}}, more)
		f.do(chromedp.Sleep(400 * time.Millisecond)) // the page writes its figures four times a second
		if got := js[string](f, "document.querySelector('#many').textContent"); got != "3 objects" {
			f.t.Errorf("%s: found %s, expected 3 as before", name, got)
		}
	}
	if n := js[int](f, fmt.Sprintf(inked, 1, 1)); n != 0 {
		f.t.Errorf("%d pixels of a mark that no message has", n)
	}
}

// narrow: at a phone's width nothing scrolls sideways, with as many latents as are shown at most, and marks are where the picture is.
func narrow(f *field) {
	const width = 390
	f.do(func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 844, DeviceScaleFactor: 2, Mobile: true})
		return none, err
	})
	objects := few()
	for i := range objects {
		objects[i].z = []any{-10.25, 1.0, 2.0, 3.0, 4.0}
	}
	f.until("marks and four latents of five", fmt.Sprintf(inked, 400, 300)+` > 0 && document.querySelectorAll('#tints button').length === 7 && document.querySelectorAll('#objects-head th').length === 10`, objects)
	if wide := js[int](f, "document.documentElement.scrollWidth"); wide > width { // innerWidth grows with what does not fit
		f.t.Errorf("the page scrolls sideways: it is %d px wide", wide)
	}
	f.shoot("narrow")
}

// TestFieldLooks: where the page may not command a click asks nothing, and nothing looks as if it could be pressed.
func TestFieldLooks(t *testing.T) {
	f := openField(t, bus.PagesLook)
	f.until("rows", `document.querySelectorAll('#objects tr').length === 3`, few())
	clickAt(f, 400, 300)
	f.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('#objects tr').click()`))
	f.until("a frame more", `document.querySelectorAll('#objects button:not(:disabled)').length === 0 && document.querySelectorAll('#objects .usable').length === 0`, few())
	if len(f.asked) > 0 {
		t.Errorf("found %q of a page that may only look", <-f.asked)
	}
}

// TestFieldOfThousands: three thousand objects are drawn, every one, and the page goes on with others; a page that falls behind would not get there.
func TestFieldOfThousands(t *testing.T) {
	f := openField(t, bus.PagesSteer)
	r := rand.New(rand.NewPCG(1, 2))
	objects := make([]object, 3000)
	for i := range objects {
		objects[i] = object{id: uint64(i + 1), x: 512 * r.Float64(), y: 512 * r.Float64(), d: 100 * r.Float64(), z: []any{r.NormFloat64(), nil}}
	}
	for range 100 {
		for i := range objects {
			objects[i].x = min(max(objects[i].x+r.NormFloat64(), 0), 511)
		}
		f.show(objects, nil)
		f.view()
		time.Sleep(time.Second / 30)
	}
	f.until("all of them", `document.querySelector('#many').textContent === '3\u2009000 objects' && document.querySelectorAll('#objects tr').length === 50`, objects)
	for _, o := range objects[:50] {
		if js[int](f, fmt.Sprintf(inked, o.x, o.y)) == 0 {
			t.Errorf("no mark at %v, %v", o.x, o.y)
		}
	}
	f.shoot("thousands")
	f.until("the few that are left", `document.querySelectorAll('#objects tr').length === 3`, few())
	f.until("no ink of objects that are gone", "("+fmt.Sprintf(inked, 100., 300.)+") === 0", few()) // rows and marks are drawn apart
}
