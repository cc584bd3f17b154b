package soak

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sample holds the resources of a process at one time. An unknown figure is -1.
type sample struct {
	at                                 time.Time
	life                               int
	resident                           float64 // MiB
	descriptors, goroutines, mats, sub float64 // sub: its child processes
	subResident                        float64 // memory of the child processes, MiB
}

// samples holds the measurements of every process, by name.
type samples struct {
	every time.Duration
	mu    sync.Mutex
	of    map[string][]sample
}

func newSamples(duration time.Duration) *samples {
	return &samples{every: max(time.Second, duration/3600), of: map[string][]sample{}}
}

// sample measures every process until ctx ends.
func (r *rig) sample(ctx context.Context) {
	for pause(ctx, r.samples.every) {
		for _, p := range r.programs {
			r.samples.take(p.process, p.web)
		}
		r.samples.take(r.server, "")
	}
}

// take measures one process.
func (s *samples) take(p *process, web string) {
	pid, life, _ := p.alive()
	if pid == 0 {
		return
	}
	one := sample{at: time.Now(), life: life, resident: resident(pid), goroutines: -1, mats: -1}
	one.sub, one.subResident = children(pid)
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	one.descriptors = float64(len(entries))
	if web != "" {
		one.goroutines, one.mats = scraped(web)
	}
	if again, _, _ := p.alive(); again != pid || one.resident == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[p.name] = append(s.of[p.name], one)
}

// resident returns VmRSS, MiB.
func resident(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024
		}
	}
	return 0
}

// children returns the number of a process's children and their total memory.
func children(pid int) (n, mib float64) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, t := range tasks {
		text, _ := os.ReadFile(t)
		for _, child := range strings.Fields(string(text)) {
			number, _ := strconv.Atoi(child)
			n, mib = n+1, mib+resident(number)
		}
	}
	return n, mib
}

// scraped returns a program's metrics, or -1 if it does not answer or lacks them.
func scraped(web string) (goroutines, mats float64) {
	goroutines, mats = -1, -1
	answer, err := page.Get("http://" + web + "/metrics")
	if err != nil {
		return goroutines, mats
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		switch name {
		case "go_goroutines":
			goroutines, _ = strconv.ParseFloat(value, 64)
		case "driftscope_open_mats":
			mats, _ = strconv.ParseFloat(value, 64)
		}
	}
	return goroutines, mats
}

// trend is the change of a figure in the second half of the time: its median in the third and in the last quarter.
type trend struct {
	process, figure, unit string
	third, last           float64
	allowed               float64 // largest permitted growth
	judged                bool    // the process lived through both quarters
}

// median returns the median of the known figures.
func median(all []sample, figure func(sample) float64) (float64, int) {
	var known []float64
	for _, s := range all {
		if v := figure(s); v >= 0 {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return -1, 0
	}
	slices.Sort(known)
	return known[len(known)/2], len(known)
}
