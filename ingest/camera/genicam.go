package camera

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"driftscope/ingest/picture"
	"driftscope/internal/flow/pipeline"
)

// genicamOptions are the keys of a genicam source. The camera keeps its own value of every key that is not set.
type genicamOptions struct {
	Camera   string        `yaml:"camera" reaches:"device"`   // name as arv-tool-0.8 prints it (maker-model-serial), or IP address; "any": the first camera found
	Pixel    string        `yaml:"pixel" reaches:"nothing"`   // mono8 (default), mono10, mono12, mono14 or mono16; all but mono8 give 16 bits
	FPS      float64       `yaml:"fps"`                       // frames per second
	Exposure time.Duration `yaml:"exposure"`                  // for example 5ms
	Gain     *float64      `yaml:"gain"`                      // dB
	Region   *[4]int       `yaml:"region"`                    // x, y, width, height on the sensor
	Trigger  string        `yaml:"trigger" reaches:"nothing"` // one frame per pulse on this line, such as Line0, or Software
}

// anyCamera selects the first camera that answers.
const anyCamera = "any"

// Characters allowed in a pipeline's description. A quote or an exclamation mark would start another element.
var (
	cameraName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ._-]{0,127}$`)
	triggerName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)
)

// The pixel formats, by GenICam's name and by the name in the pipeline's caps. Aravis unpacks no format: it delivers packed pixels as Mono8 in a larger buffer,
// which packed.go unpacks.
var genicamPixels = map[string]struct{ feature, caps string }{
	"mono8":  {"Mono8", "GRAY8"},
	"mono10": {"Mono10", "GRAY16_LE"},
	"mono12": {"Mono12", "GRAY16_LE"},
	"mono14": {"Mono14", "GRAY16_LE"},
	"mono16": {"Mono16", "GRAY16_LE"},

	"mono10p": {"Mono10p", "GRAY8"}, "mono12p": {"Mono12p", "GRAY8"}, "mono10packed": {"Mono10Packed", "GRAY8"}, "mono12packed": {"Mono12Packed", "GRAY8"},
}

// NewGenICam makes a source of a GigE Vision or USB3 Vision camera, through the GStreamer source of Aravis.
func NewGenICam(decode func(dst any) error) (pipeline.Source, error) {
	o := genicamOptions{Pixel: "mono8"}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	return &gstreamer{
		name: "genicam " + o.Camera, description: o.description(), endless: true, sparse: o.Trigger != "",
		packed: packings[genicamPixels[o.Pixel].feature],
		advice: "arv-tool-0.8 lists cameras and their features; docs/howto/cameras.md has more help",
	}, nil
}

// check restricts every option to the characters of a description and to the bounds of aravissrc.
func (o *genicamOptions) check() error {
	if _, known := genicamPixels[o.Pixel]; !known {
		return fmt.Errorf("pixel is %q, expected mono8, mono10, mono12, mono14 or mono16, or packed mono10p, mono12p, mono10packed or mono12packed", o.Pixel)
	}
	switch {
	case o.Camera == "":
		return errors.New("camera is missing: give its name, which arv-tool-0.8 prints, or its IP address, or any")
	case !cameraName.MatchString(o.Camera):
		return fmt.Errorf("camera is %q, expected at most 128 letters, digits, spaces, dots, dashes and underscores", o.Camera)
	case o.FPS != 0 && !(1e-3 <= o.FPS && o.FPS <= 1e6):
		return fmt.Errorf("fps is %g, expected 0.001 to 1e6 frames per second", o.FPS)
	case o.Exposure < 0 || o.Exposure > 100*time.Second:
		return fmt.Errorf("exposure is %v, expected up to 100s", o.Exposure)
	case o.Gain != nil && !(0 <= *o.Gain && *o.Gain <= 500):
		return fmt.Errorf("gain is %g, expected 0 to 500 dB", *o.Gain)
	case o.Trigger != "" && !triggerName.MatchString(o.Trigger):
		return fmt.Errorf("trigger is %q, expected a line's name, such as Line0", o.Trigger)
	case o.Trigger != "" && o.FPS != 0:
		return errors.New("trigger and fps are both given, but the trigger's pulses set the rate: give one of them")
	}
	if r := o.Region; r != nil {
		if r[0] < 0 || r[1] < 0 || r[0] > picture.MaxSide || r[1] > picture.MaxSide {
			return fmt.Errorf("region begins at %d,%d, expected 0 to %d", r[0], r[1], picture.MaxSide)
		}
		return picture.CheckSize(r[2], r[3], 1)
	}
	return nil
}

// description returns the pipeline in the syntax of gst-launch-1.0. Its caps always name the format, because Aravis could choose colour otherwise.
func (o *genicamOptions) description() string {
	var b strings.Builder
	b.WriteString("aravissrc")
	if o.Camera != anyCamera {
		fmt.Fprintf(&b, " camera-name=%q", o.Camera)
	}
	if o.Exposure > 0 {
		fmt.Fprintf(&b, " exposure-auto=off exposure=%g", float64(o.Exposure)/float64(time.Microsecond))
	}
	if o.Gain != nil {
		fmt.Fprintf(&b, " gain-auto=off gain=%g", *o.Gain)
	}
	if o.Region != nil {
		fmt.Fprintf(&b, " offset-x=%d offset-y=%d", o.Region[0], o.Region[1])
	}
	if features := o.features(); features != "" {
		fmt.Fprintf(&b, " features=%q", features)
	}
	pixel := genicamPixels[o.Pixel]
	fmt.Fprintf(&b, " ! video/x-raw,format=%s", pixel.caps)
	if o.Region != nil {
		fmt.Fprintf(&b, ",width=%d,height=%d", o.Region[2], o.Region[3])
	}
	if o.FPS > 0 {
		fmt.Fprintf(&b, ",framerate=%d/1000", int(math.Round(o.FPS*1000)))
	}
	b.WriteString(appsink)
	return b.String()
}

// features returns the settings to apply after the caps, because 16-bit caps select Mono16.
func (o *genicamOptions) features() string {
	var all []string
	if pixel := genicamPixels[o.Pixel]; pixel.feature != "Mono16" && pixel.feature != "Mono8" {
		all = append(all, "PixelFormat="+pixel.feature)
	}
	if o.Trigger != "" {
		all = append(all, "TriggerSelector=FrameStart", "TriggerMode=On", "TriggerSource="+o.Trigger)
	}
	return strings.Join(all, " ")
}
