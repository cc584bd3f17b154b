package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"driftscope/internal/flow/config"
	"driftscope/internal/job/stream"
	"driftscope/internal/suite"
)

// TestPackagedService: the package's configuration is valid, the unit runs it, and systemd accepts the unit.
func TestPackagedService(t *testing.T) {
	const shipped, installed = "../../configs/package/driftscope.yaml", "/etc/driftscope/driftscope.yaml"
	cfg, err := config.Load(shipped)
	if err == nil {
		err = stream.Check(cfg)
	}
	if err != nil {
		t.Fatal(err)
	}
	const path = "../../configs/package/driftscope.service"
	unit, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, line, found := strings.Cut(string(unit), "ExecStart=/usr/bin/driftscope ")
	if !found {
		t.Fatal("the unit does not run /usr/bin/driftscope")
	}
	line, _, _ = strings.Cut(line, "\n")
	if !strings.Contains(line, installed) {
		t.Errorf("the unit runs %q, expected it to run %s", line, installed)
	}
	parses(t, strings.Fields(line))
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not there")
	}
	out, _ := exec.Command("systemd-analyze", "verify", path).CombinedOutput() // the exit status reports that the program is not installed here
	for complaint := range strings.Lines(string(out)) {
		if strings.Contains(complaint, "driftscope.service") && !strings.Contains(complaint, "is not executable") && !strings.Contains(complaint, "Command 'man") {
			t.Errorf("%s", complaint)
		}
	}
}

// TestFirstMinutes: the program's name alone prints the next steps, the manual page and the completions list every command of the help, and
// the demo tracks its film.
func TestFirstMinutes(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	said := func(args ...string) string {
		out, err := command(t, folder, args...).Output()
		if err != nil {
			t.Fatalf("driftscope %s: %v", strings.Join(args, " "), err)
		}
		return string(out)
	}
	if welcome := said(); !strings.Contains(welcome, "driftscope demo") || !strings.Contains(welcome, "driftscope doctor") {
		t.Errorf("driftscope alone says %q", welcome)
	}
	page, completions := said("man"), said("completion", "bash")
	for _, name := range []string{"run", "doctor", "stream add"} {
		if !strings.Contains(page, ".SS driftscope "+name) || !strings.Contains(completions, "/"+strings.ReplaceAll(name, " ", "/")) {
			t.Errorf("%s is not in the manual page and the completions", name)
		}
	}
	account := said("demo", "--once", "--frames", "12", "--dashboard", "127.0.0.1:0", "--out", "tracks.csv")
	if !strings.Contains(account, "tracked 12,") {
		t.Errorf("the demo says %q, expected 12 frames", account)
	}
	tracks, err := os.ReadFile(folder + "/tracks.csv")
	if err != nil || strings.Count(string(tracks), "\n") < 12*100 {
		t.Errorf("%d bytes of tracks (%v), expected hundreds of objects in each of 12 frames", len(tracks), err)
	}
}
