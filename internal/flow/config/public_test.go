package config

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// readOptions returns c with the options of its components, but without their positions in the file.
func readOptions(c Config) []any {
	var components []any
	for _, list := range [][]Component{{c.Source}, c.Preprocess, c.Sinks, c.Triggers} {
		for _, one := range list {
			components = append(components, one.Kind, one.Options())
		}
		components = append(components, "end")
	}
	c.Source, c.Preprocess, c.Sinks, c.Triggers = Component{}, nil, nil, nil
	if len(c.Online.Forecast) == 0 {
		c.Online.Forecast = nil
	}
	return append(components, c)
}

// TestYAML: Parse restores every configuration that YAML writes, for the shipped configurations and the test files.
func TestYAML(t *testing.T) {
	good, err := filepath.Glob("testdata/*.good.yaml")
	if err != nil || len(good) < 5 {
		t.Fatal(good, err)
	}
	shipped, err := filepath.Glob("../../../configs/*.yaml")
	if err != nil || len(shipped) < 3 {
		t.Fatal(shipped, err)
	}
	for _, file := range append(good, shipped...) {
		c, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("kv", text)
		if err != nil {
			t.Errorf("%s: %v\n%s", file, err, text)
			continue
		}
		if !reflect.DeepEqual(readOptions(c), readOptions(again)) {
			t.Errorf("%s: read again as\n%+v, expected\n%+v\nfrom\n%s", file, readOptions(again), readOptions(c), text)
		}
		one, err := c.Digest()
		two, err2 := again.Digest()
		if err != nil || err2 != nil || one != two {
			t.Errorf("%s: digest %s, %v, expected %s, %v", file, two, err2, one, err)
		}
	}
}

// TestPublic: Public removes all secrets and nothing else, and Reveal restores them.
func TestPublic(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	for name, source := range map[string]string{
		"address":  `{video: {path: "rtsp://admin:` + secret + `@scope:554/live", fps: 10}}`,
		"quote":    `{video: {path: "rtsp://admin:it'` + secret + `@scope:554/live", fps: 10}}`,
		"at":       `{video: {path: "rtsp://admin:p@` + secret + `@scope:554/live", fps: 10}}`,
		"within":   `{gst: {pipeline: "rtspsrc location=rtsp://admin:it's@` + secret + `@scope ! decodebin ! videoconvert"}}`,
		"token":    `{nats: {subject: lab.cam, url: "nats://` + secret + `@scope:4222", credentials: /etc/lab.creds}}`,
		"pipeline": `{gst: {pipeline: 'rtspsrc location=rtsp://scope user-id=admin user-pw=` + secret + ` ! decodebin ! videoconvert'}}`,
		"quoted":   `{gst: {pipeline: 'rtspsrc location=rtsp://scope password = "` + secret + `" ! decodebin'}}`,
		"query":    `{video: {path: "http://scope/video?user=admin&pwd=` + secret + `&size=3"}}`,
		"option":   `{gige: {camera: "7", password: ` + secret + `, list: [{api_key: ` + secret + `}]}}`,
	} {
		c, err := Parse(name, []byte("source: "+source+"\nnats: {url: 'nats://rig:"+secret+"@a:4222,nats://"+secret+"@b:4222', token: "+secret+
			", creds: /etc/rig.creds}\ndashboard: {token: "+secret+"}\nsinks: [{elsewhere: {url: 'https://x:"+secret+"@y/z'}}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		public, err := c.Public()
		if err != nil {
			t.Fatal(err)
		}
		text, err := public.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "hunter2") {
			t.Errorf("%s: a secret is left in\n%s", name, text)
		}
		for _, want := range []string{"creds: /etc/rig.creds", "nats://a:4222,nats://b:4222", "https://y/z"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		again, err := Parse("kv", text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		if again, err = again.Reveal(c); err != nil || !reflect.DeepEqual(readOptions(again), readOptions(c)) {
			t.Errorf("%s: revealed as\n%+v, %v, expected\n%+v", name, readOptions(again), err, readOptions(c))
		}
	}
	if kept := hidden("appsrc name=tokeniser ! x"); kept != "appsrc name=tokeniser ! x" {
		t.Errorf("found %q", kept)
	}
}

// TestMistyped: the error about a malformed address shows no secrets, but still shows the mistake.
func TestMistyped(t *testing.T) {
	for address, want := range map[string]string{
		"nat://viewer:hunter2@scope:4222":                 "nat://xxxxx@scope:4222",
		"nats:viewer:hunter2@scope:4222":                  "xxxxx@scope:4222",
		"viewer:hunter2@scope":                            "xxxxx@scope",
		"nats://viewer:p/hunter2@x@scope":                 "nats://xxxxx@scope",
		"nats://viewer:p%hunter2@scope":                   "nats://xxxxx@scope",
		"nat://hunter2@a,nats://viewer:hunter2@b:4222":    "nat://xxxxx@b:4222",
		"http://scope:8080/?user=viewer&password=hunter2": "http://scope:8080/?user=viewer&password=xxxxx",
	} {
		for _, key := range []string{"url", "websocket"} {
			n := Default().NATS
			n.URL = "nats://scope"
			if key == "url" {
				n.URL = address
			} else {
				n.WebSocket = address
			}
			err := errors.Join(n.validate()...)
			if err == nil || !strings.Contains(err.Error(), "nats."+key+`: found "`+want+`"`) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s %s: found %v, expected %s", key, address, err, want)
			}
		}
	}
}
