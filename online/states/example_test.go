package states_test

import (
	"encoding/csv"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"driftscope/online/states"
)

// Infer finds the law of a table with the columns particle, t, x and y: one row per position, ordered by particle and time. Half of the objects diffuse with
// 0.5 px²/s, the others with 8.
func ExampleInfer() {
	rows := csv.NewReader(strings.NewReader(written()))
	rows.Read() // the header
	var all []states.Segment
	var steps []states.Step
	last, before := "", [3]float64{}
	for {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		var now [3]float64 // t, x, y
		for i := range now {
			if now[i], err = strconv.ParseFloat(row[1+i], 64); err != nil {
				log.Fatal(err)
			}
		}
		if row[0] == last {
			steps = append(steps, states.Step{X: now[1] - before[1], Y: now[2] - before[2], DT: now[0] - before[0]})
		} else if len(steps) > 0 {
			all, steps = append(all, states.Segment{Steps: steps, Weight: 1}), nil
		}
		last, before = row[0], now
	}
	all = append(all, states.Segment{Steps: steps, Weight: 1})
	law, ok := states.Infer(all, states.Options{})
	if !ok {
		log.Fatal("the table has too few steps")
	}
	fmt.Printf("%d tracks, %d states\n", law.Tracks, len(law.States))
	for i, d := range []float64{0.5, 8} {
		s := law.States[i].D
		fmt.Printf("%g px²/s is within the interval: %v\n", d, s.Low < d && d < s.High)
	}
	// Output:
	// 80 tracks, 2 states
	// 0.5 px²/s is within the interval: true
	// 8 px²/s is within the interval: true
}

// written returns the table: 80 tracks of 40 positions, 20 ms apart.
func written() string {
	const dt = 0.02
	rng := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString("particle,t,x,y\n")
	for id := range 80 {
		sd := math.Sqrt(2 * []float64{0.5, 8}[id%2] * dt)
		x, y := 0.0, 0.0
		for k := range 40 {
			fmt.Fprintf(&b, "%d,%g,%.4f,%.4f\n", id, dt*float64(k), x+0.05*rng.NormFloat64(), y+0.05*rng.NormFloat64())
			x, y = x+sd*rng.NormFloat64(), y+sd*rng.NormFloat64()
		}
	}
	return b.String()
}
