package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/internal/flow/bus"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
	"driftscope/sinks/message"
)

// modelCmd manages models on a NATS server, with one field per action.
type modelCmd struct {
	Put    putModelCmd    `cmd:"" help:"Put a model on the server; replaces a model of the same name."`
	List   listModelsCmd  `cmd:"" help:"List the models on the server."`
	Get    getModelCmd    `cmd:"" help:"Fetch a model into a file."`
	Remove removeModelCmd `cmd:"" help:"Remove a model."`
}

// modelServer selects the server and the owner of the models.
type modelServer struct {
	NATS   string `name:"nats" default:"nats://127.0.0.1:4222" help:"NATS server that stores the models, or context:NAME." placeholder:"URL"`
	Creds  string `help:"Credentials for that server." placeholder:"FILE.creds"`
	CA     string `name:"ca" help:"Certificate authority of the server." placeholder:"FILE.pem"`
	Prefix string `default:"driftscope" help:"First token of the NATS subjects of the runs that use the models."`
	Site   string `default:"local" help:"Second token of these subjects."`
}

// use calls do with the models on that server.
func (c *modelServer) use(ctx context.Context, do func(*bus.Models) error) error {
	if c.NATS == bus.Embedded {
		return console.Usage(errors.New("--nats: embedded is the server inside a run: give its address, nats://127.0.0.1:4222 unless the run printed another"))
	}
	conn, err := bus.Connect(ctx, bus.Options{URL: c.NATS, Credentials: c.Creds, CA: c.CA, Name: "driftscope model", Prefix: c.Prefix, Site: c.Site})
	if errors.Is(err, bus.ErrNoServer) {
		return fmt.Errorf("%s: %w: start a server or driftscope run, or give --nats", bus.Redacted(c.NATS), bus.ErrNoServer)
	}
	if err != nil {
		return console.Usage(err)
	}
	models, err := conn.Models()
	if err == nil {
		err = do(models)
	}
	if errors.Is(err, bus.ErrName) {
		err = console.Usage(err)
	}
	return errors.Join(err, conn.Close())
}

// putModelCmd stores a model.
type putModelCmd struct {
	File     string `arg:"" help:"Model, an .onnx file from pretrain."`
	Name     string `help:"Name on the server (default: the file's name)." placeholder:"NAME"`
	Replicas int    `default:"1" help:"Number of replicas of all models in a cluster, fixed by the first stored model: 3 for three servers."`
	modelServer
}

// Run checks the model as a run would, and sends it.
func (c *putModelCmd) Run(ctx context.Context) error {
	if c.Name == "" {
		c.Name = strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File))
	}
	data, err := system.ReadBounded(c.File, card.MaxFile)
	if err != nil {
		return console.Usage(fmt.Errorf("model: %w: give an .onnx file that pretrain wrote", err))
	}
	m, err := infer.Parse(c.File, data)
	if err != nil {
		return console.Usage(err)
	}
	return c.use(ctx, func(models *bus.Models) error {
		models.Replicas = c.Replicas
		if err := models.Put(ctx, c.Name, aboutModel(&m.Card), data); err != nil {
			return fmt.Errorf("model %s: %w", c.Name, err)
		}
		fmt.Printf("%s: %s, %d bytes, SHA-256 %s\n", c.Name, aboutModel(&m.Card), len(data), m.Digest)
		return nil
	})
}

// aboutModel returns a model's description for a list.
func aboutModel(c *card.Card) string {
	return fmt.Sprintf("%d latents of %dx%d pixels", c.Latent, c.Input.Width, c.Input.Height)
}

// listModelsCmd lists models.
type listModelsCmd struct{ modelServer }

// Run prints one line per model.
func (c *listModelsCmd) Run(ctx context.Context) error {
	return c.use(ctx, func(models *bus.Models) error {
		kept, err := models.List(ctx)
		if err != nil {
			return err
		}
		for _, m := range kept {
			fmt.Printf("%-20s %s  %9d bytes  %s  %s\n", m.Name, m.Put.Local().Format("2006-01-02 15:04:05"), m.Size, m.SHA256, message.Printable(m.About))
		}
		if len(kept) == 0 {
			fmt.Println("none: driftscope model put FILE.onnx stores one")
		}
		return nil
	})
}

// getModelCmd fetches a model.
type getModelCmd struct {
	Name string `arg:"" help:"Name on the server."`
	Out  string `help:"New file (default: NAME.onnx)." placeholder:"FILE.onnx"`
	modelServer
}

// Run verifies the whole model and then writes the file. It never overwrites a file.
func (c *getModelCmd) Run(ctx context.Context) error {
	if c.Out == "" {
		c.Out = c.Name + ".onnx"
	}
	if _, err := os.Lstat(c.Out); !errors.Is(err, fs.ErrNotExist) {
		return console.Usage(fmt.Errorf("%s: exists already or cannot be created: give another --out", c.Out))
	}
	return c.use(ctx, func(models *bus.Models) error {
		data, err := models.Get(ctx, c.Name, card.MaxFile)
		if err != nil {
			return fmt.Errorf("model %s: %w", c.Name, err)
		}
		m, err := infer.Parse(c.Name, data)
		if err != nil {
			return err
		}
		if err := console.WriteFile(c.Out, data); err != nil {
			return err
		}
		fmt.Printf("%s: %s, SHA-256 %s\n", c.Out, aboutModel(&m.Card), m.Digest)
		return nil
	})
}

// removeModelCmd removes a model.
type removeModelCmd struct {
	Name string `arg:"" help:"Name on the server."`
	modelServer
}

// Run removes the model. Runs that use it continue.
func (c *removeModelCmd) Run(ctx context.Context) error {
	return c.use(ctx, func(models *bus.Models) error {
		if err := models.Remove(ctx, c.Name); err != nil {
			return fmt.Errorf("model %s: %w", c.Name, err)
		}
		return nil
	})
}
