// Package orders implements driftscope stream, which sets the streams that the workers of a site should run. It changes only the site's records; workers do the
// rest. It also implements driftscope site: init.go makes a site's records on its server.
package orders

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/job/reach"
	"driftscope/internal/job/recording"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
	"driftscope/internal/site"
)

// Command changes which streams should run, with one field per sub-command.
type Command struct {
	Add    addCommand    `cmd:"" help:"Add a stream to the site; a worker runs it."`
	List   listCommand   `cmd:"" help:"List the streams and workers of the site."`
	Show   showCommand   `cmd:"" help:"Print the configuration of a stream."`
	Move   moveCommand   `cmd:"" help:"Move a stream to another worker."`
	Remove removeCommand `cmd:"" help:"End a stream and remove it from the site."`
}

// server names the site.
type server struct {
	NATS     string `name:"nats" default:"nats://127.0.0.1:4222" help:"NATS server of the site, several of a cluster separated by commas, or context:NAME." placeholder:"URL"`
	Creds    string `help:"Credentials for that server." placeholder:"FILE.creds"`
	CA       string `name:"ca" help:"Certificate authority of the server." placeholder:"FILE.pem"`
	Prefix   string `default:"driftscope" help:"First token of the NATS subjects."`
	Site     string `default:"local" help:"Second token of the NATS subjects."`
	Replicas int    `default:"1" help:"Number of replicas in a cluster for new records of the site."`
}

// reading is the time limit for the arrival of a site's records.
const reading = 10 * time.Second

// connect connects to the server.
func (c *server) connect(ctx context.Context) (*bus.Conn, error) {
	if c.NATS == bus.Embedded || c.NATS == config.NATSOff {
		return nil, console.Usage(fmt.Errorf("--nats: found %s, expected the address of a server that the site's workers share, such as nats://host:4222", c.NATS))
	}
	conn, err := bus.Connect(ctx, bus.Options{URL: c.NATS, Credentials: c.Creds, CA: c.CA, Name: "driftscope stream", Prefix: c.Prefix, Site: c.Site})
	if errors.Is(err, bus.ErrNoServer) {
		return nil, fmt.Errorf("%s: %w: start the site's server, or give --nats", bus.Redacted(c.NATS), bus.ErrNoServer)
	}
	if errors.Is(err, bus.ErrOptions) {
		return nil, console.Usage(err)
	}
	return conn, err
}

// use calls do with the site. It makes a missing site if makes is true.
func (c *server) use(ctx context.Context, makes bool, do func(context.Context, *site.Site) error) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	var s *site.Site
	if makes {
		s, err = site.Edit(ctx, conn, site.Options{Replicas: c.Replicas})
	} else {
		s, err = site.Read(ctx, conn)
	}
	if err == nil {
		ctx, done := context.WithTimeout(ctx, reading)
		defer done()
		if err = read(ctx, s); err == nil {
			err = do(ctx, s)
		}
		s.Close()
	}
	return errors.Join(err, conn.Close())
}

