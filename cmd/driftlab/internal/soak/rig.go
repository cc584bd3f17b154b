package soak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"driftscope/configs"
	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/system"
	"driftscope/internal/suite"
)

const (
	diskSize = 24 << 20         // size of the disk that a fault fills, bytes
	patience = 90 * time.Second // time for recovery after the faults, on a busy machine
	cooling  = 10               // the last 1/cooling of the time has no faults
)

// note is an ONNX file's doc_string, added to the shipped model to change its digest.
const note = "\x32\x04soak"

// rig holds all parts of the soak: three programs, a NATS server, a camera, publishers and writers of recordings.
type rig struct {
	o        Command
	folder   string
	begun    time.Time
	audit    *auditor
	unwanted *regexp.Regexp // faults that are left out
	plan     *plan

	embedded, outside *hub // the server inside program a, and the separate one
	server, camera    *process
	later             *process // a server on the embedded server's store
	link              *suite.Link
	programs          []*program
	streams           []*stream
	publishers        []*publisher
	growing           []*growing
	disk              string // folder that can be filled; empty if mounting is not permitted
	ports             struct {
		reserved         suite.ReservedPorts
		embedded, server int
	}
	ctx        context.Context // for background work
	cancel     context.CancelFunc
	background sync.WaitGroup
	stopWriter context.CancelFunc
	samples    *samples
	reserved   io.Closer // reservation of the simulated camera on this machine's network
	natsServer string
	commit     string          // checked out at the start
	healing    context.Context // ends after the last processes
	healed     context.CancelFunc
}

func newRig(o Command) (*rig, error) {
	unwanted, err := regexp.Compile(o.Without)
	if err != nil {
		return nil, fmt.Errorf("--without: %w", err)
	}
	if o.Without == "" {
		unwanted = nil
	}
	folder, err := os.MkdirTemp("", "driftscope-soak-")
	if err != nil {
		return nil, err
	}
	r := &rig{o: o, folder: folder, unwanted: unwanted}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	for _, path := range []*string{&r.o.Driftscope, &r.o.Mats} {
		if *path == "" {
			continue
		}
		own := filepath.Join(folder, filepath.Base(*path))
		if err := copyProgram(own, *path); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: make soak makes it", err), os.RemoveAll(folder))
		}
		*path = own
	}
	r.commit = commit()
	r.healing, r.healed = context.WithCancel(r.ctx)
	r.audit = newAuditor(r)
	r.samples = newSamples(o.For)
	return r, nil
}

// copyProgram copies the program, because the soak restarts it often and a build may replace it meanwhile.
func copyProgram(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, source)
	return errors.Join(err, f.Close())
}

// say writes a log line to standard error and to the folder.
func (r *rig) say(format string, args ...any) {
	line := fmt.Sprintf("%s  %s\n", time.Now().UTC().Format("15:04:05.000"), fmt.Sprintf(format, args...))
	io.WriteString(os.Stderr, line)
	if f, err := os.OpenFile(filepath.Join(r.folder, "diary.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		io.WriteString(f, line)
		f.Close()
	}
}

// start builds and starts all parts, and waits until every stream tracks.
func (r *rig) start(ctx context.Context) error {
	if err := r.build(); err != nil {
		return err
	}
	if err := r.server.start(); err != nil {
		return err
	}
	if err := r.camera.start(); err != nil {
		return err
	}
	for _, h := range []*hub{r.embedded, r.outside} {
		if err := h.listen(r.hear); err != nil {
			return err
		}
	}
	for _, p := range r.programs {
		if err := p.process.start(); err != nil {
			return err
		}
	}
	for _, p := range r.publishers {
		r.background.Go(func() { p.run(r.ctx) })
	}
	writing, stop := context.WithCancel(r.ctx)
	r.stopWriter = stop
	for _, g := range r.growing {
		r.background.Go(func() {
			if err := g.run(writing); err != nil {
				r.audit.wrong("the soak itself: %v", err)
			}
		})
	}
	for _, s := range r.streams {
		r.background.Go(func() { s.program.hub.follow(r.ctx, s.kept) })
	}
	r.background.Go(func() { r.sample(r.ctx) })
	if err := r.until(ctx, patience, "every stream to track", r.allTrack); err != nil {
		return err
	}
	r.begun = time.Now()
	other := filepath.Join(r.folder, "other.onnx")
	model, err := configs.Model("molecule")
	if err == nil {
		err = system.WriteFile(other, append(slices.Clone(model), note...))
	}
	if err != nil {
		return err
	}
	for _, url := range []string{r.embeddedURL(), r.serverURL()} {
		c := exec.Command(r.o.Driftscope, "model", "put", other, "--name", "other", "--nats", url)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("model put: %w: %s", err, bytes.TrimSpace(out))
		}
	}
	return nil
}

