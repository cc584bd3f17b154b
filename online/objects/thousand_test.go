package objects

import (
	"syscall"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online"
)

// BenchmarkThousand follows 1,024 objects of two states at 50 frames/s. It measures the load of a core with the law of all objects, the map and the pair
// force, and without them.
func BenchmarkThousand(b *testing.B) {
	for _, c := range []struct {
		name   string
		config Config
	}{{"bare", Config{Bare: true}}, {"law", Config{Pairs: true}}} {
		b.Run(c.name, func(b *testing.B) {
			c.config.Follow = online.Config{Seed: 1}
			e, err := New(c.config)
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			d, dst := newDish(32), &latent.Estimate{}
			d.fast = 0.3
			var frames []latent.Sight
			for range 500 { // simulated before the timer starts
				var z latent.Sight
				z.Copy(d.next())
				frames = append(frames, z)
			}
			for range b.N {
				begin, used := time.Now(), processed()
				for i := range frames {
					z := &frames[i]
					if _, err := e.Update(dst, z); err != nil {
						b.Fatal(err)
					}
					z.Seq, z.Time = z.Seq+uint64(len(frames)), z.Time.Add(10*time.Second)
					time.Sleep(time.Until(begin.Add(time.Duration(i+1) * 20 * time.Millisecond)))
				}
				b.ReportMetric((processed()-used).Seconds()/time.Since(begin).Seconds(), "cores")
				b.ReportMetric(float64(len(dst.Objects.ID)), "objects")
			}
		})
	}
}

// processed returns the processor time of the process over all cores.
func processed() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
