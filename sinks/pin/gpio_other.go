//go:build !linux

package pin

import "errors"

type kernel struct{}

func openLines(*gpioOptions, kernel) (device, error) {
	return nil, errors.New("chip: GPIO needs Linux: run the tracker there, or have a program subscribe to the triggers")
}
