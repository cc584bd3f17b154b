package house

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// floorsFile lists the achieved figures, with their floors.
const floorsFile = "cmd/driftlab/internal/floors/floors.txt"

// formerFloorsFile is the earlier path of floorsFile.
const formerFloorsFile = "internal/floors/floors.txt"

// bound is a floor: a relation, >= or <=, and its number.
type bound struct {
	relation string
	value    float64
}

// TestFloorsOnlyRise: no floor is lower than in an earlier commit, and none is missing, unless a page of docs/decisions names the figure with its present
// floor. In a shallow clone only the available commits count.
func TestFloorsOnlyRise(t *testing.T) { onlyBetter(t, floorsFile, formerFloorsFile) }

// onlyBetter compares the bounds in a file with all bounds in its history, also under its former path.
func onlyBetter(t *testing.T, file string, former ...string) {
	t.Helper()
	places := append([]string{file}, former...)
	history, err := exec.Command("git", append([]string{"-C", root, "log", "--format=%H", "--"}, places...)...).Output()
	if err != nil {
		t.Skip("not a checkout: what the bounds were is not known")
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs/decisions/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var decisions strings.Builder
	for _, path := range pages {
		decisions.WriteString(page(t, "", path))
	}
	now := floorsIn(page(t, root, file))
	for commit := range strings.Lines(string(history)) {
		commit = strings.TrimSpace(commit)
		for _, place := range places {
			text, err := exec.Command("git", "-C", root, "show", commit+":"+place).Output()
			if err != nil {
				continue // the file did not exist
			}
			for _, what := range lowered(floorsIn(string(text)), now, decisions.String()) {
				t.Errorf("%s: %s since %.12s: put it back, or write a page in docs/decisions that gives the reason and has these words in backquotes", file, what, commit)
			}
		}
	}
}

// floorsIn reads the floors of a file.
func floorsIn(text string) map[string]bound {
	floors := map[string]bound{}
	for line := range strings.Lines(text) {
		var name string
		var b bound
		if _, err := fmt.Sscan(line, &name, &b.relation, &b.value); err == nil && !strings.HasPrefix(name, "#") {
			floors[name] = b
		}
	}
	return floors
}

// lowered returns the floors that have been lowered, in the form in which a decision must name them.
func lowered(was, now map[string]bound, decisions string) (found []string) {
	for name, before := range was {
		after, there := now[name]
		what := fmt.Sprintf("%s removed", name)
		if there {
			what = fmt.Sprintf("%s %s %g", name, after.relation, after.value)
		}
		lower := !there || after.relation != before.relation || after.relation == ">=" && after.value < before.value || after.relation == "<=" && after.value > before.value
		if lower && !strings.Contains(decisions, "`"+what+"`") {
			found = append(found, what)
		}
	}
	return found
}

// TestLowered: lowered finds a floor that falls, a ceiling that rises, a bound whose direction changes and a bound that was removed, unless a decision names
// it.
func TestLowered(t *testing.T) {
	was := floorsIn("# a comment >= 3\n\npath >= 0.5  what it is\nmemory <= 190 MiB\n")
	if len(was) != 2 || was["path"] != (bound{">=", 0.5}) || was["memory"] != (bound{"<=", 190}) {
		t.Fatalf("found %v", was)
	}
	for _, c := range []struct{ now, decisions, want string }{
		{"path >= 0.5\nmemory <= 190", "", ""},
		{"path >= 0.6\nmemory <= 150\nmore >= 1", "", ""},
		{"path >= 0.4\nmemory <= 190", "", "path >= 0.4"},
		{"path >= 0.4\nmemory <= 190", "now `path >= 0.4`, since", ""},
		{"path >= 0.3\nmemory <= 190", "now `path >= 0.4`, since", "path >= 0.3"},
		{"path >= 0.5\nmemory <= 200", "", "memory <= 200"},
		{"path <= 0.5\nmemory <= 190", "", "path <= 0.5"},
		{"memory <= 190", "", "path removed"},
		{"memory <= 190", "`path removed`", ""},
	} {
		if got := strings.Join(lowered(was, floorsIn(c.now), c.decisions), ", "); got != c.want {
			t.Errorf("%q, %q: found %q, expected %q", c.now, c.decisions, got, c.want)
		}
	}
}
