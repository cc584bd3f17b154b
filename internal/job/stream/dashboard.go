package stream

import (
	"cmp"
	"os"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/kit/console"
	"driftscope/sinks"
	"driftscope/sinks/web"
)

// DashboardToken names the environment variable with the token if dashboard.token is empty. Unlike a flag, other users of the machine cannot read it.
const DashboardToken = "DRIFTSCOPE_DASHBOARD_TOKEN"

// NewMetrics returns the metrics of this process, or nil without a bus, because then no dashboard serves them.
func NewMetrics(conn *bus.Conn) *sinks.Metrics {
	if conn == nil {
		return nil
	}
	m := sinks.NewMetrics(conn.Connected)
	tellMats(m)
	return m
}

// tokenOf returns the dashboard's token, empty if it needs none.
func tokenOf(d config.Dashboard) string { return cmp.Or(d.Token, os.Getenv(DashboardToken)) }

// checkDashboard checks the dashboard's address and token.
func checkDashboard(d config.Dashboard) error {
	if d.Address == config.DashboardOff {
		return nil
	}
	return web.Check(d.Address, tokenOf(d))
}

// ShowDashboard serves the streams on conn, and the metrics. It returns nil if there is nothing to show or the dashboard is off. If the usual
// port is taken, it uses a free one.
func ShowDashboard(cfg config.Config, conn *bus.Conn, metrics *sinks.Metrics) (*web.Server, error) {
	d := cfg.Dashboard
	if d.Address == config.DashboardOff || conn == nil {
		return nil, nil
	}
	server, err := web.Start(web.Options{
		Address: d.Address, Token: tokenOf(d), Move: d.Address == config.DashboardAddress, WebSocket: conn.WebSocket(), Prefix: cfg.NATS.Prefix, Site: cfg.NATS.Site, Commands: d.Commands,
		Connected: conn.Connected, Metrics: metrics.Handler(), Ready: metrics.Ready(),
	})
	if err != nil {
		return nil, console.Usage(err)
	}
	return server, nil
}

// pagesMay returns the permissions of pages on the embedded server.
func pagesMay(d config.Dashboard) bus.Pages {
	switch {
	case d.Address == config.DashboardOff:
		return bus.NoPages
	case d.Commands:
		return bus.PagesSteer
	}
	return bus.PagesLook
}
