package bustest

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// Shipped runs a server with configs/nats-server.conf on free ports, and returns the credentials of each of its users.
func Shipped(t *testing.T) (as func(user string) string) {
	t.Helper()
	const name = "configs/nats-server.conf"
	shipped, err := os.ReadFile(name)
	for up := "../"; errors.Is(err, os.ErrNotExist) && len(up) < 30; up += "../" { // a test runs in its package's folder
		shipped, err = os.ReadFile(up + name)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"DRIFTSCOPE", "CAMERA", "VIEWER", "OPERATOR", "READER", "MODELS", "POOL"} {
		t.Setenv(user+"_PASSWORD", "hunter2")
	}
	s := Start(t, strings.NewReplacer(`"./nats"`, `"`+t.TempDir()+`"`, "127.0.0.1:8080", "127.0.0.1:-1", "127.0.0.1:4222", "127.0.0.1:-1").Replace(string(shipped)))
	return func(user string) string {
		return "nats://" + user + ":hunter2@" + strings.TrimPrefix(s.URL(), "nats://")
	}
}
