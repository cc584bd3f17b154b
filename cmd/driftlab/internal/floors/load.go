package floors

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"syscall"
	"time"
)

// ticks is the number of ticks of /proc/stat per second, USER_HZ on every Linux for amd64 and arm64.
const ticks = 100

// load is the core time used so far by all processes, and by this process with its children, s.
type load struct {
	at       time.Time
	all, own float64
}

// now returns the current load. Without /proc/stat its fields are NaN.
func now() load {
	l := load{at: time.Now(), all: math.NaN()}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			l.own += float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
		}
	}
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return l
	}
	var user, nice, system, idle, wait, irq, soft, steal float64
	if _, err := fmt.Sscanf(string(text), "cpu %f %f %f %f %f %f %f %f", &user, &nice, &system, &idle, &wait, &irq, &soft, &steal); err == nil {
		l.all = (user + nice + system + irq + soft + steal) / ticks
	}
	return l
}

// others returns the share of the cores that other processes and the hypervisor have used since begin, 0 if unknown.
func others(begin load) float64 {
	end := now()
	used := end.all - begin.all - (end.own - begin.own)
	share := used / (end.at.Sub(begin.at).Seconds() * float64(runtime.NumCPU()))
	if math.IsNaN(share) {
		return 0
	}
	return min(max(share, 0), 1)
}

// fewest is the least share that left returns. Other processes also use cores that this process leaves idle, so a smaller share would make a slow path seem
// fast.
const fewest = 0.7

// left returns the share of the cores that other processes have not used since begin, at least fewest.
func left(begin load) float64 { return max(1-others(begin), fewest) }
