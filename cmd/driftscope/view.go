package main

import (
	"context"

	"driftscope/internal/flow/config"
	"driftscope/internal/job/replay"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
)

// viewCmd shows the results of a run over its film. Its server uses a free port, so clients of a live run on the usual port
// never receive the replay.
type viewCmd struct {
	Results   string  `arg:"" help:"Results of run --out (JSON Lines), or a .csv table of tracks with the columns frame, particle, x and y in px."`
	Film      string  `help:"Recording that was tracked, for the pictures." placeholder:"SOURCE"`
	Speed     float64 `default:"1" help:"Playback speed relative to the original."`
	FPS       float64 `name:"fps" help:"Frames per second; overrides the recorded times."`
	From      uint64  `help:"First frame to show." placeholder:"FRAME"`
	Frames    uint64  `help:"Stop after this many frames." placeholder:"N"`
	Loop      bool    `help:"Restart at the end."`
	Exit      bool    `help:"Exit at the end, without Ctrl-C."`
	NATSPort  int     `name:"nats-port" help:"Port of the embedded server (default: a free one)." placeholder:"PORT"`
	Dashboard string  `help:"Address of the dashboard, or off (default: 127.0.0.1:8300, or a free port if that is taken)." placeholder:"HOST:PORT"`
}

// Run shows the results until the film or ctx ends.
func (c *viewCmd) Run(ctx context.Context) error {
	shown, err := replay.Open(ctx, replay.Options{Results: c.Results, Film: c.Film, Speed: c.Speed, FPS: c.FPS, From: c.From, Frames: c.Frames, Loop: c.Loop, Exit: c.Exit})
	if err != nil {
		return err
	}
	defer shown.Close()
	cfg := config.Default()
	cfg.NATS.Port = c.NATSPort
	if c.Dashboard != "" {
		cfg.Dashboard.Address = c.Dashboard
	}
	conn, err := stream.Connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer conn.Close()
	server, err := stream.ShowDashboard(cfg, conn, stream.NewMetrics(conn))
	if err != nil {
		return err
	}
	defer server.Close()
	console.Say("stream %s: a replay of %s, published on %s under %s.%s.%s", shown.Stream(), c.Results, conn.URL(), cfg.NATS.Prefix, cfg.NATS.Site, shown.Stream())
	if server != nil {
		console.Say("dashboard at %s", server.URL())
	}
	return shown.Play(ctx, conn)
}
