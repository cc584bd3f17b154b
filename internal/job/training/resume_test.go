package training

import (
	"fmt"
	"testing"
)

func TestDiffers(t *testing.T) {
	c := Options{Source: []string{"a"}, Latent: "2", Out: "m.onnx", Steps: 300}
	for want, change := range map[string]func(*Options){
		"":                                       func(c *Options) { c.Out = "n.onnx" },
		`source "[a]", this command has "[a b]"`: func(c *Options) { c.Source = []string{"a", "b"} },
		`steps "300", this command has "650"`:    func(c *Options) { c.Steps = 650 },
		`train-frames "", this command has "0:80"`:         func(c *Options) { c.TrainFrames = "0:80" },
		fmt.Sprintf(`tau "0", this command has "%g"`, 0.5): func(c *Options) { c.Tau = 0.5 },
	} {
		now := c
		change(&now)
		if got := c.differs(now); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
