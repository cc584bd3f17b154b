package soak

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"driftscope/internal/kit/system"
)

// lives is the number of restarts for delivering waiting messages.
const lives = 3

// logMost is the largest number of lines of one kind per second in a program's log.
const logMost = 10

// program is one driftscope process with its streams.
type program struct {
	process *process
	streams []*stream
	hub     *hub   // connection to the server that it publishes on
	nats    string // nats section of the configuration, as YAML
	binary  string
	web     string // host:port of its dashboard
	wrong   func(format string, args ...any)

	mu       sync.Mutex
	lines    map[string][]time.Time // the newest of each kind of log line
	most     map[string]int         // per second
	noted    map[string]bool
	accounts []account
	ran      bool // this life has begun to track
	unbegun  int  // number of lives that ended before tracking, because the server or the camera was missing
	last     string
	waits    bool                   // this life left messages in its spool
	refused  map[string][]time.Time // by stream: times when its log reported a full disk of the spool
	starts   map[string][]time.Time // by stream: times when it logged that it publishes
}

// account is the account that a stream prints at its end.
type account struct {
	stream      string
	at          time.Time
	in, tracked uint64
	dropped     map[string]uint64
}

// configure writes the configurations of a life and returns its command line.
func (p *program) configure(life int) ([]string, error) {
	p.mu.Lock()
	p.ran, p.waits = false, false
	p.mu.Unlock()
	args := []string{p.binary, "run", "--stay"}
	for _, s := range p.streams {
		source, err := s.source(life)
		if err != nil {
			return nil, err
		}
		text := fmt.Sprintf("stream: %s\nsource: %s\nnats: %s\ndashboard: {address: %q}\n%s", s.name, source, p.nats, p.web, s.extra)
		if err := system.WriteFile(filepath.Join(p.process.folder, s.name+".yaml"), []byte(text)); err != nil {
			return nil, err
		}
		args = append(args, s.name+".yaml")
	}
	if len(p.streams) == 1 {
		args = append(args, "--no-status")
	}
	return args, nil
}

var (
	accountLine = regexp.MustCompile(`^(?:(\S+): )?frames in (\d+), tracked (\d+), dropped (\d+), messages published`)
	startLine   = regexp.MustCompile(`^publishing on \S+ under ` + regexp.QuoteMeta(subjects) + `(\S+)$`)
	causeLine   = regexp.MustCompile(`^  dropped (\d+): (\S+)$`)
	logLine     = regexp.MustCompile(`^time=(\S+) level=(\S+) msg=("(?:[^"\\]|\\.)*"|\S+)`)
	logPart     = regexp.MustCompile(`\b(stream|cause)=(\S+)`)
	streamPart  = regexp.MustCompile(`\bstream=(\S+)`)
	digits      = regexp.MustCompile(`[0-9]+`)
	crash       = regexp.MustCompile(`^panic: |^fatal error: |^goroutine \d+ |SIGSEGV|SIGABRT|a mistake in driftscope itself|DATA RACE|terminate called`)
)

// hear handles a line of the program's output.
func (p *program) hear(problem bool, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if crash.MatchString(text) {
		p.wrong("program %s: %s", p.process.name, text)
	}
	if strings.HasPrefix(text, "dashboard at ") {
		p.ran = true
	}
	if m := startLine.FindStringSubmatch(text); m != nil {
		p.starts[m[1]] = append(p.starts[m[1]], time.Now())
	}
	if problem {
		p.rate(text)
		p.note(text)
		return
	}
	if m := accountLine.FindStringSubmatch(text); m != nil {
		a := account{stream: m[1], at: time.Now(), dropped: map[string]uint64{}}
		a.in, _ = strconv.ParseUint(m[2], 10, 64)
		a.tracked, _ = strconv.ParseUint(m[3], 10, 64)
		if a.stream == "" {
			a.stream = p.streams[0].name
		}
		p.accounts = append(p.accounts, a)
	} else if m := causeLine.FindStringSubmatch(text); m != nil && len(p.accounts) > 0 {
		n, _ := strconv.ParseUint(m[1], 10, 64)
		p.accounts[len(p.accounts)-1].dropped[m[2]] = n
	}
}

