// Package config reads a configuration: one strict YAML file that names the source, the model and the sinks of a stream. An unknown key is an error with its
// file, line and path. The package does not know the kinds of sources, steps and sinks: each of them reads its own options with Component.Decode.
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
	Stream     string        `yaml:"stream"`      // stream name in every message: letters, digits, - and _; empty in a file: named after the source
	Source     Component     `yaml:"source"`      // where frames come from
	Mode       string        `yaml:"mode"`        // "latest", "lossless", or empty: the source decides
	Queue      int           `yaml:"queue"`       // number of frames that may wait; 0: the mode decides
	StallAfter time.Duration `yaml:"stall_after"` // silence after which a live source counts as lost; 0 waits for ever
	Model      string        `yaml:"model"`       // "embedded:NAME", "nats:NAME" or the path of an ONNX file; empty: the source decides
	Preprocess Preprocess    `yaml:"preprocess"`  // steps before the encoder; empty: the steps of the model
	Objects    Objects       `yaml:"objects"`
	Optics     Optics        `yaml:"optics"`
	Online     Online        `yaml:"online"`
	Record     Record        `yaml:"record"`
	Frames     Frames        `yaml:"frames"` // storage of frames from a source of kind nats
	NATS       NATS          `yaml:"nats"`
	Dashboard  Dashboard     `yaml:"dashboard"`
	Sinks      []Component   `yaml:"sinks"`    // sinks besides NATS, which nats.url enables
	Triggers   []Component   `yaml:"triggers"` // rules for feedback to the microscope
	Grace      time.Duration `yaml:"grace"`    // time for sinks to flush at the end
}

// Objects configures the tracking of every object in a field, which replaces the encoding of one scene by a model.
type Objects struct {
	Enabled  bool    `yaml:"enabled"`
	Find     string  `yaml:"find" json:",omitempty"` // contents of a recording: "one", "many", "bodies", or "auto" to examine it first; empty: spots
	Max      int     `yaml:"max"`                    // largest number of spots per frame; of more, the faintest are dropped
	Template float64 `yaml:"template_px"`            // standard deviation of an object's light, px; 0: measured in the first frames
	Polarity string  `yaml:"polarity"`               // "bright", "dark", or empty: measured in the first frames
	Every    int     `yaml:"population_every"`       // frames between two messages about all objects
	Pairs    bool    `yaml:"interactions"`           // estimate the force between two objects
	Lag      int     `yaml:"lag"`                    // delay of the results, in frames; a larger delay makes identities more reliable
}

// FindAuto is the value of Objects.Find that examines the recording first.
const FindAuto = "auto"

// Optics describes the view of the specimen.
type Optics struct {
	FocalDepth float64 `yaml:"focal_depth"` // thickness of the slab in which objects are visible, µm; 0: unknown
}

// Online holds the estimator's settings.
type Online struct {
	Seed            uint64        `yaml:"seed"`                               // seed of every random choice of the estimator
	RefineLag       uint64        `yaml:"refine_lag"`                         // delay of a drift refinement's result, in frames after its data were taken
	Memory          int           `yaml:"memory"`                             // number of newest transitions from which the drift is learnt
	MaxGap          time.Duration `yaml:"max_gap"`                            // longest frame interval that forms an increment; 0: as in the model's training
	Exposure        time.Duration `yaml:"exposure"`                           // exposure time of a frame, which causes motion blur; 0: instantaneous
	State           string        `yaml:"state"`                              // file of the learnt law, loaded if it exists; empty: the law is not saved
	CheckpointEvery time.Duration `yaml:"checkpoint_every" json:",omitempty"` // between two saved states of the law
	PixelUM         float64       `yaml:"pixel_um"`                           // side of a raw frame's pixel in the specimen, µm; 0: not known
	// Forecast lists the horizons of the forecasts of every latent, in seconds, ascending; none by default.
	Forecast []float64 `yaml:"forecast_s"`
	// Lead is the time from a frame's acquisition to the arrival of the pulse that the frame triggers. Triggers use the forecast for that time. ReadLead parses
	// it.
	Lead string `yaml:"lead" json:",omitempty"`
	// AlarmFrames is the smallest allowed mean number of frames between two false alarms of one kind.
	AlarmFrames uint64 `yaml:"alarm_frames"`
}

// Record configures the copy of the source's frames.
type Record struct {
	Path  string  `yaml:"path"`   // a new or empty folder; "": nothing is recorded
	MaxGB float64 `yaml:"max_gb"` // disk limit, 10^9 bytes: if it is reached, recording stops and tracking continues
}

// NATS is the destination of messages and the prefix of their subjects.
type NATS struct {
	URL    string `yaml:"url"`    // "embedded", "off", nats://host:port (several separated by commas), or context:NAME
	Port   int    `yaml:"port"`   // port of the embedded server; 0 takes a free port
	Prefix string `yaml:"prefix"` // first token of every subject
	Site   string `yaml:"site"`   // second token: the laboratory or instrument

	// Credentials for an external server, and certificates to verify it. All are paths of files, except the token.
	Token string `yaml:"token"`
	Creds string `yaml:"creds"` // a user's JWT and seed
	NKey  string `yaml:"nkey"`  // a user's seed
	CA    string `yaml:"ca"`    // certificate authorities that verify the server
	Cert  string `yaml:"cert"`  // client certificate of this program
	Key   string `yaml:"key"`   // key of Cert

	Durable  bool          `yaml:"durable"`   // store latents, laws and events in a JetStream stream
	Store    string        `yaml:"store"`     // folder of the spool, and of the embedded server's JetStream
	MaxAge   time.Duration `yaml:"max_age"`   // age limit of stored messages
	MaxBytes int64         `yaml:"max_bytes"` // size limit of stored messages, and of the spool
	Replicas int           `yaml:"replicas"`  // number of servers in a cluster that store a copy

	// WebSocket is the address at which the dashboard's page reaches the server at URL. The embedded server has its own.
	WebSocket string `yaml:"websocket"`
	MQTT      string `yaml:"mqtt"` // host:port of the embedded server's MQTT listener; empty: no listener
}

// Dashboard configures the dashboard.
type Dashboard struct {
	Address  string `yaml:"address"`  // host:port, or "off"; if the port of DashboardAddress is in use, a free port is used
	Token    string `yaml:"token"`    // password for every client; required if other machines can reach the address
	Commands bool   `yaml:"commands"` // users may send commands
}

// The dashboard's default address, and the value that disables the dashboard.
const (
	DashboardAddress = "127.0.0.1:8300"
	DashboardOff     = "off"
)

// The two values of nats.url that are not addresses.
const (
	NATSEmbedded = "embedded"
	NATSOff      = "off"
)

// Default returns the default of every setting except the source. A file and flags override it.
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

// Load reads the file at path; missing settings keep their Default. The error lists all problems, one per line.
func Load(path string) (Config, error) {
	data, err := readBounded(path)
	if err != nil {
		return Config{}, console.About(console.ConfigurationPage, err)
	}
	c, err := Parse(path, data)
	return c, console.About(console.ConfigurationPage, err)
}

// Parse is Load for the contents of a file. Errors use name as the file's name.
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
		return nil, fmt.Errorf("%s: is not a regular file: give a YAML file", path)
	}
	if info.Size() > MaxBytes {
		return nil, fmt.Errorf("%s: found %d bytes, a configuration has at most %d: is this the right file?", path, info.Size(), MaxBytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", path, err)
	}
	return data, nil
}
