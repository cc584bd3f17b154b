package objects

import (
	"syscall"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online"
)

// BenchmarkThousand follows 1,024 objects of two states at 50 frames/s, with the law of all, the map and the force between them: what share of a core that takes,
// beside the same without.
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
			for range 500 { // drawn before the clock begins
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

// processed is the time of all cores that the process has taken.
func processed() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
