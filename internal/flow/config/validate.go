package config

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits that Validate checks.
const (
	maxRefineLag = 1 << 16
	maxHorizons  = 8
	maxHorizon   = 3600 // s
	leastAlarms  = 1e3  // frames

	leastCheckpoint = time.Second
	mostCheckpoint  = time.Hour
	mostAlarms      = 1e7 // frames
	maxExposure     = time.Hour
	maxGrace        = time.Minute
	maxQueue        = 4096
	minStall        = 10 * time.Millisecond
	maxStall        = 24 * time.Hour
	maxSinks        = 16
	maxSteps        = 32
	maxTriggers     = 32
	maxPixelUM      = 1e6
	leastMemory     = 64
	mostMemory      = 1 << 16
	maxRecordGB     = 1e6
	mostDepth       = 1e4     // µm, thicker than any specimen
	maxObjects      = 1 << 14 // the message of so many objects still fits the size limit of a NATS server
	mostEvery       = 1e6
	mostLag         = 6 // online/tracks supports no longer delay

	leastTemplate, mostTemplate = 0.5, 32
	minToken                    = 16 // characters, too many to guess by trial
	maxToken                    = 256
)

var token64 = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Validate reports all errors at once, each with its key, the found value and the expected value. It opens no files and no connections.
func (c *Config) Validate() error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	name := func(key, value string) {
		bad(token64.MatchString(value), "%s: found %q, expected 1 to 64 letters, digits, - or _", key, value)
	}
	name("stream", c.Stream)
	bad(c.Source.Kind != "", "source: is missing: add a source, such as source: {sim: {name: molecule, seed: 1}}")
	bad(slices.Contains([]string{"", "latest", "lossless"}, c.Mode), "mode: found %q, expected latest or lossless", c.Mode)
	bad(c.Queue >= 0 && c.Queue <= maxQueue, "queue: found %d, expected 1 to %d frames, or 0 for the default of the mode", c.Queue, maxQueue)
	bad(c.StallAfter == 0 || c.StallAfter >= minStall && c.StallAfter <= maxStall, "stall_after: found %v, expected %v to %v, or 0s to wait for ever", c.StallAfter, minStall, maxStall)
	errs = append(errs, validateModel(c.Model))
	bad(!strings.HasPrefix(c.Model, "nats:") || c.NATS.URL != NATSOff, "model: found %q but nats.url is off: give a server, or the path of an .onnx file", c.Model)
	bad(len(c.Preprocess) <= maxSteps, "preprocess: found %d steps, expected at most %d", len(c.Preprocess), maxSteps)
	bad(c.Objects.Max >= 1 && c.Objects.Max <= maxObjects, "objects.max: found %d, expected 1 to %d", c.Objects.Max, maxObjects)
	bad(slices.Contains([]string{"", FindAuto, "one", "many", "bodies"}, c.Objects.Find), "objects.find: found %q, expected auto, one, many or bodies", c.Objects.Find)
	bad(c.Objects.Find == "" || c.Objects.Template == 0 && c.Model == "", "objects.find: conflicts with template_px and model: give only one of the three")
	bad(c.Objects.Template == 0 || c.Objects.Template >= leastTemplate && c.Objects.Template <= mostTemplate, "objects.template_px: found %g, expected %g to %d, or 0 to measure it in the first frames", c.Objects.Template, leastTemplate, mostTemplate)
	bad(slices.Contains([]string{"", "bright", "dark"}, c.Objects.Polarity), "objects.polarity: found %q, expected bright or dark", c.Objects.Polarity)
	bad(c.Objects.Polarity == "" || c.Objects.Template != 0, "objects.polarity: requires template_px: give both, or neither to measure both in the first frames")
	bad(c.Optics.FocalDepth >= 0 && c.Optics.FocalDepth <= mostDepth, "optics.focal_depth: found %g, expected 0 to %g µm", c.Optics.FocalDepth, float64(mostDepth))
	bad(c.Optics.FocalDepth == 0 || c.Online.PixelUM > 0, "optics.focal_depth: is in µm: give online.pixel_um as well")
	bad(c.Objects.Every >= 1 && c.Objects.Every <= mostEvery, "objects.population_every: found %d, expected 1 to %d frames", c.Objects.Every, int(mostEvery))
	bad(c.Objects.Lag >= 0 && c.Objects.Lag <= mostLag, "objects.lag: found %d, expected 0 to %d frames", c.Objects.Lag, mostLag)
	bad(c.Online.RefineLag >= 1 && c.Online.RefineLag <= maxRefineLag, "online.refine_lag: found %d, expected 1 to %d frames", c.Online.RefineLag, maxRefineLag)
	bad(c.Online.MaxGap >= 0, "online.max_gap: found %v, expected a positive duration, or 0s for the value of the model", c.Online.MaxGap)
	bad(c.Online.Exposure >= 0 && c.Online.Exposure <= maxExposure, "online.exposure: found %v, expected 0s to %v", c.Online.Exposure, maxExposure)
	bad(c.Online.Memory >= leastMemory && c.Online.Memory <= mostMemory, "online.memory: found %d, expected %d to %d transitions", c.Online.Memory, leastMemory, mostMemory)
	bad(c.Online.PixelUM >= 0 && c.Online.PixelUM <= maxPixelUM, "online.pixel_um: found %g, expected more than 0 and at most %g µm", c.Online.PixelUM, float64(maxPixelUM))
	bad(validHorizons(c.Online.Forecast), "online.forecast_s: found %v, expected at most %d numbers of seconds, ascending, above 0 and at most %d", c.Online.Forecast, maxHorizons, maxHorizon)
	_, _, err := c.Online.ReadLead()
	errs = append(errs, err)
	bad(c.Online.CheckpointEvery >= leastCheckpoint && c.Online.CheckpointEvery <= mostCheckpoint, "online.checkpoint_every: found %v, expected %v to %v", c.Online.CheckpointEvery, leastCheckpoint, mostCheckpoint)
	bad(c.Online.AlarmFrames >= leastAlarms && c.Online.AlarmFrames <= mostAlarms, "online.alarm_frames: found %d, expected 1e3 to 1e7", c.Online.AlarmFrames)
	bad(c.Record.MaxGB > 0 && c.Record.MaxGB <= maxRecordGB, "record.max_gb: found %g, expected more than 0 and at most %g GB", c.Record.MaxGB, float64(maxRecordGB))
	errs = append(errs, validateDashboard(c.Dashboard))
	errs = append(errs, c.NATS.validate()...)
	errs = append(errs, c.validateFrames()...)
	bad(len(c.Sinks) <= maxSinks, "sinks: found %d, expected at most %d", len(c.Sinks), maxSinks)
	bad(len(c.Triggers) <= maxTriggers, "triggers: found %d, expected at most %d", len(c.Triggers), maxTriggers)
	bad(c.Grace > 0 && c.Grace <= maxGrace, "grace: found %v, expected more than 0s and at most %v", c.Grace, maxGrace)
	return errors.Join(errs...)
}

