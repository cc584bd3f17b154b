// Package config reads a configuration: one strict YAML file that names the source, the model and the sinks of a stream.
// An unknown key is an error with its file, line and path. The package knows no source, step or sink: each of them
// reads its own options through Component.Decode.
package config

import (
	"errors"
	"fmt"
	"os"
	"time"

	"driftscope/internal/kit/console"
)

// Config is one stream from camera to sinks. The zero value is not usable; start from Default.
type Config struct {
	Stream     string        `yaml:"stream"`      // names the stream in every message: letters, digits, - and _; empty in a file: the source's name
	Source     Component     `yaml:"source"`      // where frames come from
	Mode       string        `yaml:"mode"`        // "latest", "lossless", or empty: by the source
	Queue      int           `yaml:"queue"`       // frames waiting to be tracked; 0: by the mode
	StallAfter time.Duration `yaml:"stall_after"` // a live source silent for so long is lost; 0 waits for ever
	Model      string        `yaml:"model"`       // "embedded:NAME", "nats:NAME" or the path of an ONNX file; empty leaves the choice to the source
	Preprocess Preprocess    `yaml:"preprocess"`  // the model's own steps unless a list is given
	Objects    Objects       `yaml:"objects"`
	Optics     Optics        `yaml:"optics"`
	Online     Online        `yaml:"online"`
	Record     Record        `yaml:"record"`
	Frames     Frames        `yaml:"frames"` // of a source nats
	NATS       NATS          `yaml:"nats"`
	Dashboard  Dashboard     `yaml:"dashboard"`
	Sinks      []Component   `yaml:"sinks"`    // besides NATS, which nats.url enables
	Triggers   []Component   `yaml:"triggers"` // rules for feedback to the microscope
	Grace      time.Duration `yaml:"grace"`    // time for sinks to flush at the end
}

// Objects configures the tracking of every object of a field, instead of one scene by a model.
type Objects struct {
	Enabled  bool    `yaml:"enabled"`
	Find     string  `yaml:"find" json:",omitempty"` // contents of a recording: "auto" examines it first; else "one", "many" or "bodies"; empty: spots
	Max      int     `yaml:"max"`                    // largest number of spots a frame; the faintest beyond it are dropped
	Template float64 `yaml:"template_px"`            // sd of an object's light, px; 0: found in the first frames
	Polarity string  `yaml:"polarity"`               // "bright", "dark", or empty: found in the first frames
	Every    int     `yaml:"population_every"`       // frames between two messages about all objects
	Pairs    bool    `yaml:"interactions"`           // look for the force between two objects
	Lag      int     `yaml:"lag"`                    // delay of a frame's objects in frames; a larger one makes identities more reliable
}

// FindAuto is Objects.Find if the recording is examined first.
const FindAuto = "auto"

// Optics describes the view of the specimen.
type Optics struct {
	FocalDepth float64 `yaml:"focal_depth"` // thickness of the slab in which objects are visible, µm; 0: unknown
}

// Online holds the estimator's settings.
type Online struct {
	Seed            uint64        `yaml:"seed"`                               // of every random choice the estimator makes
	RefineLag       uint64        `yaml:"refine_lag"`                         // frames between taking a drift refinement's data and applying its result
	Memory          int           `yaml:"memory"`                             // transitions that the drift is learnt from; older ones are forgotten
	MaxGap          time.Duration `yaml:"max_gap"`                            // a longer pause between two frames forms no increment; 0: as the model was trained
	Exposure        time.Duration `yaml:"exposure"`                           // of a frame, which causes motion blur; 0: a flash
	State           string        `yaml:"state"`                              // file of the law, loaded if it exists; empty keeps none
	CheckpointEvery time.Duration `yaml:"checkpoint_every" json:",omitempty"` // between two saved states of the law
	PixelUM         float64       `yaml:"pixel_um"`                           // side of a raw frame's pixel in the specimen, µm; 0: not known
	// Forecast lists how many seconds ahead every latent is forecast, ascending; none by default.
	Forecast []float64 `yaml:"forecast_s"`
	// Lead is the time from a frame's acquisition to the arrival of the pulse that it triggers. Triggers forecast to it. ReadLead parses it.
	Lead string `yaml:"lead" json:",omitempty"`
	// AlarmFrames is the least mean number of frames between two false alarms of one kind while nothing changes.
	AlarmFrames uint64 `yaml:"alarm_frames"`
}

