package main

import (
	"context"
	"errors"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
)

// dashboardCmd shows the dashboard of streams that publish on another server.
type dashboardCmd struct {
	NATS      string `name:"nats" default:"nats://127.0.0.1:4222" help:"NATS server of the streams." placeholder:"URL"`
	WebSocket string `name:"websocket" required:"" help:"WebSocket address of the same server, ws://host:port, as in its websocket block." placeholder:"URL"`
	Creds     string `help:"Credentials for this command's connection to that server; users log in on the page." placeholder:"FILE.creds"`
	CA        string `name:"ca" help:"Certificate authority of the server." placeholder:"FILE.pem"`
	Prefix    string `default:"driftscope" help:"First token of the NATS subjects."`
	Dashboard string `default:"127.0.0.1:8300" help:"Address of the page. If other machines can reach it, set a token in DRIFTSCOPE_DASHBOARD_TOKEN." placeholder:"HOST:PORT"`
	Look      bool   `help:"Hide the page's commands."`
}

// Run serves the dashboard until ctx ends.
func (c *dashboardCmd) Run(ctx context.Context) error {
	if c.NATS == bus.Embedded {
		return console.Usage(errors.New("--nats: embedded is the server inside a run, which shows its own dashboard: give the address of another server"))
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
	console.Say("stopped")
	return nil
}
