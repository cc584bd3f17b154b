package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// recorded runs a simulated camera with recording and repeats the run from the recording, which must give the same latents. Every other run is killed, and
// its recording must contain all frames that the run tracked.
func (r *rig) recorded(ctx context.Context, rng *rand.Rand) {
	folder, err := os.MkdirTemp(r.folder, "recorded-")
	if err != nil {
		r.audit.wrong("the soak itself: %v", err)
		return
	}
	first, again, raw := filepath.Join(folder, "first.jsonl"), filepath.Join(folder, "again.jsonl"), filepath.Join(folder, "raw")
	killed := rng.IntN(2) == 0
	args := []string{"run", "sim:molecule", "--nats", "off", "--no-status", "--out", first, "--record", raw}
	long := between(rng, time.Second, 4*time.Second)
	if killed && !r.killedOnce(ctx, folder, first, long, args...) || !killed && !r.once(ctx, folder, append(args, "--frames", "120")...) {
		return
	}
	args = []string{"run", raw, "--model", "embedded:molecule", "--nats", "off", "--no-status", "--out", again}
	if !killed {
		args = append(args, "--repeat", first)
	}
	if ctx.Err() != nil || !r.once(ctx, folder, args...) {
		return
	}
	before, after := seen(first), seen(again)
	if killed { // the recording has all tracked frames, but the repetition's latents depend on the frames that the live run dropped
		if len(after) < len(before) {
			r.audit.wrong("a killed run tracked %d frames, but its recording has %d: %s", len(before), len(after), folder)
			return
		}
	} else if len(before) == 0 || !slices.Equal(before, after) {
		r.audit.wrong("a repetition differs from its run: %d latents in the run, %d in the repetition: %s", len(before), len(after), folder)
		return
	}
	os.RemoveAll(folder)
}

// once runs driftscope until it ends and reports whether it succeeded.
func (r *rig) once(ctx context.Context, folder string, args ...string) bool {
	c := r.quiet(ctx, folder, args...)
	out, err := c.CombinedOutput()
	if err != nil && ctx.Err() == nil {
		r.audit.wrong("driftscope %v: %v: %.400s", args, err, out)
	}
	return err == nil
}

// killedOnce kills driftscope a while after its first results are in the file; an earlier end is a violation.
func (r *rig) killedOnce(ctx context.Context, folder, results string, after time.Duration, args ...string) bool {
	killing, kill := context.WithCancel(ctx)
	defer kill()
	go func() {
		for len(seen(results)) == 0 && pause(killing, 100*time.Millisecond) {
		}
		pause(killing, after)
		kill()
	}()
	out, err := r.quiet(killing, folder, args...).CombinedOutput()
	if killing.Err() == nil {
		r.audit.wrong("driftscope %v: ended by itself: %v: %.400s", args, err, out)
	}
	return killing.Err() != nil
}

// quiet prepares a driftscope that is killed with ctx.
func (r *rig) quiet(ctx context.Context, folder string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, r.o.Driftscope, args...)
	c.Dir, c.Env, c.WaitDelay = folder, append(os.Environ(), marker+"="+r.folder), 10*time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return c
}

// seen returns the latents of a results file, without their processing times. It ignores a line that a kill truncated.
func seen(path string) (lines []string) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	all := bufio.NewScanner(f)
	all.Buffer(nil, 8<<20)
	for all.Scan() {
		var m map[string]any
		if json.Unmarshal(all.Bytes(), &m) != nil || m["kind"] != "latent" {
			continue
		}
		lines = append(lines, fmt.Sprint(m["seq"], m["time"], m["dropped_before"], m["z"], m["drift"], m["z_filtered"]))
	}
	return lines
}
