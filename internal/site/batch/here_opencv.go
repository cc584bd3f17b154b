//go:build cgo

package batch

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"driftscope/internal/flow/bus"
	"driftscope/internal/kit/console"
)

// able reports whether this build can do the requested work.
func (*Command) able() error { return nil }

// work tracks the films of other clients.
func (c *Command) work(ctx context.Context) error {
	conn, err := c.connect(ctx, "driftscope batch worker", slog.LevelInfo)
	if err != nil {
		return err
	}
	console.Say("tracking the films of site %s, %d at a time, until Ctrl-C", c.Site, c.slots())
	return errors.Join(c.worker(conn).Run(ctx), conn.Close())
}

// slots returns the number of concurrent films: one per core, because with small films a core is idle while a process starts and files are read.
func (c *Command) slots() int { return cmp.Or(c.Slots, runtime.NumCPU()) }

func (c *Command) worker(conn *bus.Conn) *Worker {
	return &Worker{Conn: conn, Site: c.Site, Slots: c.slots(), Temp: c.Temp, Replicas: c.Replicas, AckWait: c.AckWait, Log: c.log(slog.LevelInfo)}
}

// localStore is the folder within --out for a batch without a server. --out also has everything important in it.
const localStore = ".batch"

// serve starts a server and a worker for a batch without --nats; end stops both.
func (c *Command) serve(ctx context.Context) (conn *bus.Conn, end func() error, err error) {
	store := filepath.Join(c.Out, localStore)
	if err := os.RemoveAll(store); err != nil { // from a batch that was killed
		return nil, nil, err
	}
	const most = 1 << 50 // bytes: the disk is the limit
	conn, err = bus.Connect(ctx, bus.Options{URL: bus.Embedded, Token: rand.Text(), Store: store, StoreMost: most, Prefix: c.Prefix, Site: c.Site, Patience: patience})
	if err != nil {
		return nil, nil, err
	}
	w := c.worker(conn)
	w.Log = c.log(slog.LevelError)
	working, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(working) }()
	return conn, func() error {
		stop()
		err := errors.Join(<-ended, conn.Close())
		return errors.Join(err, os.RemoveAll(store))
	}, nil
}
