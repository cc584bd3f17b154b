package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// suffer carries out the plan and lets the runs continue until the time is over.
func (r *rig) suffer(ctx context.Context) {
	r.plan = newPlan(r.without(r.faults()), r.o.Seed, r.o.For)
	r.background.Go(func() { r.keepStarted(r.healing) })
	r.plan.carryOut(ctx, r.begun, r.say)
	r.say("no more faults")
	if !pause(ctx, time.Until(r.begun.Add(r.o.For))) {
		r.audit.wrong("interrupted after %v", time.Since(r.begun).Round(time.Second))
	}
}

// without removes the faults that the command line excludes.
func (r *rig) without(faults []*fault) []*fault {
	for _, f := range faults {
		if r.unwanted != nil && r.unwanted.MatchString(f.name) {
			f.left = "by the command line"
		}
	}
	return faults
}

// heal waits until every stream tracks again and no message waits for a server.
func (r *rig) heal() {
	if err := r.until(r.ctx, patience, "every stream to track again", r.allTrack); err != nil {
		r.audit.wrong("after the faults: %v", err)
	}
	if err := r.until(r.ctx, patience, "everything to be delivered", r.allDelivered); err != nil {
		r.audit.wrong("after the faults: %v", err)
	}
}

// allDelivered names the messages that wait for a server, or returns "".
func (r *rig) allDelivered() string {
	for _, p := range r.programs {
		if waits := r.delivered(p); waits != "" {
			return waits
		}
	}
	return ""
}

// delivered names a stream of a program with messages that wait for the server, or with another delivery problem, or returns "".
func (r *rig) delivered(p *program) string {
	for _, s := range p.streams {
		m, err := p.hub.nc.Request(subjects+s.name+".cmd.info", nil, answered)
		if err != nil {
			return fmt.Sprintf("stream %s: info: %v", s.name, err)
		}
		var info struct {
			Kept struct{ Problem string }
		}
		if err := json.Unmarshal(m.Data, &info); err != nil || info.Kept.Problem != "" {
			return fmt.Sprintf("stream %s: %v %s", s.name, err, info.Kept.Problem)
		}
	}
	if waits := spooled(p.web); waits > 1<<20 {
		return fmt.Sprintf("program %s: %.0f bytes wait in its spools", p.process.name, waits)
	}
	return ""
}

// spooled returns the bytes of messages that wait on a program's disk.
func spooled(web string) (bytes float64) {
	answer, err := page.Get("http://" + web + "/metrics")
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "driftscope_spool_bytes{"); ok {
			var one float64
			fmt.Sscan(rest[strings.IndexByte(rest, ' ')+1:], &one)
			bytes += one
		}
	}
	return bytes
}

// finish ends the programs in order and reads the stored messages to the end.
func (r *rig) finish() {
	r.healed()
	r.stopWriter()
	time.Sleep(500 * time.Millisecond) // the frame being written
	if err := r.until(r.ctx, patience, "the recordings to be tracked", r.allFollowed); err != nil {
		r.audit.wrong("after the faults: %v", err)
	}
	for i := len(r.programs) - 1; i >= 0; i-- {
		p := r.programs[i]
		p.close(func() { r.audit.wholeRecordings(p) }, func() error {
			return r.until(r.ctx, patience, "delivery of waiting messages", func() string { return r.delivered(p) })
		})
	}
	var err error
	if r.later, err = r.natsProcess("later", filepath.Join(r.folder, "a", "store", "server"), r.ports.embedded); err == nil {
		err = r.later.start() // read the embedded server's messages from its disk
	}
	if err != nil {
		r.audit.wrong("the soak itself: %v", err)
	}
	if err := r.until(r.ctx, patience, "reading of the kept messages", r.allRead); err != nil {
		r.audit.wrong("%v", err)
	}
	r.camera.kill()
	r.server.kill()
	r.later.kill()
	for _, pid := range leftovers(r.folder) {
		r.audit.wrong("process %d is still running", pid)
		syscall.Kill(pid, syscall.SIGKILL)
	}
	r.audit.compare()
	r.audit.flat()
	r.audit.reached()
}

// allFollowed names a recording that is not yet tracked to its end, or returns "".
func (r *rig) allFollowed() string {
	for _, s := range r.streams {
		if s.follows != nil && s.tracked() < s.follows.count() {
			return fmt.Sprintf("%s has tracked %d of %d", s.name, s.tracked(), s.follows.count())
		}
	}
	return ""
}

// allRead names a stream that was not read to its end, or returns "".
func (r *rig) allRead() string {
	for _, s := range r.streams {
		last, err := s.program.hub.stored(r.ctx, s.kept.name)
		if err != nil || s.kept.place() < last {
			return fmt.Sprintf("%s was read to %d of %d: %v", s.name, s.kept.place(), last, err)
		}
	}
	return ""
}
