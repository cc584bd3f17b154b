//go:build !linux

package pin

import "errors"

type kernel struct{}

func openLines(*gpioOptions, kernel) (device, error) {
	return nil, errors.New("chip: GPIO needs Linux: run the tracker on Linux, or use a program that subscribes to the triggers")
}
