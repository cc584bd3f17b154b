package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
)

// accessRun tracks frames stored in JetStream; each %s is for a connection's credentials.
const accessRun = "stream: bead\nsource: {nats: {subject: camera.bead, url: %q%s}}\nframes: {durable: true}\nmodel: embedded:molecule\nnats: {url: %q%s, durable: true, store: store}\n"

// accessFrames is the number of frames for a publisher, at 50 per second.
const accessFrames = 300

// tracks checks that every frame of a publisher is stored and tracked once, in order, and ends both processes.
func (r *trial) tracks(p *trial, url string, access ...nats.Option) {
	r.t.Helper()
	if err := p.c.Wait(); err != nil || !strings.Contains(p.out.String(), fmt.Sprintf("kept %d frames", accessFrames)) {
		r.t.Errorf("published: %v\n%s%s", err, p.out.String(), p.log.String())
	}
	r.until("every frame to be tracked", func() bool {
		runs := keptRuns(r.t, url, access...)
		return len(runs) == 1 && len(runs[0].latents) >= accessFrames
	})
	account := r.end()
	if !strings.Contains(account, fmt.Sprintf("frames in %d, tracked %d, dropped 0", accessFrames, accessFrames)) {
		r.t.Errorf("not every frame was tracked once:\n%s%s", account, r.log.String())
	}
	for i, k := range keptRuns(r.t, url, access...) {
		k.check(r.t, i, nil, true)
	}
}

// TestOperator: users signed by an operator run, publish and watch. Credentials that expire lose no data if they are renewed; a refused user gets an error.
func TestOperator(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	server, operator := bustest.StartOperated(t, fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir()))
	folder := t.TempDir()
	creds := func(name string, change func(*jwt.UserClaims)) string {
		path := filepath.Join(folder, name+".creds")
		operator.Credentials(path, change)
		return path
	}
	anything := func(*jwt.UserClaims) {}
	brief := func(long time.Duration) func(*jwt.UserClaims) {
		return func(c *jwt.UserClaims) { c.Expires = time.Now().Add(long).Unix() }
	}
	rig, reader := creds("rig", anything), creds("reader", brief(15*time.Second)) // a busy machine takes some seconds to start a run
	viewer := creds("viewer", func(c *jwt.UserClaims) {
		c.Permissions.Sub.Allow.Add("driftscope.>", "_INBOX.>")
		c.Permissions.Pub.Deny.Add(">")
	})
	expired := creds("expired", func(c *jwt.UserClaims) { c.Expires = time.Now().Add(-time.Minute).Unix() })
	_, others := bustest.StartOperated(t, "")
	stranger := filepath.Join(folder, "stranger.creds")
	others.Credentials(stranger, anything)

	written(t, folder, map[string]string{"bead.yaml": fmt.Sprintf(accessRun, server.URL(), fmt.Sprintf(", credentials: %q", reader), server.URL(), fmt.Sprintf(", creds: %q", rig))})
	run := begin(t, folder, "run", "bead.yaml")
	run.until("the dashboard", func() bool { return run.says("dashboard at") })
	watch := begin(t, folder, "watch", "--json", "--nats", server.URL(), "--creds", viewer)
	film := fmt.Sprintf("sim:molecule?frames=%d&seed=1&realtime=false", accessFrames)
	camera := creds("camera", brief(4*time.Second))
	publish := begin(t, folder, "publish", film, "--subject", "camera.bead", "--url", server.URL(), "--creds", camera, "--durable")
	publish.until("the credentials to expire", func() bool { return publish.says("authorization violation") })
	run.until("the credentials of its frames to expire", func() bool { return run.says("frames=camera.bead") })
	time.Sleep(time.Second) // nothing is published during this time
	creds("camera", anything)
	creds("reader", anything)
	run.tracks(publish, server.URL(), nats.UserCredentials(rig))
	if out := watch.end(); !strings.Contains(out, `"kind":"latent"`) {
		t.Errorf("a viewer saw %.500s\n%s", out, watch.log.String())
	}
	for name, c := range map[string]struct {
		says string
		args []string
	}{
		"expired":        {"uthorization", []string{"publish", film, "--subject", "camera.bead", "--url", server.URL(), "--creds", expired, "--durable"}},
		"stranger":       {"uthorization", []string{"publish", film, "--subject", "camera.bead", "--url", server.URL(), "--creds", stranger}},
		"nobody":         {"uthorization", []string{"publish", film, "--subject", "camera.bead", "--url", server.URL()}},
		"viewer":         {"allowed its API", []string{"publish", film, "--subject", "camera.bead", "--url", server.URL(), "--creds", viewer, "--durable"}},
		"watch, nobody":  {"uthorization", []string{"watch", "--nats", server.URL()}},
		"watch, expired": {"uthorization", []string{"watch", "--nats", server.URL(), "--creds", expired}},
	} {
		o := drive(t, folder, c.args...)
		t.Logf("%s: status %d: %s", name, o.status, strings.TrimSpace(o.errors))
		if o.status != 1 || !strings.Contains(o.errors, c.says) {
			t.Errorf("%s: status %d, expected 1 and %q: %s", name, o.status, c.says, o.errors)
		}
	}
}

