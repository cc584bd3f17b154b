package infer_test

import (
	"sync"
	"testing"

	"driftscope/configs"
	"driftscope/infer"
)

// TestOpenedTogether: streams of one process open their models at the same time, as in a worker. The process once crashed when the number of OpenCV's threads
// was set during the first run of another graph.
func TestOpenedTogether(t *testing.T) {
	data, err := configs.Model("molecule")
	if err != nil {
		t.Fatal(err)
	}
	defer infer.SetThreads(1)
	for range 20 {
		var opening sync.WaitGroup
		opening.Go(func() { // as every stream does after its model is open
			for n := range 10 {
				infer.SetThreads(1 + n%2)
			}
		})
		for range 8 {
			opening.Go(func() {
				m, err := infer.Parse("molecule", data)
				if err != nil {
					t.Error(err)
					return
				}
				encoder, err := m.NewEncoder()
				if err != nil {
					t.Error(err)
					return
				}
				if err := encoder.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		opening.Wait()
	}
}