// Record is the place of a copy of the source's frames.
type Record struct {
	Path  string  `yaml:"path"`   // a folder, new or empty; "" keeps none
	MaxGB float64 `yaml:"max_gb"` // disk limit, in units of 10^9 bytes; at the limit recording stops and tracking continues
}

// NATS is the destination of messages and the prefix of their subjects.
type NATS struct {
	URL    string `yaml:"url"`    // "embedded", "off", nats://host:port, several with commas between, or context:NAME
	Port   int    `yaml:"port"`   // of the embedded server; 0 takes a free one
	Prefix string `yaml:"prefix"` // first token of every subject
	Site   string `yaml:"site"`   // second token: the laboratory or instrument

	// Credentials for a server that is not embedded, and for checking it: paths of files, except the token.
	Token string `yaml:"token"`
	Creds string `yaml:"creds"` // a user's JWT and seed
	NKey  string `yaml:"nkey"`  // a user's seed
	CA    string `yaml:"ca"`    // certificates that the server's is checked against
	Cert  string `yaml:"cert"`  // this program's own
	Key   string `yaml:"key"`   // its key

	Durable  bool          `yaml:"durable"`   // keep latents, laws and events in a JetStream stream
	Store    string        `yaml:"store"`     // folder of the spool, and of the embedded server's JetStream
	MaxAge   time.Duration `yaml:"max_age"`   // age limit of kept messages
	MaxBytes int64         `yaml:"max_bytes"` // size limit of kept messages, and of the spool
	Replicas int           `yaml:"replicas"`  // number of servers of a cluster with a copy

	// WebSocket is the address of the server at URL for pages, for the dashboard; the embedded server has its own.
	WebSocket string `yaml:"websocket"`
	MQTT      string `yaml:"mqtt"` // host:port of the embedded server's MQTT port; empty: none
}

// Dashboard configures the dashboard.
type Dashboard struct {
	Address  string `yaml:"address"`  // host:port, or "off"; if the port of DashboardAddress is in use, a free one is used
	Token    string `yaml:"token"`    // required from every client; needed if other machines can reach the address
	Commands bool   `yaml:"commands"` // people may steer as well as look
}

// The dashboard's default address, and the word that switches it off.
const (
	DashboardAddress = "127.0.0.1:8300"
	DashboardOff     = "off"
)

// The two values of nats.url that are no addresses.
const (
	NATSEmbedded = "embedded"
	NATSOff      = "off"
)

// Default returns the defaults that a file or flags override: everything but the source.
func Default() Config {
	return Config{
		Stream: "molecule", StallAfter: 5 * time.Second,
		Objects: Objects{Max: 4096, Every: 25},
		Online:  Online{Seed: 1, RefineLag: 56, Memory: 4096, AlarmFrames: 100_000, CheckpointEvery: 30 * time.Second},
		Record:  Record{MaxGB: 10},
		Frames:  Frames{MaxBytes: 16 << 30, MaxAge: time.Hour, Replicas: 1},
		NATS:    NATS{URL: NATSEmbedded, Port: 4222, Prefix: "driftscope", Site: "local", MaxAge: 7 * 24 * time.Hour, MaxBytes: 1 << 30, Replicas: 1},
		Grace:   3 * time.Second,

		Dashboard: Dashboard{Address: DashboardAddress, Commands: true},
	}
}

// Load reads the file at path over Default. The error joins every problem found, one line each.
func Load(path string) (Config, error) {
	data, err := readBounded(path)
	if err != nil {
		return Config{}, console.About(console.ConfigurationPage, err)
	}
	c, err := Parse(path, data)
	return c, console.About(console.ConfigurationPage, err)
}

// Parse parses data as Load does. Errors use name as the file's name.
func Parse(name string, data []byte) (Config, error) {
	data, rest := shorten(name, data)
	root, err := parse(name, data)
	if err != nil {
		return Config{}, errors.Join(err, rest)
	}
	c := Default()
	c.Stream = ""
	if err := errors.Join(decode(root, name, "", &c), rest); err != nil {
		return Config{}, err
	}
	if c.Stream == "" {
		c.Stream = c.Source.stream()
	}
	if err := c.Validate(); err != nil {
		return Config{}, inFile(name, err)
	}
	return c, nil
}

// readBounded reads a configuration of at most MaxBytes.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, console.Absent(path, fmt.Errorf("%s: cannot be opened: check the path and its permissions", path))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a file: give a YAML file", path)
	}
	if info.Size() > MaxBytes {
		return nil, fmt.Errorf("%s: %d bytes, a configuration has at most %d: is this the right file?", path, info.Size(), MaxBytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", path, err)
	}
	return data, nil
}