// read waits until all records have arrived.
func read(ctx context.Context, s *site.Site) error {
	for !s.Now().Read {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the site's records did not arrive within %v: check the server", reading)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// addCommand adds a stream to the site.
type addCommand struct {
	Source  string   `arg:"" help:"A .yaml configuration, or a source as for run."`
	Name    string   `help:"Name of the stream (default: the configuration's)." placeholder:"NAME"`
	Model   string   `help:"Encoder: nats:NAME, a model on the server, embedded:NAME, or a path on the worker." placeholder:"MODEL"`
	Objects bool     `help:"Follow every object in the field."`
	Labels  []string `help:"Labels that its worker must have, such as the camera's name." placeholder:"LABEL"`
	Cores   float64  `default:"1" help:"Cores that it needs, as measured by driftlab bench frames."`
	Worker  string   `help:"Worker that should run it (default: any suitable worker)." placeholder:"WORKER"`
	Replace bool     `help:"Replace the configuration of an existing stream."`
	server
}

// configuration returns the stream's configuration as text.
func (c *addCommand) configuration() (cfg config.Config, text string, err error) {
	if recording.IsConfig(c.Source) {
		cfg, err = config.Load(c.Source)
	} else {
		cfg, err = stream.Implied(c.Source, 0, 0)
		cfg.Sinks = nil
	}
	if err != nil {
		return cfg, "", err
	}
	if c.Name != "" {
		cfg.Stream = c.Name
	}
	if c.Model != "" {
		cfg.Model = c.Model
	}
	cfg.Objects.Enabled = cfg.Objects.Enabled || c.Objects
	if err := errors.Join(stream.SettleSeeds(&cfg, nil), cfg.Validate()); err != nil {
		return cfg, "", err
	}
	data, err := cfg.YAML()
	return cfg, string(data), err
}

// Run adds the stream.
func (c *addCommand) Run(ctx context.Context) error {
	cfg, text, err := c.configuration()
	if err != nil {
		return console.Usage(err)
	}
	if m := cfg.Model; m != "" && !strings.HasPrefix(m, reach.ServerModel) && !strings.HasPrefix(m, reach.EmbeddedModel) {
		console.Warn("model %s: the worker reads it from its own disk, and needs --allow for the folder: to make it available to every worker, run driftscope model put %s and give nats:NAME", m, m)
	}
	desired := site.Stream{Name: cfg.Stream, Config: text, Labels: c.Labels, Cores: c.Cores, Worker: c.Worker}
	return c.use(ctx, true, func(ctx context.Context, s *site.Site) error {
		err := c.put(ctx, s, desired)
		if errors.Is(err, config.ErrSecret) || errors.Is(err, site.ErrExists) {
			return console.Usage(err)
		}
		if err == nil {
			fmt.Printf("stream %s should run\n", desired.Name)
		}
		return err
	})
}

// put writes the record.
func (c *addCommand) put(ctx context.Context, s *site.Site, desired site.Stream) error {
	if !c.Replace {
		_, err := s.Add(ctx, desired)
		return err
	}
	there, err := s.Stream(ctx, desired.Name)
	if err != nil {
		return unknown(err)
	}
	desired.Revision = there.Revision
	_, err = s.Replace(ctx, desired)
	return err
}

// listCommand lists the streams that should run.
type listCommand struct {
	JSON bool `name:"json" help:"Print JSON instead of text."`
	server
}

// row is a stream in the list.
type row struct {
	Name    string    `json:"name"`
	Worker  string    `json:"worker,omitempty"` // worker that runs it
	Epoch   uint64    `json:"epoch,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Cores   float64   `json:"cores"`
	Labels  []string  `json:"labels,omitempty"`
	Pinned  string    `json:"pinned,omitempty"`
	Waiting string    `json:"waiting,omitempty"` // why the stream has no worker
	Problem string    `json:"problem,omitempty"` // why its worker does not run it
}

// listed is the list of a site.
type listed struct {
	Streams []row         `json:"streams"`
	Workers []site.Worker `json:"workers"`
	Bad     []site.Bad    `json:"bad,omitempty"`
}

// listOf lists a snapshot.
func listOf(s *site.Snapshot) listed {
	out := listed{Streams: []row{}, Workers: s.Workers, Bad: s.Bad}
	plan := s.Plan()
	waiting := map[string]string{}
	for _, w := range slices.Concat(plan.Waiting, plan.Notes) {
		waiting[w.Stream] = w.Why
	}
	for _, d := range slices.Concat(s.Streams, s.Vanished) {
		r := row{Name: d.Name, Cores: d.Cores, Labels: d.Labels, Pinned: d.Worker, Waiting: waiting[d.Name]}
		for _, l := range s.Leases {
			if l.Stream == d.Name && l.State == site.Taken {
				r.Worker, r.Epoch, r.Since = l.Record.Worker, l.Record.Epoch, l.Record.Since
			}
		}
		for _, w := range s.Workers {
			for _, as := range w.Streams {
				if w.Name == r.Worker && as.Stream == r.Name {
					r.Problem = as.Problem
				}
			}
		}
		out.Streams = append(out.Streams, r)
	}
	return out
}

// Run prints the list.
func (c *listCommand) Run(ctx context.Context) error {
	return c.use(ctx, false, func(_ context.Context, s *site.Site) error {
		now := s.Now()
		all := listOf(&now)
		if c.JSON {
			return json.NewEncoder(os.Stdout).Encode(all)
		}
		return all.print()
	})
}

// print prints two tables.
func (l *listed) print() error {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "STREAM\tWORKER\tEPOCH\tSINCE\tCORES\tLABELS\tNOTE")
	for _, r := range l.Streams {
		epoch, since := "-", "-"
		if r.Worker != "" {
			epoch, since = fmt.Sprint(r.Epoch), r.Since.Local().Format(time.DateTime)
		} else {
			r.Worker = "-"
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%g\t%s\t%s\n", r.Name, r.Worker, epoch, since, r.Cores, strings.Join(r.Labels, ","), cmp.Or(r.Waiting, r.Problem))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nWORKER\tSTREAMS\tCORES\tUSED\tLABELS\tVERSION\tNOTE")
	for _, w := range l.Workers {
		note := ""
		if w.Draining {
			note = "draining"
		}
		fmt.Fprintf(out, "%s\t%d\t%g\t%.1f\t%s\t%s\t%s\n", w.Name, len(w.Streams), w.Cores, w.Load, strings.Join(w.Labels, ","), w.Version, note)
	}
	for _, b := range l.Bad {
		fmt.Fprintf(out, "%s\t\t\t\t\t\tinvalid record in %s: %s\n", b.Key, b.Bucket, b.Why)
	}
	return out.Flush()
}

// showCommand prints a configuration.
type showCommand struct {
	Name string `arg:"" help:"The stream."`
	server
}

// Run prints the configuration in a form that add --replace accepts.
func (c *showCommand) Run(ctx context.Context) error {
	return c.use(ctx, false, func(ctx context.Context, s *site.Site) error {
		d, err := s.Stream(ctx, c.Name)
		if err == nil {
			fmt.Print(d.Config)
		}
		return unknown(err)
	})
}

// moveCommand pins a stream to a worker.
type moveCommand struct {
	Name string `arg:"" help:"The stream."`
	To   string `help:"New worker (default: any suitable worker)." placeholder:"WORKER"`
	server
}

// Run pins the stream.
func (c *moveCommand) Run(ctx context.Context) error {
	return c.use(ctx, true, func(ctx context.Context, s *site.Site) error { return unknown(s.Move(ctx, c.Name, c.To)) })
}

// removeCommand ends a stream.
type removeCommand struct {
	Name string `arg:"" help:"The stream."`
	server
}

// Run removes the stream.
func (c *removeCommand) Run(ctx context.Context) error {
	return c.use(ctx, true, func(ctx context.Context, s *site.Site) error { return unknown(s.Remove(ctx, c.Name)) })
}

// unknown marks the error for an unknown stream as the user's mistake.
func unknown(err error) error {
	if errors.Is(err, site.ErrUnknown) {
		return console.Usage(err)
	}
	return err
}
