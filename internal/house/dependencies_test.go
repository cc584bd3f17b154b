package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// lookedUp matches a row of the table of modules in docs/dependencies.md: the module and the version that was looked up.
var lookedUp = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (v[^ ]+) \\|")

// notLookedUp matches the list of modules without versions, which were not looked up.
var notLookedUp = regexp.MustCompile("\n## Modules not looked up by name\n\n(`[^#]+)\n")

// TestDependencies checks that the page names every module that the program links, in the linked version if it was looked up, and no other module.
func TestDependencies(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "\nLooked up on ")
	if _, err := time.Parse(time.DateOnly, after[:min(len(after), len(time.DateOnly))]); err != nil {
		t.Errorf("docs/dependencies.md does not say when it was looked up, as Looked up on 2026-11-23: %v", err)
	}
	named := map[string]string{}
	for _, row := range lookedUp.FindAllStringSubmatch(string(page), -1) {
		named[row[1]] = row[2]
	}
	unread := map[string]bool{}
	if list := notLookedUp.FindStringSubmatch(string(page)); list != nil {
		for _, module := range strings.Split(strings.Trim(strings.TrimSpace(list[1]), "`."), "`, `") {
			unread[module] = true
		}
	}
	for module, version := range linked(t) {
		if unread[module] {
			delete(unread, module)
			continue
		}
		if named[module] != version {
			t.Errorf("%s %s is linked, docs/dependencies.md has %q: look it up and put it there", module, version, named[module])
		}
		delete(named, module)
	}
	for module := range unread {
		named[module] = ""
	}
	for module := range named {
		t.Errorf("docs/dependencies.md names %s, which is not linked: remove it", module)
	}
}

// linked returns the version of every module that is linked into the program.
func linked(t *testing.T) map[string]string {
	t.Helper()
	command := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/driftscope")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	versions := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if module, version, found := strings.Cut(strings.TrimSpace(line), " "); found {
			versions[module] = version
		}
	}
	if len(versions) < 20 {
		t.Fatalf("go list found %d modules, expected all that are linked", len(versions))
	}
	return versions
}