// validateModel checks the form of a model's name. It does not check whether the model exists.
func validateModel(model string) error {
	if model == "" {
		return nil
	}
	for _, prefix := range []string{"embedded:", "nats:"} {
		if name, found := strings.CutPrefix(model, prefix); found {
			if !token64.MatchString(name) {
				return fmt.Errorf("model: found %q, expected %sNAME, such as %smolecule", model, prefix, prefix)
			}
			return nil
		}
	}
	if !strings.EqualFold(filepath.Ext(model), ".onnx") {
		return fmt.Errorf("model: found %q, expected embedded:NAME, nats:NAME or the path of an .onnx file", model)
	}
	return nil
}

// validHorizons accepts at most maxHorizons ascending horizons, in seconds.
func validHorizons(horizons []float64) bool {
	before := 0.0
	for _, h := range horizons {
		if !(h > before && h <= maxHorizon) {
			return false
		}
		before = h
	}
	return len(horizons) <= maxHorizons
}

// validateDashboard checks the forms of address and token. Whether the address needs a token is checked when the dashboard opens.
func validateDashboard(d Dashboard) error {
	if d.Address == DashboardOff {
		return nil
	}
	if _, port, err := net.SplitHostPort(d.Address); err != nil || !validPort(port) {
		return fmt.Errorf("dashboard.address: found %q, expected host:port, such as %s, or off", d.Address, DashboardAddress)
	}
	if n := len(d.Token); n != 0 && (n < minToken || n > maxToken) {
		return fmt.Errorf("dashboard.token: found %d characters, expected %d to %d", n, minToken, maxToken)
	}
	return nil
}

func validPort(port string) bool {
	_, err := strconv.ParseUint(port, 10, 16)
	return err == nil
}
