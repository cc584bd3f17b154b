package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
)

// parses checks that the program accepts a command line.
func parses(t *testing.T, args []string) {
	t.Helper()
	parser, err := kong.New(&commands{}, kong.Name("driftscope"), kong.Help(help))
	if err == nil {
		_, err = parser.Parse(args)
	}
	if err != nil {
		t.Errorf("driftscope %s: %v", strings.Join(args, " "), err)
	}
}

// made lists the files that a user makes in addition to the shipped ones, according to docs/howto/deployment.md.
var made = []string{"./certs", "./certs/ca.pem", "./admin.json", "./worker.json", "server.env"}

// TestSiteCompose: the compose file is well formed, mounts and builds from existing files, and has valid commands of the program. The test does not run it,
// because test machines have no container engine.
func TestSiteCompose(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Image       string
			Command     []string
			Environment map[string]string
			EnvFile     string `yaml:"env_file"`
			Volumes     []string
			Build       *struct{ Context, Dockerfile string }
			DependsOn   []string `yaml:"depends_on"`
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal([]byte(shippedSite(t, "compose.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(file.Services)); !slices.Equal(names, []string{"init", "n1", "n2", "n3", "worker-1", "worker-2"}) {
		t.Fatalf("services are %v", names)
	}
	variables := regexp.MustCompile(`\$([A-Z_]*NATS[A-Z_]*)`).FindAllStringSubmatch(shippedSite(t, "server.conf"), -1)
	for name, s := range file.Services {
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			_, volume := file.Volumes[from]
			_, err := os.Stat(filepath.Join("../../configs/site", from))
			if !volume && !slices.Contains(made, from) && err != nil {
				t.Errorf("%s mounts %s, which is neither shipped nor made: %v", name, from, err)
			}
		}
		for _, on := range s.DependsOn {
			if _, there := file.Services[on]; !there {
				t.Errorf("%s depends on %s, which there is not", name, on)
			}
		}
		if s.Build != nil {
			if _, err := os.Stat(filepath.Join("../../configs/site", s.Build.Context, s.Build.Dockerfile)); err != nil {
				t.Errorf("%s is built from %v", name, err)
			}
			parses(t, s.Command)
			continue
		}
		if s.EnvFile != "server.env" {
			t.Errorf("%s has its passwords from %q", name, s.EnvFile)
		}
		for _, v := range variables {
			if s.Environment[v[1]] == "" && v[1] != "NATS_ROUTES" { // this one is in server.env
				t.Errorf("%s does not say %s", name, v[1])
			}
		}
	}
}

// TestSiteUnits: the units are well formed, as far as systemd can check without the programs, and the worker's command is valid.
func TestSiteUnits(t *testing.T) {
	const work = "ExecStart=/usr/local/bin/driftscope "
	_, line, found := strings.Cut(shippedSite(t, "driftscope-work.service"), work)
	if !found {
		t.Fatalf("the worker's unit is without %s", work)
	}
	line, _, _ = strings.Cut(line, "\n")
	parses(t, strings.Fields(strings.ReplaceAll(line, "%S", "/var/lib")))
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not there")
	}
	for _, unit := range []string{"nats-server", "driftscope-work"} {
		// Its status reports that the programs are not installed here. Its messages about lines of the unit name the unit.
		out, _ := exec.Command("systemd-analyze", "verify", "../../configs/site/"+unit+".service").CombinedOutput()
		for complaint := range strings.Lines(string(out)) {
			if strings.Contains(complaint, unit+".service") && !strings.Contains(complaint, "is not executable") {
				t.Errorf("%s", complaint)
			}
		}
	}
}
