package main

import (
	"context"
	"errors"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
)

// dashboardCmd shows the dashboard of streams that publish on a server elsewhere.
type dashboardCmd struct {
	NATS      string `name:"nats" default:"nats://127.0.0.1:4222" help:"The server that the streams publish on." placeholder:"URL"`
	WebSocket string `name:"websocket" required:"" help:"The same server's WebSocket, ws://host:port: its websocket block has the port." placeholder:"URL"`
	Creds     string `help:"Credentials for that server, to see whether it is there; people give theirs in the page." placeholder:"FILE.creds"`
	CA        string `name:"ca" help:"Certificates that the server's is checked against." placeholder:"FILE.pem"`
	Prefix    string `default:"driftscope" help:"First token of the subjects."`
	Dashboard string `default:"127.0.0.1:8300" help:"Where to show it; others can be let in with a token in DRIFTSCOPE_DASHBOARD_TOKEN." placeholder:"HOST:PORT"`
	Look      bool   `help:"Offer no commands."`
}

// Run serves until ctx ends.
func (c *dashboardCmd) Run(ctx context.Context) error {
	if c.NATS == bus.Embedded {
		return console.Usage(errors.New("--nats: embedded is the server inside a run, which shows its own dashboard: give the address of another"))
	}
	if c.Dashboard == config.DashboardOff {
		return console.Usage(errors.New("--dashboard: off leaves nothing to do: give HOST:PORT"))
	}
	conn, err := bus.Connect(ctx, bus.Options{URL: c.NATS, WebSocket: c.WebSocket, Credentials: c.Creds, CA: c.CA, Name: "driftscope dashboard", Prefix: c.Prefix})
	if err != nil {
		return err
	}
	defer conn.Close()
	cfg := config.Config{
		NATS:      config.NATS{Prefix: c.Prefix},
		Dashboard: config.Dashboard{Address: c.Dashboard, Commands: !c.Look},
	}
	server, err := stream.ShowDashboard(cfg, conn, stream.NewMetrics(conn))
	if err != nil {
		return err
	}
	defer server.Close()
	console.Say("dashboard at %s", server.URL())
	<-ctx.Done()
	return nil
}
