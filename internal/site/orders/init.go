package orders

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"driftscope/internal/kit/console"
	"driftscope/internal/site"
)

// SiteCommand is driftscope site.
type SiteCommand struct {
	Init initCommand `cmd:"" help:"Make the JetStream streams and buckets of a site, as its admin."`
}

// initCommand makes a site's records on its server.
type initCommand struct {
	Camera []string      `help:"Camera of the site: makes the JetStream streams for frames on camera.NAME and for results of the stream NAME." placeholder:"NAME"`
	Stream []string      `help:"Stream of the site: makes the JetStream stream for its results. Streams of stream add need no flag." placeholder:"NAME"`
	TTL    time.Duration `name:"ttl" default:"5s" help:"Time after which another worker takes over the streams of a dead worker."`
	server
}

// Help describes when to run the command again.
func (c *initCommand) Help() string {
	return "The command changes no existing stream or bucket. Run it again after stream add, to make the JetStream streams for the new streams. Workers and operators then need no right to make them."
}

// Run makes missing resources, and lists all resources.
func (c *initCommand) Run(ctx context.Context) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	made, left, err := site.Make(ctx, conn, site.Resources{Replicas: c.Replicas, TTL: c.TTL, Cameras: c.Camera, Streams: c.Stream})
	if errors.Is(err, site.ErrResources) {
		err = console.Usage(err)
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	differ := 0
	for _, m := range made {
		how, differs := "there", ""
		switch {
		case m.New:
			how = "made"
		case len(m.Differs) > 0:
			how, differs = "differs", "\t"+strings.Join(m.Differs, "; ")
			differ++
		}
		fmt.Fprintf(out, "%s\t%s\t%s%s\n", how, m.Name, m.Holds, differs)
	}
	err = errors.Join(err, out.Flush(), conn.Close())
	for _, problem := range left {
		console.Warn("%s", problem)
	}
	if differ > 0 {
		console.Warn("%d of them differ from the plan and were not changed: change them with the tool nats (nats stream edit NAME), or remove them and repeat the command", differ)
	}
	return err
}
