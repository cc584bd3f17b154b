package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/job/reach"
	"driftscope/internal/job/recording"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
)

// patience is how long the network may block. It is longer than for frames, because films are sent.
const patience = 10 * time.Second

// Command tracks many films, or works on films of other clients.
type Command struct {
	Films    []string `arg:"" optional:"" help:"Films: videos, TIFFs, FITS cubes, HDF5, CZI and ND2 files, folders of pictures, NDTiff folders, OME-Zarr stores, or folders of films." placeholder:"FILM"`
	Model    string   `help:"The encoder: a model file, embedded:NAME, or nats:NAME, a model on the server." placeholder:"MODEL.onnx"`
	Objects  bool     `help:"Follow every object in the field, as with run --objects."`
	DT       float64  `name:"dt" help:"Seconds between frames; overrides the film." placeholder:"S"`
	FPS      float64  `name:"fps" help:"Frames per second; overrides the film."`
	Config   string   `help:"Configuration for every film; the source's path, sinks, nats and dashboard are ignored." placeholder:"BASE.yaml"`
	Out      string   `default:"results" help:"Folder of the results, one file per film, and of the summary batch.jsonl." placeholder:"DIR"`
	Format   string   `enum:"jsonl,csv,parquet" default:"jsonl" help:"Format of a result: ${enum}; csv and parquet are tables of objects."`
	URL      string   `name:"nats" aliases:"url" help:"NATS server whose workers track the films, or context:NAME (default: track here)." placeholder:"URL"`
	Local    bool     `help:"Track the films on this machine without a server, as without --nats."`
	Creds    string   `help:"Credentials for that server." placeholder:"FILE.creds"`
	CA       string   `name:"ca" help:"Certificate authority of the server." placeholder:"FILE.pem"`
	Prefix   string   `default:"driftscope" help:"First token of the NATS subjects."`
	Site     string   `default:"local" help:"Second token of the NATS subjects: the site whose workers track the films."`
	Name     string   `help:"Name of the batch on the server (default: from the settings, so that the same command continues it)." placeholder:"JOB"`
	Shared   bool     `help:"Send no films; workers read them under the same paths."`
	NoWait   bool     `help:"Send the films and exit. The same command without --no-wait fetches the results."`
	Work     bool     `help:"Track films of the site until Ctrl-C, instead of sending films."`
	Slots    int      `help:"Films at a time on this machine (default: one per core)." placeholder:"N"`
	Room     int      `default:"20" help:"Largest size of the films on the server at a time, GB; a single film may be larger."`
	Temp     string   `help:"Folder for films during tracking on a worker (default: the system's temporary folder)." placeholder:"DIR"`
	Replicas int      `default:"1" help:"Number of replicas in a cluster for new stores of films, jobs and results."`

	Film    string        `hidden:"" help:"Track the film whose job is in this folder, for a worker."`
	AckWait time.Duration `hidden:"" default:"30s" help:"Silence after which a worker counts as dead, for a new queue."`
}

// check refuses contradictory options.
func (c *Command) check() error {
	switch {
	case c.Work && len(c.Films) > 0:
		return errors.New("--work: a worker tracks the films of the site: leave the films or --work out")
	case c.Work && c.URL == "":
		return errors.New("--work: give --nats, the server that has the films")
	case !c.Work && len(c.Films) == 0:
		return errors.New("no films were given, expected files or folders")
	case c.Local && c.URL != "":
		return errors.New("--local and --nats: give one of them")
	case c.URL == bus.Embedded:
		return errors.New("--nats: embedded is the server inside a run: give its address, or leave it out")
	case c.NoWait && c.URL == "":
		return errors.New("--no-wait: needs --nats, because without it no other machine tracks the films")
	case c.Format != "jsonl" && !c.Objects && c.Config == "":
		return fmt.Errorf("--format %s: is a table of objects: add --objects", c.Format)
	case c.Slots < 0 || c.Room < 1 || c.Replicas < 1 || c.AckWait < 2*time.Second:
		return errors.New("--slots, --room or --replicas: expected a positive number")
	}
	if c.Name != "" {
		return checkToken(c.Name)
	}
	return nil
}

// Run sends films, waits and fetches results, or works as a worker.
func (c *Command) Run(ctx context.Context) error {
	if c.Film != "" {
		return trackHere(ctx, c.Film)
	}
	if err := c.check(); err != nil {
		return console.Usage(err)
	}
	if c.Work {
		return c.work(ctx)
	}
	if err := c.able(); err != nil {
		return console.Usage(err)
	}
	films, passed, err := find(c.Films, c.Out)
	for _, p := range passed {
		console.Say("skipped: %s", p)
	}
	if err != nil {
		return console.Usage(err)
	}
	base, err := c.base()
	if err != nil {
		return console.Usage(err)
	}
	return c.send(ctx, films, base)
}