// note records a line of the log for the audit. The caller holds p.mu.
func (p *program) note(text string) {
	p.last = text
	if strings.Contains(text, "wait for the next run of this stream") {
		p.waits = true
	}
	if strings.Contains(text, "cause=sink_nats") && (strings.Contains(text, "no space left") || strings.Contains(text, "the spool is full")) {
		if m := streamPart.FindStringSubmatch(text); m != nil {
			p.refused[m[1]] = append(p.refused[m[1]], time.Now())
		}
	}
}

// told returns the times when the log reported that a stream's spool had no room.
func (p *program) told(stream string) []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused[stream])
}

// began returns the times when a stream logged that it publishes.
func (p *program) began(stream string) []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.starts[stream])
}

// close ends the program in order, as Ctrl-C does. Messages that the server did not confirm in time wait for the next run, and the program reports them with
// status 1; close then runs it again. close calls first after the first end.
func (p *program) close(first func(), delivered func() error) {
	for round := range lives {
		status := p.process.end(patience)
		if round == 0 {
			first()
		}
		p.mu.Lock()
		waits := p.waits
		p.mu.Unlock()
		if status == 0 {
			return
		}
		if status != 1 || !waits {
			p.wrong("program %s: exit status %d after Ctrl-C, expected 0: %s", p.process.name, status, p.last)
			return
		}
		p.unbegun++
		if err := errors.Join(p.process.start(), delivered()); err != nil {
			p.wrong("program %s, restarted to deliver waiting messages: %v", p.process.name, err)
		}
	}
	p.wrong("program %s: messages were waiting in its spool at every one of %d ends", p.process.name, lives)
}

// rate counts the lines of the same kind within the last second. The caller holds p.mu.
func (p *program) rate(text string) {
	now, kind := time.Now(), digits.ReplaceAllString(text, "#")
	if m := logLine.FindStringSubmatch(text); m != nil {
		if t, err := time.Parse(time.RFC3339Nano, m[1]); err == nil {
			now = unstepped(t)
		}
		kind = digits.ReplaceAllString(m[3], "#")
		for _, part := range logPart.FindAllString(text, 2) {
			kind += " " + part
		}
	}
	kind = kind[:min(len(kind), 160)]
	times := append(p.lines[kind], now)
	for len(times) > 0 && now.Sub(times[0]) > time.Second {
		times = times[1:]
	}
	p.lines[kind] = times
	p.most[kind] = max(p.most[kind], len(times))
	if len(times) > logMost && !p.noted[kind] {
		p.noted[kind] = true
		p.wrong("program %s: more than %d log lines per second: %s", p.process.name, logMost, kind)
	}
}

// loudest returns the kind of line with the most lines in a second.
func (p *program) loudest() (kind string, lines int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, n := range p.most {
		if n > lines || n == lines && k < kind {
			kind, lines = k, n
		}
	}
	return kind, lines
}

// printed returns the accounts of a stream.
func (p *program) printed(stream string) []account {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.accounts), func(a account) bool { return a.stream != stream })
}

// exited records an unexpected end and restarts the program, as a supervisor does. A program whose server or camera is missing at its start exits with status
// 1 and a message.
func (p *program) exited(status *os.ProcessState) {
	p.mu.Lock()
	ran, last := p.ran, p.last
	if p.ran = false; !ran {
		p.unbegun++
	}
	p.mu.Unlock()
	if ran || status.ExitCode() != 1 || !strings.HasPrefix(last, "driftscope: ") {
		p.wrong("program %s ended by itself: %v: %s", p.process.name, status, last)
	}
	time.Sleep(time.Second)
	if err := p.process.again(); err != nil {
		p.wrong("program %s: %v", p.process.name, err)
	}
}
