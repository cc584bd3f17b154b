package bus

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/nats-server/v2/server"
)

// OnDisk reports whether the embedded server has the files of a JetStream stream in its folder. If a user deletes them, the server continues to write to
// unlinked files and confirms every message. OnDisk returns true for an external server, because it cannot check that disk.
func (c *Conn) OnDisk(stream string) bool {
	if c.server == nil {
		return true
	}
	store := c.server.StoreDir()
	accounts, err := os.ReadDir(store)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	for _, account := range accounts {
		if _, err := os.Stat(filepath.Join(store, account.Name(), "streams", stream, server.JetStreamMetaFile)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}
