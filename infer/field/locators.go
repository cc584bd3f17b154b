package field

import (
	"fmt"
	"slices"
	"sync"

	"driftscope/infer/locate"
	"driftscope/internal/flow/frame"
)

// Locators lends locators to all lanes of a stream. Together they take the memory for one picture of the largest size. So two lanes can search pictures of half
// that size at the same time, and all lanes can search small pictures.
type Locators struct {
	most   int // spots per frame
	mu     sync.Mutex
	back   *sync.Cond
	free   []*locator
	pixels int // pixels of all locators, lent and free
}

// locator is a locate.Locator with its picture size and template.
type locator struct {
	of       *locate.Locator
	h, w     int
	template frame.Template
}

// NewLocators returns an empty pool. A locator finds at most most spots per frame.
func NewLocators(most int) (*Locators, error) {
	if most < 1 || most > locate.MostMax {
		return nil, fmt.Errorf("objects.max: found %d, expected 1 to %d", most, locate.MostMax)
	}
	l := &Locators{most: most}
	l.back = sync.NewCond(&l.mu)
	return l, nil
}

// take lends a locator for pictures of h × w. It waits until the pool's memory suffices.
func (l *Locators) take(h, w int, t frame.Template) (*locator, error) {
	if err := frame.Objects.Check(w, h); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		fits := func(one *locator) bool { return one.h == h && one.w == w && one.template == t }
		if i := slices.IndexFunc(l.free, fits); i >= 0 {
			one := l.free[i]
			l.free = slices.Delete(l.free, i, i+1)
			return one, nil
		}
		for _, one := range l.free {
			l.pixels -= one.h * one.w
		}
		l.free = slices.Delete(l.free, 0, len(l.free))
		if l.pixels+h*w <= frame.Objects.Largest() {
			made, err := locate.New(h, w, locate.Options{SD: t.SD, Dark: t.Dark, Max: l.most})
			if err == nil {
				l.pixels += h * w
			}
			return &locator{made, h, w, t}, err
		}
		l.back.Wait()
	}
}

// give returns a locator to the pool.
func (l *Locators) give(one *locator) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, one)
	l.back.Broadcast()
}
