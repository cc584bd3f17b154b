package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// starting bounds the time until a server accepts connections on a busy machine.
const starting = 30 * time.Second

// serve runs a nats-server from a configuration file until ctx ends, so that none must be installed.
func serve(ctx context.Context, file string) error {
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		return err
	}
	o.NoSigs = true
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(starting) {
		return fmt.Errorf("%s: the server takes no connections after %v: look at its log", file, starting)
	}
	<-ctx.Done()
	return nil
}
