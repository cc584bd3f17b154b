//go:build cgo

package recording

import (
	"fmt"

	"driftscope/infer/card"
	"driftscope/internal/kit/console"
	"driftscope/preprocess"
)

func newChain(steps []card.Step) (chain, error) {
	var c chain
	for i, s := range steps {
		step, err := preprocess.New(s.Kind, Decoder(s.Kind, s.Options))
		if err != nil {
			c.close()
			return nil, console.Usage(fmt.Errorf("preprocess[%d] %s: %w", i, s.Kind, err))
		}
		c = append(c, step)
	}
	return c, nil
}
