package console

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// doubted is the interval in seconds from which --dt may be meant as a rate, because the frames of most films are closer together.
const doubted = 5

// intervals refuses --fps and --dt that are not above 0, because a command cannot distinguish 0 from a missing flag. It warns of a long --dt.
func intervals(k *kong.Context) error {
	for _, at := range k.Path {
		if at.Flag == nil || at.Flag.Name != "fps" && at.Flag.Name != "dt" {
			continue
		}
		v, ok := k.FlagValue(at.Flag).(float64)
		switch {
		case !ok:
		case !(v > 0) || math.IsInf(v, 0):
			unit := map[string]string{"fps": "frames a second", "dt": "seconds between frames"}[at.Flag.Name]
			return Usage(fmt.Errorf("--%s: found %g, expected %s above 0: leave it out to use the source's own", at.Flag.Name, v, unit))
		case at.Flag.Name == "dt" && v >= doubted:
			Warn("--dt %g means %[1]g s between frames: for %[1]g frames a second give --fps %[1]g", v)
		}
	}
	return nil
}

// interrupted returns the result of a command after Ctrl-C: one line if the command could not finish.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
		return err
	}
	return errors.New("interrupted before the work was complete")
}

// placeholders gives readable placeholders to all flags without one, of a command and of its sub-commands.
func placeholders(n *kong.Node) {
	for _, f := range n.Flags {
		if f.PlaceHolder != "" || f.HasDefault || f.Enum != "" || f.IsBool() {
			continue
		}
		switch f.Target.Kind() {
		case reflect.Float64, reflect.Float32, reflect.Int, reflect.Int64, reflect.Uint64:
			f.PlaceHolder = "N"
		case reflect.String:
			f.PlaceHolder = "TEXT"
		}
	}
	for _, child := range n.Children {
		placeholders(child)
	}
}