// TestNKeys: users identified by a key run, publish and watch, with the key file or a context that names it. The server refuses another key.
func TestNKeys(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", folder)
	contexts := filepath.Join(folder, "nats", "context")
	if err := os.MkdirAll(contexts, 0o700); err != nil {
		t.Fatal(err)
	}
	public := map[string]string{}
	for _, name := range []string{"rig", "camera", "viewer", "stranger"} {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		seed, err := pair.Seed()
		if err == nil {
			public[name], err = pair.PublicKey()
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name+".nk"), seed, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	server := bustest.Start(t, fmt.Sprintf(`jetstream {store_dir: %q}
authorization {users = [{nkey: %s}, {nkey: %s}, {nkey: %s, permissions: {publish: {deny: ">"}, subscribe: ["driftscope.>"]}}]}`, t.TempDir(), public["rig"], public["camera"], public["viewer"]))
	for name := range public {
		text, err := json.Marshal(map[string]string{"url": server.URL(), "nkey": filepath.Join(folder, name+".nk")})
		if err == nil {
			err = os.WriteFile(filepath.Join(contexts, name+".json"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	written(t, folder, map[string]string{"bead.yaml": fmt.Sprintf(accessRun, "context:camera", "", server.URL(), fmt.Sprintf(", nkey: %q", filepath.Join(folder, "rig.nk")))})
	run := begin(t, folder, "run", "bead.yaml")
	run.until("the dashboard", func() bool { return run.says("dashboard at") })
	watch := begin(t, folder, "watch", "--json", "--nats", "context:viewer")
	film := fmt.Sprintf("sim:molecule?frames=%d&seed=1&realtime=false", accessFrames)
	publish := begin(t, folder, "publish", film, "--subject", "camera.bead", "--url", "context:camera", "--durable")
	rig, err := nats.NkeyOptionFromSeed(filepath.Join(folder, "rig.nk"))
	if err != nil {
		t.Fatal(err)
	}
	run.tracks(publish, server.URL(), rig)
	if out := watch.end(); !strings.Contains(out, `"kind":"latent"`) {
		t.Errorf("a viewer saw %.500s\n%s", out, watch.log.String())
	}
	for says, args := range map[string][]string{
		"uthorization":    {"publish", film, "--subject", "camera.bead", "--url", "context:stranger"},
		"allowed its API": {"publish", film, "--subject", "camera.bead", "--url", "context:viewer", "--durable"},
	} {
		if o := drive(t, folder, args...); o.status != 1 || !strings.Contains(o.errors, says) {
			t.Errorf("status %d, expected 1 and %q: %s", o.status, says, o.errors)
		}
	}
}
