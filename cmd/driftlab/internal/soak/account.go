package soak

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"driftscope/internal/kit/system"
)

// account prints the events and counts, and writes them to its file.
func (r *rig) account() error {
	var b strings.Builder
	r.audit.write(&b)
	fmt.Print(b.String())
	if err := os.MkdirAll(filepath.Dir(r.o.Out), 0o755); err != nil {
		return err
	}
	return system.WriteFile(r.o.Out, []byte(b.String()))
}

// write lays the account out as Markdown.
func (a *auditor) write(w io.Writer) {
	r := a.rig
	row := func(cells ...any) {
		for _, c := range cells {
			fmt.Fprintf(w, "| %v ", c)
		}
		fmt.Fprintln(w, "|")
	}
	table := func(head ...any) {
		fmt.Fprintln(w)
		row(head...)
		for range head {
			fmt.Fprint(w, "|---")
		}
		fmt.Fprintln(w, "|")
	}
	var messages, in, tracked, dropped, refused uint64
	for _, s := range a.sums {
		messages, in, tracked, refused, dropped = messages+s.messages, in+s.in, tracked+s.tracked, refused+s.refused, dropped+lostFrames(s.dropped)
	}
	unbegun := 0
	for _, p := range r.programs {
		unbegun += p.unbegun
	}
	faults := 0
	for _, n := range r.plan.done {
		faults += n
	}
	table("what", "")
	row("command", fmt.Sprintf("`SOAK=%s make soak`, seed %d (`SEED=%d`)", brief(r.o.For), r.o.Seed, r.o.Seed))
	row("commit", r.commit)
	row("date", r.begun.UTC().Format("2006-01-02 15:04 MST"))
	row("machine", fmt.Sprintf("%d cores, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH))
	row("faults injected", faults)
	row("durable messages, each once and in order", messages)
	row("frames in = tracked + dropped", fmt.Sprintf("%d = %d + %d", in, tracked, dropped))
	row("starts while the server or a camera was away: status 1 or `stopped`, reported", unbegun+r.audit.unopened)
	row("refused by a full or slow disk, counted and reported", refused)
	row("**lost**", fmt.Sprintf("**%d**", a.lost))
	row("the audit", map[bool]string{true: "holds", false: fmt.Sprintf("**%d violations**", len(a.wrongs)+a.more)}[a.held()])

	table("stream", "source", "runs", "killed", "frames in", "tracked", "dropped", "kept messages", "refused", "lost")
	for _, s := range a.sums {
		row(s.stream.name, s.stream.kind, s.runs, s.killed, s.in, s.tracked, lostFrames(s.dropped), s.messages, s.refused, s.lost)
	}
	table("frames dropped by cause", "")
	all := a.total()
	for _, cause := range slices.Sorted(maps.Keys(all)) {
		if !strings.HasPrefix(cause, "sink_") {
			row(cause, all[cause])
		}
	}
	table("fault", "times")
	for _, f := range r.plan.faults {
		if f.left != "" {
			row(f.name, "left out: "+f.left)
			continue
		}
		row(f.name, r.plan.done[f.name])
	}
	table("process", "figure", "third quarter", "last quarter", "more allowed", "")
	for _, t := range a.trends {
		row(t.process, strings.TrimSuffix(t.figure+", "+t.unit, ", "), known(t.third), known(t.last), known(t.allowed),
			map[bool]string{true: "", false: "not judged"}[t.judged])
	}
	table("program", "most log lines of a kind in a second", "of")
	for _, p := range r.programs {
		kind, n := p.loudest()
		row(p.process.name, n, "`"+strings.ReplaceAll(kind, "|", "/")+"`")
	}
	table("order", "answers")
	answers := map[string]map[string]int{}
	for _, h := range []*hub{r.embedded, r.outside} {
		for name, outcomes := range h.commands {
			if answers[name] == nil {
				answers[name] = map[string]int{}
			}
			for outcome, n := range outcomes {
				answers[name][outcome] += n
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		var parts []string
		for _, outcome := range slices.Sorted(maps.Keys(answers[name])) {
			parts = append(parts, fmt.Sprintf("%d %s", answers[name][outcome], outcome))
		}
		row(name, strings.Join(parts, ", "))
	}
	if !a.held() {
		table("violations")
		for _, text := range a.wrongs {
			row(strings.ReplaceAll(text, "|", "/"))
		}
		if a.more > 0 {
			row(fmt.Sprintf("and %d more", a.more))
		}
	}
}

// known formats a figure, or returns "" if the figure is missing.
func known(figure float64) string {
	if figure < 0 {
		return ""
	}
	return fmt.Sprintf("%.0f", figure)
}

// brief formats a duration for a reader.
func brief(d time.Duration) string {
	text := d.String()
	text = strings.TrimSuffix(text, "0s")
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	if text == "" || strings.HasSuffix(d.String(), "10s") || strings.HasSuffix(d.String(), "20s") || strings.HasSuffix(d.String(), "30s") {
		return d.String()
	}
	return text
}

// commit returns the commit of the checkout.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
