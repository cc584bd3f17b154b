package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }

// clean returns a machine whose checks read only files of the test.
func clean(t *testing.T) machine {
	return machine{devices: t.TempDir(), sys: t.TempDir(), proc: "/proc"}
}

// TestExamine: on a suitable machine no finding is bad, and every check has a finding.
func TestExamine(t *testing.T) {
	m := clean(t)
	m.folders = []folder{{filepath.Join(t.TempDir(), "not", "there"), "results"}}
	m.ports = []port{{address: "127.0.0.1:0", use: "a test", grade: Bad}}
	r := examine(t.Context(), m)
	said := map[string]bool{}
	for _, f := range r.Findings {
		said[f.Check] = true
		if f.Grade == Bad {
			t.Errorf("bad: %+v", f)
		}
	}
	if !r.Good {
		t.Error("the machine is not good")
	}
	for _, check := range []string{"cpu", "codecs", "cameras", "ports", "folders", "dashboard"} {
		if !said[check] {
			t.Errorf("nothing is said of %s", check)
		}
	}
}

// TestPort: the finding names the process that uses a port, and a remedy.
func TestPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := port{address: l.Addr().String(), use: "a test", grade: Bad, mend: "another"}
	f := p.look(t.Context(), "/proc")
	if f.Grade != Bad || f.Mend != "another" || !strings.Contains(f.Found, "process "+strconv.Itoa(os.Getpid())) {
		t.Errorf("found %+v, expected this process to be named", f)
	}
	if f := p.look(t.Context(), t.TempDir()); !strings.Contains(f.Found, "ss -ltnp") {
		t.Errorf("found %+v, expected the command that shows who has the port", f)
	}
	p.address = "192.0.2.1:4222" // the address of no machine (RFC 5737)
	if f := p.look(t.Context(), "/proc"); f.Grade != Bad || !strings.Contains(f.Found, "cannot be opened") {
		t.Errorf("found %+v", f)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]Grade{dir: Good, filepath.Join(dir, "a", "b"): Good, file: Bad, filepath.Join(file, "below"): Bad} {
		f := folder{path, "a test"}.look()
		small := want == Good && f.Grade == Note // a disk with little room
		if f.Grade != want && !small {
			t.Errorf("%s: found %+v, expected it to be %s", path, f, want)
		}
		if f.Grade == Bad && !strings.Contains(f.Mend, "chown") {
			t.Errorf("%s: %+v says no command", path, f)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("found %v (%v) in the folder, expected what was there", left, err)
	}
}

// TestVideoDevices: a device that can be opened is good and has its name; a device that cannot be opened is bad.
func TestVideoDevices(t *testing.T) {
	m := clean(t)
	if found := videoDevices(m); len(found) != 1 || found[0].Grade != Note {
		t.Errorf("without a camera: %+v", found)
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(m.sys, "video0"), 0o755), os.WriteFile(filepath.Join(m.sys, "video0", "name"), []byte("Webcam\n"), 0o600),
		os.WriteFile(filepath.Join(m.devices, "video0"), nil, 0o600), os.Mkdir(filepath.Join(m.devices, "video1"), 0o755)); err != nil {
		t.Fatal(err)
	}
	found := videoDevices(m)
	if len(found) != 2 || found[0].Grade != Good || !strings.Contains(found[0].Found, "Webcam") || found[1].Grade != Bad || found[1].Mend == "" {
		t.Errorf("found %+v", found)
	}
	if os.Geteuid() == 0 {
		return // root may open every file
	}
	if err := os.Chmod(filepath.Join(m.devices, "video0"), 0); err != nil {
		t.Fatal(err)
	}
	if f := videoDevice(m, filepath.Join(m.devices, "video0")); f.Grade != Bad || !strings.Contains(f.Mend, "sudo") {
		t.Errorf("found %+v", f)
	}
}

func TestKindOfCamera(t *testing.T) {
	if f := kindOfCamera("camera: OpenCV's v4l/v4l2: yes"); f.Grade != Good {
		t.Errorf("found %+v", f)
	}
	if f := kindOfCamera("genicam: no, Aravis' GStreamer source is missing"); f.Grade != Note || !strings.Contains(f.Mend, "apt install") {
		t.Errorf("found %+v", f)
	}
}

func TestSocketBuffer(t *testing.T) {
	proc := t.TempDir()
	if f := socketBuffer(proc); f.Grade != Good {
		t.Errorf("where it is not known: %+v", f)
	}
	path := filepath.Join(proc, "sys/net/core/rmem_max")
	for bytes, want := range map[int]Grade{212992: Note, leastBuffer: Good} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, fmt.Appendln(nil, bytes), 0o600)); err != nil {
			t.Fatal(err)
		}
		if f := socketBuffer(proc); f.Grade != want {
			t.Errorf("%d bytes: %+v, expected it to be %s", bytes, f, want)
		}
	}
}

func TestInstructions(t *testing.T) {
	if f := instructions("amd64", false); f.Grade != Note || f.Mend == "" {
		t.Errorf("without vector instructions: %+v", f)
	}
	if f := instructions("arm64", false); f.Grade != Good {
		t.Errorf("arm64: %+v", f)
	}
}

// TestPrint: a bad finding has its command and its page below it, and JSON has the same content.
func TestPrint(t *testing.T) {
	r := Report{Findings: []Finding{{Check: "ports", Grade: Bad, Found: "4222 is taken", Mend: "end it", Page: "docs/howto/cameras.md"}}}
	var lines, object bytes.Buffer
	if err := errors.Join((&Command{}).print(&lines, r), (&Command{JSON: true}).print(&object, r)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"bad ", "4222 is taken", "-> end it", "cameras.md"} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("the lines lack %q:\n%s", want, &lines)
		}
	}
	if strings.Contains(lines.String(), "everything is ready") {
		t.Error("a bad machine is called good")
	}
	var back Report
	if err := json.Unmarshal(object.Bytes(), &back); err != nil || len(back.Findings) != 1 || back.Findings[0] != r.Findings[0] || back.Good {
		t.Errorf("%v: %s", err, &object)
	}
}
