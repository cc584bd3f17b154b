package main

import (
	"cmp"
	"context"
	"errors"
	"os"

	"driftscope/internal/bus"
	"driftscope/internal/config"
	"driftscope/sinks"
	"driftscope/sinks/web"
)

// dashboardToken names the environment variable that stands in for dashboard.token: other users of the machine cannot read it, as they
// can flags.
const dashboardToken = "DRIFTSCOPE_DASHBOARD_TOKEN"

// dashboardCmd shows the dashboard of streams that publish on a server elsewhere.
type dashboardCmd struct {
	NATS      string `name:"nats" default:"nats://127.0.0.1:4222" help:"The server that the streams publish on." placeholder:"URL"`
	WebSocket string `name:"websocket" required:"" help:"The same server's WebSocket, ws://host:port: its websocket block has the port." placeholder:"URL"`
	Creds     string `help:"Credentials for that server, to see whether it is there; people give theirs in the page." placeholder:"FILE.creds"`
	Prefix    string `default:"driftscope" help:"First token of the subjects."`
	Dashboard string `default:"127.0.0.1:8300" help:"Where to show it; others can be let in with a token in DRIFTSCOPE_DASHBOARD_TOKEN." placeholder:"HOST:PORT"`
	Look      bool   `help:"Offer no commands."`
}

// Run serves until ctx ends.
func (c *dashboardCmd) Run(ctx context.Context) error {
	if c.NATS == bus.Embedded {
		return usage(errors.New("--nats: embedded is the server inside a run, which shows its own dashboard: give the address of another"))
	}
	if c.Dashboard == config.DashboardOff {
		return usage(errors.New("--dashboard: off leaves nothing to do: give HOST:PORT"))
	}
	conn, err := bus.Connect(ctx, bus.Options{URL: c.NATS, WebSocket: c.WebSocket, Credentials: c.Creds, Name: "driftscope dashboard", Prefix: c.Prefix})
	if err != nil {
		return err
	}
	defer conn.Close()
	cfg := config.Config{
		NATS:      config.NATS{Prefix: c.Prefix},
		Dashboard: config.Dashboard{Address: c.Dashboard, Commands: !c.Look},
	}
	server, err := showDashboard(cfg, conn, newMetrics(conn))
	if err != nil {
		return err
	}
	defer server.Close()
	say("dashboard at %s", server.URL())
	<-ctx.Done()
	return nil
}

// newMetrics is what is told of this process; nil where there is no bus, and so no dashboard that would tell it.
func newMetrics(conn *bus.Conn) *sinks.Metrics {
	if conn == nil {
		return nil
	}
	m := sinks.NewMetrics(conn.Connected)
	tellMats(m)
	return m
}

// tokenOf is what people are let in with, empty where they need none.
func tokenOf(d config.Dashboard) string { return cmp.Or(d.Token, os.Getenv(dashboardToken)) }

// checkDashboard says whether people may be let in as the dashboard's keys say.
func checkDashboard(d config.Dashboard) error {
	if d.Address == config.DashboardOff {
		return nil
	}
	return web.Check(d.Address, tokenOf(d))
}

// showDashboard serves the streams on conn, and the metrics beside them. It returns nil where there is nothing to show or it is off. Where
// the usual port is taken, a free one will do.
func showDashboard(cfg config.Config, conn *bus.Conn, metrics *sinks.Metrics) (*web.Server, error) {
	d := cfg.Dashboard
	if d.Address == config.DashboardOff || conn == nil {
		return nil, nil
	}
	server, err := web.Start(web.Options{
		Address: d.Address, Token: tokenOf(d), Move: d.Address == config.DashboardAddress, WebSocket: conn.WebSocket(), Prefix: cfg.NATS.Prefix, Site: cfg.NATS.Site, Commands: d.Commands,
		Connected: conn.Connected, Metrics: metrics.Handler(), Ready: metrics.Ready(),
	})
	if err != nil {
		return nil, usage(err)
	}
	return server, nil
}

// pages is what the embedded server lets pages do.
func pages(d config.Dashboard) bus.Pages {
	switch {
	case d.Address == config.DashboardOff:
		return bus.NoPages
	case d.Commands:
		return bus.PagesSteer
	}
	return bus.PagesLook
}
