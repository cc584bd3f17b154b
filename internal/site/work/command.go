package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/job/reach"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
	"driftscope/internal/site"
)

// Command takes streams of a site and runs them.
type Command struct {
	NATS     string        `name:"nats" default:"nats://127.0.0.1:4222" help:"NATS server of the site, several of a cluster separated by commas, or context:NAME." placeholder:"URL"`
	Creds    string        `help:"Credentials for that server." placeholder:"FILE.creds"`
	CA       string        `name:"ca" help:"Certificate authority of the server." placeholder:"FILE.pem"`
	Prefix   string        `default:"driftscope" help:"First token of the NATS subjects."`
	Site     string        `default:"local" help:"Second token of the NATS subjects."`
	Name     string        `help:"Name of this worker, unique in the site (default: the machine's name)." placeholder:"NAME"`
	Cores    float64       `help:"Cores for streams (default: all of the machine)." placeholder:"N"`
	Labels   []string      `help:"Labels of this machine, such as camera-2; streams with such a label run here." placeholder:"LABEL"`
	Store    string        `help:"Folder for unsent results (default: in the user's cache)." placeholder:"DIR"`
	Films    int           `default:"1" help:"Films of batches to track at a time, besides the streams; 0 for none."`
	Replicas int           `default:"1" help:"Number of replicas in a cluster for stores that this worker makes: 3 for three servers."`
	Allow    []string      `help:"Resources that streams may use here besides their own folder: folders, addresses such as rtsp://10.0.0.7, and kinds of source and sink (camera, genicam, gst, url, gpio, osc, serial). A pipeline (gst) has all rights of this program." placeholder:"WHAT"`
	TTL      time.Duration `name:"ttl" default:"5s" help:"Time after which another worker takes over the streams of a dead worker; applies if this worker makes the site."`
}

// options returns the options of the flags.
func (c *Command) options() (o Options, err error) {
	cfg := config.Default()
	cfg.NATS.URL, cfg.NATS.Creds, cfg.NATS.CA, cfg.NATS.Prefix, cfg.NATS.Site = c.NATS, c.Creds, c.CA, c.Prefix, c.Site
	o = Options{NATS: cfg.NATS, Name: c.Name, Cores: c.Cores, Labels: c.Labels, Store: c.Store, Films: c.Films, Replicas: c.Replicas, TTL: c.TTL, Version: build()}
	if c.NATS == bus.Embedded || c.NATS == config.NATSOff {
		return o, fmt.Errorf("--nats: found %s, expected the address of a server that the site's workers share, such as nats://host:4222", c.NATS)
	}
	if o.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			return o, fmt.Errorf("--name: the machine has no name (%w): give one", err)
		}
		o.Name, _, _ = strings.Cut(host, ".")
	}
	if _, err := bus.NewSubject(c.Prefix, c.Site, o.Name); err != nil {
		return o, fmt.Errorf("--name, --prefix or --site: %w", err)
	}
	if o.Cores == 0 {
		o.Cores = float64(runtime.NumCPU())
	}
	if !(o.Cores > 0 && o.Cores <= site.MostCores) {
		return o, fmt.Errorf("--cores: found %g, expected more than 0 and at most %d", o.Cores, site.MostCores)
	}
	if c.Films < 0 || c.Films > site.MostCores {
		return o, fmt.Errorf("--films: found %d, expected 0 to %d", c.Films, site.MostCores)
	}
	if c.TTL < site.LeastTTL || c.TTL > site.MostTTL {
		return o, fmt.Errorf("--ttl: found %v, expected %v to %v", c.TTL, site.LeastTTL, site.MostTTL)
	}
	if o.Store == "" {
		folder, err := os.UserCacheDir()
		if err != nil {
			return o, fmt.Errorf("--store: this user has no cache folder (%w): give a folder", err)
		}
		o.Store = filepath.Join(folder, "driftscope", "work", c.Site, o.Name)
	}
	slices.Sort(o.Labels)
	if o.Allow, err = reach.Allow(c.Allow, stream.Makers()); err != nil {
		return o, fmt.Errorf("--allow: %w", err)
	}
	return o, nil
}

// Run runs streams until ctx ends, and then hands them over.
func (c *Command) Run(ctx context.Context) error {
	o, err := c.options()
	if err != nil {
		return console.Usage(err)
	}
	o.Log = bus.Warnings()
	conn, err := stream.Connect(ctx, config.Config{NATS: o.NATS, Dashboard: config.Dashboard{Address: config.DashboardOff}})
	if errors.Is(err, bus.ErrNoServer) {
		return fmt.Errorf("%s: %w: start the site's server, or give --nats", bus.Redacted(c.NATS), bus.ErrNoServer)
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	if !conn.NATS().AuthRequired() {
		console.Warn("%s has no user accounts, so every client can run streams here and change the records: set up accounts (configs/site/hall.conf, docs/howto/deployment.md)", conn.URL())
	}
	w, err := New(ctx, conn, o)
	if err != nil {
		return err
	}
	defer w.Close()
	console.Say("worker %s of site %s on %s: %g cores, labels %s; Ctrl-C hands over its streams", o.Name, c.Site, conn.URL(), o.Cores, words(o.Labels))
	err = w.Run(ctx)
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return err
}

// build returns the version or commit of this build, for display.
func build() string {
	b := console.ReadBuild()
	return cmp.Or(b.Version, b.Commit[:min(len(b.Commit), 12)], "unknown")
}

// words formats labels for display.
func words(labels []string) string {
	if len(labels) == 0 {
		return "none"
	}
	return strings.Join(labels, ", ")
}
