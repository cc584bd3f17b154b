package orders

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"driftscope/internal/console"
	"driftscope/internal/exit"
	"driftscope/internal/site"
)

// SiteCommand is driftscope site.
type SiteCommand struct {
	Init initCommand `cmd:"" help:"Make the streams and buckets of a site, with the rights of its admin."`
}

// initCommand makes what a site keeps on its server.
type initCommand struct {
	Camera []string      `help:"A camera of the site: makes the stream of the frames on camera.NAME, and that of the results of the stream NAME." placeholder:"NAME"`
	Stream []string      `help:"A stream of the site: makes that of its results. Streams that stream add has named need no flag." placeholder:"NAME"`
	TTL    time.Duration `name:"ttl" default:"5s" help:"How long a stream may be without a worker once one has died."`
	server
}

// Help says when to run it again.
func (c *initCommand) Help() string {
	return "It changes nothing that is there, and may be run again: after stream add, to make what the new streams keep. Workers and operators need no right to make a stream then."
}

// Run makes what is missing, and prints what there is.
func (c *initCommand) Run(ctx context.Context) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	made, left, err := site.Make(ctx, conn, site.Resources{Replicas: c.Replicas, TTL: c.TTL, Cameras: c.Camera, Streams: c.Stream})
	if errors.Is(err, site.ErrResources) {
		err = exit.Usage(err)
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
		console.Warn("%d of them differ and stay as they are: change them with the tool nats (nats stream edit NAME), or remove and make them again", differ)
	}
	return err
}