func (r *rig) embeddedURL() string { return fmt.Sprintf("nats://127.0.0.1:%d", r.ports.embedded) }
func (r *rig) serverURL() string   { return fmt.Sprintf("nats://127.0.0.1:%d", r.ports.server) }

// hear handles a live message of a stream.
func (r *rig) hear(name string, kind latent.Kind, m *live) {
	for _, s := range r.streams {
		if s.name == name {
			s.hear(kind, m)
		}
	}
}

// allTrack names a stream that does not track, or returns "".
func (r *rig) allTrack() (waits string) {
	for _, s := range r.streams {
		s.mu.Lock()
		if s.state != "tracking" {
			waits = fmt.Sprintf("stream %s is %q", s.name, s.state)
		}
		s.mu.Unlock()
	}
	return waits
}

// until polls waits until it returns "". Before that, waits returns the missing condition, which the error includes.
func (r *rig) until(ctx context.Context, long time.Duration, what string, waits func() string) error {
	for end := time.Now().Add(long); ; {
		text := waits()
		if text == "" {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%v were not enough for %s: %s", long, what, text)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// build makes the parts without starting them.
func (r *rig) build() (err error) {
	out, err := exec.Command("go", "tool", "-n", "nats-server").Output()
	if err != nil {
		return fmt.Errorf("go tool nats-server: %w: run the soak in the repository", err)
	}
	r.natsServer = strings.TrimSpace(string(out))
	if r.ports.embedded, err = r.ports.reserved.Next(); err != nil {
		return err
	}
	if r.ports.server, err = r.ports.reserved.Next(); err != nil {
		return err
	}
	if r.link, err = suite.NewLink(fmt.Sprintf("127.0.0.1:%d", r.ports.server)); err != nil {
		return err
	}
	if r.embedded, err = newHub("embedded", r.embeddedURL()); err != nil {
		return err
	}
	if r.outside, err = newHub("outside", r.serverURL()); err != nil {
		return err
	}
	if r.server, err = r.natsProcess("server", filepath.Join(r.folder, "server-store"), r.ports.server); err != nil {
		return err
	}
	if r.camera, err = r.newCamera(); err != nil {
		return err
	}
	disk := filepath.Join(r.folder, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		return err
	}
	if smallDisk(disk, diskSize) {
		r.disk = disk
	}
	return r.addPrograms(disk)
}

// natsProcess returns a nats-server with a store that survives restarts.
func (r *rig) natsProcess(name, store string, port int) (*process, error) {
	file := filepath.Join(r.folder, name+".conf")
	text := fmt.Sprintf("max_payload: 8MB\njetstream {store_dir: %q, max_mem: 256MB, max_file: 64GB}\n", store)
	if err := system.WriteFile(file, []byte(text)); err != nil {
		return nil, err
	}
	args := []string{r.natsServer, "-c", file, "-a", "127.0.0.1", "-p", fmt.Sprint(port), "-l", filepath.Join(r.folder, name+"-own.log")}
	return &process{name: name, folder: r.folder, root: r.folder, args: func(int) ([]string, error) { return args, nil }, ended: func(s *os.ProcessState) {
		r.audit.wrong("the %s ended by itself: %v", name, s)
	}}, nil
}

// newCamera returns the simulated camera of Aravis.
func (r *rig) newCamera() (*process, error) {
	path, err := exec.LookPath("arv-fake-gv-camera-0.8")
	if err != nil {
		return nil, errors.New("arv-fake-gv-camera-0.8 is not installed: ./internal/setup/install.sh tests installs it")
	}
	if os.Getenv(isolated) == "" {
		if r.reserved, err = suite.ReserveCamera(); err != nil {
			return nil, err
		}
	}
	args := []string{path, "-i", "127.0.0.1", "-s", "SOAK01"}
	return &process{name: "camera", folder: r.folder, root: r.folder, args: func(int) ([]string, error) { return args, nil }, ended: func(s *os.ProcessState) {
		r.audit.wrong("the simulated camera ended by itself: %v", s)
	}}, nil
}

// addPrograms assigns the streams to programs: a has the embedded server. b reaches the other server through the link and has its spool on the small disk. c
// reaches it the same way and is killed again and again until the end.
func (r *rig) addPrograms(disk string) error {
	counted := r.o.Mats
	if counted == "" {
		counted = r.o.Driftscope
	}
	fixed := func(text string) func(int) (string, error) { return func(int) (string, error) { return text, nil } }
	grows := func(name string, pages bool, every time.Duration) *growing {
		g := &growing{folder: r.folder, name: name, pages: pages, every: every}
		r.growing = append(r.growing, g)
		return g
	}
	followed := func(kind string, g *growing) func(int) (string, error) {
		return func(life int) (string, error) {
			path, err := g.renew(life)
			return fmt.Sprintf("{%s: {path: %q, follow: true, fps: %d}}", kind, path, time.Second/g.every), err
		}
	}
	outside := fmt.Sprintf("nats://%s", r.link.Address())
	folderA, tiffB, tiffC := grows("pictures", false, 200*time.Millisecond), grows("pages", true, 200*time.Millisecond), grows("short", true, 100*time.Millisecond)
	type part struct {
		name, kind string
		source     func(int) (string, error)
		follows    *growing
		extra      string
	}
	for _, p := range []struct {
		name, binary, nats string
		hub                *hub
		parts              []part
	}{
		{"a", counted, fmt.Sprintf("{url: embedded, port: %d, durable: true, store: store}", r.ports.embedded), r.embedded, []part{
			{"asim", "sim", fixed("{sim: {name: molecule, realtime: true}}"), nil, "online: {state: law}\n"},
			{"anats", "nats", fixed("{nats: {subject: camera.a}}"), nil, ""},
			{"acam", "genicam", fixed("{genicam: {camera: any, fps: 12, region: [0, 0, 128, 128]}}"), nil, ""},
			{"agst", "gst", fixed("{gst: {pipeline: 'videotestsrc is-live=true pattern=ball ! video/x-raw,width=64,height=64,framerate=15/1'}}"), nil, ""},
			{"afolder", "followed folder", followed("directory", folderA), folderA, ""},
		}},
		{"b", r.o.Driftscope, fmt.Sprintf("{url: %q, durable: true, store: %q}", outside, disk), r.outside, []part{
			{"bsim", "sim", fixed("{sim: {name: molecule, realtime: true, seed: 2}}"), nil, ""},
			{"bnats", "nats", fixed(fmt.Sprintf("{nats: {subject: camera.b, url: %q}}", outside)), nil, ""},
			{"btiff", "followed TIFF", followed("tiff", tiffB), tiffB, ""},
		}},
		{"c", counted, fmt.Sprintf("{url: %q, durable: true, store: store}", outside), r.outside, []part{
			{"cnats", "nats", fixed(fmt.Sprintf("{nats: {subject: camera.c, url: %q}}", outside)), nil, "online: {state: law}\n"},
			{"ctiff", "followed TIFF", followed("tiff", tiffC), tiffC, ""},
		}},
	} {
		port, err := r.ports.reserved.Next()
		if err != nil {
			return err
		}
		g := &program{hub: p.hub, nats: p.nats, binary: p.binary, web: fmt.Sprintf("127.0.0.1:%d", port), wrong: r.audit.wrong,
			lines: map[string][]time.Time{}, most: map[string]int{}, noted: map[string]bool{}, refused: map[string][]time.Time{}, starts: map[string][]time.Time{}}
		g.process = &process{name: p.name, folder: filepath.Join(r.folder, p.name), root: r.folder, args: g.configure, line: g.hear, ended: g.exited}
		if err := os.Mkdir(g.process.folder, 0o700); err != nil {
			return err
		}
		for _, part := range p.parts {
			s := &stream{name: part.name, kind: part.kind, program: g, source: part.source, follows: part.follows, extra: part.extra, wrong: r.audit.wrong, events: map[string]uint64{}}
			s.kept = &kept{name: "driftscope_local_" + part.name, wrong: r.audit.wrong, known: map[string]bool{}, unnumbered: part.kind == "nats"}
			g.streams, r.streams = append(g.streams, s), append(r.streams, s)
		}
		r.programs = append(r.programs, g)
	}
	r.publishers = []*publisher{
		newPublisher(r.embedded.nc, "camera.a", 80*time.Millisecond),
		newPublisher(r.outside.nc, "camera.b", 80*time.Millisecond),
		newPublisher(r.outside.nc, "camera.c", 120*time.Millisecond),
	}
	return nil
}

// restart begins a new life of a killed program after all its published messages were handled.
func (r *rig) restart(p *program, after time.Duration) {
	r.embedded.settle()
	r.outside.settle()
	time.Sleep(after)
	if err := p.process.start(); err != nil {
		r.audit.wrong("program %s: %v", p.process.name, err)
	}
}

// close ends all processes of the rig.
func (r *rig) close(clean bool) {
	r.cancel()
	for _, p := range r.programs {
		p.process.kill()
	}
	for _, p := range []*process{r.server, r.camera, r.later} {
		if p != nil {
			p.kill()
		}
	}
	if r.link != nil {
		r.link.Close()
	}
	for _, h := range []*hub{r.embedded, r.outside} {
		if h != nil {
			h.nc.Close()
		}
	}
	r.background.Wait()
	for _, pid := range leftovers(r.folder) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	r.ports.reserved.Close()
	if r.reserved != nil {
		r.reserved.Close()
	}
	if r.disk != "" {
		syscall.Unmount(r.disk, syscall.MNT_DETACH)
	}
	if !clean {
		fmt.Fprintf(os.Stderr, "soak: the folder with the programs and all logs is kept in %s\n", r.folder)
		return
	}
	os.RemoveAll(r.folder)
}

// page is a client for the programs' dashboards.
var page = &http.Client{Timeout: 2 * time.Second}
