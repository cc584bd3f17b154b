package bus

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
)

// mosquitto returns the path of a program of mosquitto-clients.
func mosquitto(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv(suite.CameraRequired) != "" {
			t.Fatalf("%s is not installed: ./internal/setup/install.sh tests installs it", name)
		}
		t.Skipf("%s is not installed: ./internal/setup/install.sh tests installs it", name)
	}
	return path
}

// MQTT clients receive published messages, with slashes for the dots of the subject, and their messages arrive on the bus. If there is a token, only clients
// with it may connect.
func TestMQTT(t *testing.T) {
	subscribe, publish := mosquitto(t, "mosquitto_sub"), mosquitto(t, "mosquitto_pub")
	for _, token := range []string{"", "a secret of the lab"} {
		port := bustest.FreePort(t)
		c := connect(t, Options{URL: Embedded, Store: t.TempDir(), Token: token, Pages: PagesSteer, MQTT: fmt.Sprintf("127.0.0.1:%d", port)})
		args := []string{"-h", "127.0.0.1", "-p", fmt.Sprint(port)}
		if token != "" {
			args = append(args, "-u", "camera", "-P", token)
		}
		listener := exec.CommandContext(t.Context(), subscribe, append(args, "-t", "driftscope/local/bead/#", "-v", "-C", "1", "-W", "20")...)
		out, err := listener.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := listener.Start(); err != nil {
			t.Fatal(err)
		}
		heard, ended := make(chan string, 1), make(chan struct{})
		go func() {
			line, _ := bufio.NewReader(out).ReadString('\n')
			heard <- line
			close(ended)
		}()
		for done := false; !done; { // mosquitto_sub does not report that it has subscribed
			if err := c.NATS().Publish("driftscope.local.bead.trigger", []byte(`{"name":"edge","on":true}`)); err != nil {
				t.Fatal(err)
			}
			select {
			case <-ended:
				done = true
			case <-time.After(50 * time.Millisecond):
			}
		}
		if line := <-heard; line != `driftscope/local/bead/trigger {"name":"edge","on":true}`+"\n" {
			t.Errorf("token %q: mosquitto_sub heard %q", token, line)
		}
		if err := listener.Wait(); err != nil {
			t.Errorf("token %q: mosquitto_sub: %v", token, err)
		}
		back, err := c.NATS().SubscribeSync("stage.moved")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.NATS().Flush(); err != nil { // otherwise mosquitto_pub may publish first
			t.Fatal(err)
		}
		if text, err := exec.CommandContext(t.Context(), publish, append(args, "-t", "stage/moved", "-m", "x")...).CombinedOutput(); err != nil {
			t.Fatalf("mosquitto_pub: %v: %s", err, text)
		}
		if m, err := back.NextMsg(5 * time.Second); err != nil || string(m.Data) != "x" {
			t.Errorf("token %q: found %v, %v", token, m, err)
		}
		if token == "" {
			continue
		}
		for _, wrong := range [][]string{nil, {"-u", "camera", "-P", "guessed"}} {
			if text, err := exec.CommandContext(t.Context(), publish, append(append([]string(nil), args[:4]...), append(wrong, "-t", "stage/moved", "-m", "x")...)...).CombinedOutput(); err == nil {
				t.Errorf("with %v a client is let in: %s", wrong, text)
			}
		}
	}
}

// A listener is refused before anything listens if other machines can reach it, if it has no folder for sessions, or if it belongs to an external server.
func TestMQTTRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	store := t.TempDir()
	for want, o := range map[string]Options{
		"which other machines can reach: give nats.token": {URL: Embedded, MQTT: "0.0.0.0:1883", Store: store},
		"give nats.store":                                {URL: Embedded, MQTT: "127.0.0.1:1883"},
		"expected host:port, such as":                    {URL: Embedded, MQTT: ":1883", Store: store},
		`found "127.0.0.1:0"`:                            {URL: Embedded, MQTT: "127.0.0.1:0", Store: store},
		"only the embedded server uses it: leave it out": {URL: "nats://127.0.0.1:1", MQTT: "127.0.0.1:1883"},
		"is in use: give another port":                   {URL: Embedded, MQTT: taken.Addr().String(), Store: store},
	} {
		c, err := Connect(t.Context(), o)
		if err == nil {
			c.Close()
			t.Errorf("%+v: connected", o)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}
