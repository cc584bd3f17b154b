package files

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"driftscope/ingest/tiff"
)

// choice is the channel and slice of a hyperstack, counted from 1 as viewers do; 0 if not chosen.
type choice struct{ channel, slice int }

// made reports whether the user chose.
func (c choice) made() bool { return c != choice{} }

// of returns the choice for a series, or an error that lists the possible choices. It fills in an axis with one value.
func (c choice) of(s tiff.Series) (choice, error) {
	if !c.made() {
		return c, nil
	}
	if !s.Regular() {
		return c, errors.New("channel and slice were chosen, but the file's description does not map its pages to them: leave both out, or save one channel and slice as a separate file")
	}
	return c.among(s.Channels, s.Slices)
}

// among returns the choice for the given numbers of channels and slices. It fills in an axis with one value.
func (c choice) among(channels, depths int) (choice, error) {
	for _, axis := range []struct {
		name   string
		chosen *int
		count  int
	}{{"channel", &c.channel, channels}, {"slice", &c.slice, depths}} {
		switch {
		case *axis.chosen == 0 && axis.count == 1:
			*axis.chosen = 1
		case *axis.chosen == 0:
			return c, fmt.Errorf("the file has several pictures at each time: also give the %s, 1 to %d", axis.name, axis.count)
		case *axis.chosen > axis.count:
			return c, fmt.Errorf("%s is %d, 1 to %d expected from the file's description", axis.name, *axis.chosen, axis.count)
		}
	}
	return c, nil
}

// has reports whether a page, counted from 0, is chosen. Without a choice every page is.
func (c choice) has(s tiff.Series, page int) bool {
	if !c.made() {
		return true
	}
	channel, slice := s.At(page)
	return channel == c.channel-1 && slice == c.slice-1
}

// TIFFOptions parses a file name with options, such as FILE?channel=2&slice=1.
func TIFFOptions(text string) (options map[string]any, err error) {
	return chosenOptions(text, "tiff:FILE?channel=2&slice=1", "channel", "slice")
}

// ZarrOptions parses a store name with options, such as STORE?channel=2&slice=1&level=0.
func ZarrOptions(text string) (options map[string]any, err error) {
	return chosenOptions(text, "zarr:STORE?channel=2&slice=1&level=0", "channel", "slice", "level")
}

// CZIOptions parses a file name with options, such as FILE?channel=2&slice=1.
func CZIOptions(text string) (options map[string]any, err error) {
	return chosenOptions(text, "czi:FILE?channel=2&slice=1", "channel", "slice")
}

// ND2Options parses a file name with options, such as FILE?channel=2&slice=1.
func ND2Options(text string) (options map[string]any, err error) {
	return chosenOptions(text, "nd2:FILE?channel=2&slice=1", "channel", "slice")
}

// worded lists the options whose values are words, not numbers.
var worded = []string{"dataset", "axes"}

// chosenOptions parses a path followed by options with these names, whose values are numbers or words. form is the expected form, for messages.
func chosenOptions(text, form string, names ...string) (options map[string]any, err error) {
	kind, _, _ := strings.Cut(form, ":")
	path, query, _ := strings.Cut(text, "?")
	chosen, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("%s:%s: %w: give %s", kind, text, err, form)
	}
	options = map[string]any{"path": path}
	for name, values := range chosen {
		if slices.Contains(worded, name) && slices.Contains(names, name) {
			options[name] = values[0]
			continue
		}
		n, err := strconv.Atoi(values[0])
		if err != nil || !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s:%s: %s=%s, a number of a %s expected: give %s", kind, text, name, values[0], strings.Join(names, " or "), form)
		}
		options[name] = n
	}
	return options, nil
}