func (c *Command) log(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// connect finds the server.
func (c *Command) connect(ctx context.Context, name string, level slog.Level) (*bus.Conn, error) {
	return bus.Connect(ctx, bus.Options{URL: c.URL, Credentials: c.Creds, CA: c.CA, Name: name, Prefix: c.Prefix, Site: c.Site, Patience: patience, Log: c.log(level)})
}

// base returns the configuration of every film, without the film.
func (c *Command) base() (config.Config, error) {
	cfg := config.Default()
	if c.Config != "" {
		var err error
		if cfg, err = config.Load(c.Config); err != nil {
			return cfg, err
		}
	}
	cfg.Model = cmp.Or(c.Model, cfg.Model)
	cfg.Objects.Enabled = cfg.Objects.Enabled || c.Objects
	if c.Format != "jsonl" && !cfg.Objects.Enabled {
		return cfg, fmt.Errorf("--format %s: is a table of objects: add --objects", c.Format)
	}
	return cfg, nil
}

// carried lists the options of the base configuration's source that apply to all films of its kind. Other options belong to one film.
var carried = []string{"dt", "fps", "channel", "slice", "axes", "dataset"}

// of returns the configuration of one film; its source has no path.
func (c *Command) of(base config.Config, f *film) (config.Config, error) {
	cfg := alone(base)
	options := map[string]any{}
	if base.Source.Kind == f.kind {
		given := base.Source.Options()
		if _, led := given["frames_csv"]; led {
			return cfg, console.Usage(fmt.Errorf("%s: source.frames_csv: belongs to one film: put a frames.csv into the folder of each film", c.Config))
		}
		for _, name := range carried {
			if v, set := given[name]; set {
				options[name] = v
			}
		}
	}
	for name, v := range f.options {
		options[name] = v
	}
	switch {
	case c.DT < 0 || c.FPS < 0 || c.DT > 0 && c.FPS > 0:
		return cfg, console.Usage(errors.New("--dt and --fps: give one of them, as a positive number"))
	case c.DT > 0:
		delete(options, "fps")
		options["dt"] = c.DT
	case c.FPS > 0:
		delete(options, "dt")
		options["fps"] = c.FPS
	}
	var err error
	if cfg.Source, err = config.NewComponent(f.kind, options); err != nil {
		return cfg, err
	}
	cfg.Stream = recording.StreamName(f.path)
	return cfg, stream.SettleSeeds(&cfg, nil)
}

// job returns the job of a film, once its digest is known.
func (c *Command) job(base config.Config, f *film, m chosen, s sum) (*job, error) {
	cfg, err := c.of(base, f)
	if err != nil {
		return nil, err
	}
	text, err := cfg.YAML()
	if err != nil {
		return nil, err
	}
	j := &job{V: jobVersion, Batch: c.Name, Film: f.name, File: filepath.Base(f.path), Digest: s.digest, Bytes: s.bytes, Folder: f.folder,
		Config: string(text), Model: m.name, ModelDigest: m.digest, Ending: "." + c.Format}
	if c.Shared || c.URL == "" {
		j.Path = f.path
	}
	j.identify()
	return j, nil
}

// chosen is a model, with the name for jobs.
type chosen struct{ name, digest string }

// keep stores the model on the server, if it is a file, under a name that identifies it.
func (c *Command) keep(ctx context.Context, conn *bus.Conn, name string) (chosen, error) {
	if name == "" || strings.HasPrefix(name, reach.EmbeddedModel) {
		_, err := reach.OpenModel(cmp.Or(name, reach.EmbeddedModel+reach.DefaultModel))
		return chosen{name: name}, console.Usage(err)
	}
	models, err := conn.Models()
	if err != nil {
		return chosen{}, err
	}
	there, err := models.List(ctx)
	if err != nil {
		return chosen{}, err
	}
	if on, found := strings.CutPrefix(name, reach.ServerModel); found {
		i := slices.IndexFunc(there, func(m bus.Model) bool { return m.Name == on })
		if i < 0 {
			return chosen{}, console.Usage(fmt.Errorf("model %s: %w", name, bus.ErrNoModel))
		}
		return chosen{name, there[i].SHA256}, nil
	}
	data, err := system.ReadBounded(name, card.MaxFile)
	if err != nil {
		return chosen{}, console.Usage(fmt.Errorf("model: %w: give an .onnx file that pretrain wrote", err))
	}
	m, err := infer.Parse(name, data)
	if err != nil {
		return chosen{}, console.Usage(err)
	}
	on := "batch-" + m.Digest[:16]
	if slices.ContainsFunc(there, func(o bus.Model) bool { return o.Name == on && o.SHA256 == m.Digest }) {
		return chosen{reach.ServerModel + on, m.Digest}, nil
	}
	return chosen{reach.ServerModel + on, m.Digest}, models.Put(ctx, on, "of a batch: "+filepath.Base(name), data)
}
