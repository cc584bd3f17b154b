package house

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// measured lists, for each command, the packages that determine its figures: the packages in the list that are in the import graph of the given package. A name
// that ends in /... includes all packages below.
var measured = map[string]struct {
	graph string
	list  []string
}{
	"bench cluster":       {"cmd/driftlab/internal/bench/cluster", []string{"internal/site", "internal/flow/store"}},
	"bench frames":        {"cmd/driftlab/internal/bench/frames", framePath},
	"bench linear":        {"cmd/driftlab/internal/bench/learning", []string{"infer/sdevae/..."}},
	"bench loop":          {"cmd/driftlab/internal/bench/frames", append([]string{"sinks/pin"}, framePath...)},
	"bench nats":          {"cmd/driftlab/internal/bench/frames", append([]string{"internal/flow/bus", "sinks/spool"}, framePath...)},
	"bench nuisance":      {"cmd/driftlab/internal/bench/learning", training},
	"bench objects":       {"cmd/driftlab/internal/bench/objects", []string{"infer/field", "infer/locate", "internal/flow/pipeline", "internal/job/stream", "online/objects", "online/tracks"}},
	"bench online":        {"cmd/driftlab/internal/bench/estimator", []string{"online/..."}},
	"bench population":    {"cmd/driftlab/internal/bench/population", []string{"online/..."}},
	"bench recordings":    {"cmd/driftlab/internal/bench/estimator", []string{"online/...", "preprocess"}},
	"bench train":         {"cmd/driftlab/internal/bench/learning", []string{"infer/sdevae/dnnl", "infer/sdevae/network"}},
	"bench verdict":       {"cmd/driftlab/internal/bench/learning", training},
	"driftlab paper":      {"cmd/driftlab/internal/paper", append([]string{"online/offline"}, training...)},
	"driftscope pretrain": {"internal/job/training", training},
	"driftscope run":      {"internal/job/stream", framePath},
	"make model":          {"internal/job/training", training},
	"make soak":           {"internal/job/stream", append([]string{"internal/flow/bus", "sinks/spool"}, framePath...)},
}

var (
	framePath = []string{"infer", "infer/field", "infer/locate", "internal/flow/frame", "internal/flow/pipeline", "internal/job/stream", "online", "online/objects", "online/regression", "online/tracks", "preprocess", "sinks/message", "sinks/natsink"}
	training  = []string{"infer/sdevae/...", "internal/job/recording", "internal/job/training"}
)

var (
	section     = regexp.MustCompile(`(?m)^#+ `)
	aCommand    = regexp.MustCompile("(?:`|driftlab )(bench [a-z]+)|\\b(driftlab paper|driftscope (?:pretrain|run)|make model|make soak)\\b")
	goTest      = regexp.MustCompile("go test [^`\n]*")
	testedPath  = regexp.MustCompile(`\./([\w/]+)`)
	aCommit     = regexp.MustCompile(`\bcommits?(?: not recorded, at the latest)? ([0-9a-f]{7,40})\b(?: and ([0-9a-f]{7,40})\b)?`)
	dated       = regexp.MustCompile(`\bcores?\b[^|\n]*\b20\d\d-\d\d-\d\d`)
	remeasure   = regexp.MustCompile(`Not measured again since the code changed: ([0-9a-f]{7,40}(?:, [0-9a-f]{7,40})*)\.`)
	explanation = "docs/explanation/"
)

// TestFigures: a section of docs/explanation with a figure measured on a machine and a day names the commit. If a package that the section's commands measure
// has changed since that commit, the section must state it.
func TestFigures(t *testing.T) {
	if out, err := exec.Command("git", "-C", root, "rev-parse", "--is-shallow-repository").Output(); err != nil || strings.TrimSpace(string(out)) != "false" {
		t.Skip("not a checkout with its whole history: what has changed since a commit is not known")
	}
	packages, seen := list(t), 0
	for path := range kept(t, root) {
		if !strings.HasPrefix(path, explanation) || !strings.HasSuffix(path, ".md") {
			continue
		}
		parts := sections(page(t, root, path))
		for _, part := range parts {
			title, _, _ := strings.Cut(part, "\n")
			commits, older := named(part)
			if dated.MatchString(part) && len(commits) == 0 {
				t.Errorf("%s: %q has a figure of a day, and no commit: name it, as `commit 17a9673`", path, title)
			}
			changing := behind(t, packages, part)
			if len(changing) == 0 {
				changing = behind(t, packages, parts[0])
			}
			if len(commits) > 0 && len(changing) == 0 {
				t.Errorf("%s: %q names a commit, and neither it nor the beginning of the page names a command that TestFigures knows: name one, such as `bench frames`", path, title)
			}
			for _, commit := range commits {
				seen++
				change := changed(t, commit, changing)
				if change != "" && !slices.Contains(older, commit) {
					t.Errorf("%s: %q has figures of commit %s, and %s: measure again, or say in the section \"Not measured again since the code changed: %s.\"", path, title, commit, change, commit)
				}
			}
			for _, commit := range older {
				if !slices.Contains(commits, commit) {
					t.Errorf("%s: %q says that %s was not measured again, and has no figure of that commit", path, title, commit)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("found %d commits of figures, expected dozens", seen)
	}
}

// sections splits a page before its headings.
func sections(text string) (parts []string) {
	text = strings.TrimSpace(text)
	for at := section.FindAllStringIndex(text, -1); len(at) > 0; at = at[:len(at)-1] {
		begin := at[len(at)-1][0]
		parts, text = append(parts, text[begin:]), text[:begin]
	}
	slices.Reverse(parts)
	return parts
}

// named returns the commits of a section's figures, and the commits that the section declares older than the code.
func named(part string) (commits, older []string) {
	for _, m := range aCommit.FindAllStringSubmatch(part, -1) {
		commits = append(commits, m[1])
		if m[2] != "" {
			commits = append(commits, m[2])
		}
	}
	for _, m := range remeasure.FindAllStringSubmatch(part, -1) {
		older = append(older, strings.Split(m[1], ", ")...)
	}
	return commits, older
}

// behind returns the folders of the packages that a section's commands measure.
func behind(t *testing.T, packages []listed, part string) (folders []string) {
	t.Helper()
	for _, words := range aCommand.FindAllStringSubmatch(part, -1) {
		name := words[1] + words[2]
		m, known := measured[name]
		if !known {
			t.Errorf("TestFigures does not know what %q measures: add it to measured", name)
			continue
		}
		i := slices.IndexFunc(packages, func(p listed) bool { return p.ImportPath == module+"/"+m.graph })
		if i < 0 {
			t.Fatalf("%s is no package: correct measured", m.graph)
		}
		for _, path := range append(packages[i].Deps, packages[i].ImportPath) {
			own, ours := strings.CutPrefix(path, module+"/")
			if ours && slices.ContainsFunc(m.list, func(pattern string) bool { return matches(pattern, own) }) {
				folders = append(folders, own)
			}
		}
	}
	for _, call := range goTest.FindAllString(part, -1) {
		for _, m := range testedPath.FindAllStringSubmatch(call, -1) {
			folders = append(folders, m[1])
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// matches reports whether a package matches pattern, which may end in /....
func matches(pattern, name string) bool {
	above, all := strings.CutSuffix(pattern, "/...")
	return name == above || all && strings.HasPrefix(name, above+"/")
}

// sameOutput is the prefix of the line in a commit message that explains how it was shown that no output changed. Such a commit makes no figure older.
const sameOutput = "^Same-output: "

// formerly returns the folders and, according to moved.txt, their former paths.
func formerly(t *testing.T, folders []string) []string {
	t.Helper()
	text, err := os.ReadFile("moved.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Clone(folders)
	for line := range strings.Lines(string(text)) {
		if old, now, _ := strings.Cut(strings.TrimSpace(line), " "); slices.Contains(folders, now) {
			all = append(all, old)
		}
	}
	return all
}

// changed describes the last change of the folders' code since a commit. It returns "" without a change, and an explanation if the commit is unknown.
func changed(t *testing.T, commit string, folders []string) string {
	t.Helper()
	if exec.Command("git", "-C", root, "merge-base", "--is-ancestor", commit, "HEAD").Run() != nil {
		return "it is not in the history"
	}
	arguments := []string{"-C", root, "log", "-1", "--invert-grep", "--grep=" + sameOutput, "--format=%h changed what they measure (%s)", commit + "..HEAD", "--", ":(exclude,glob)**/*_test.go"}
	for _, folder := range formerly(t, folders) {
		for _, kind := range []string{"*.go", "*.c", "*.h", "*.cpp", "*.s"} {
			arguments = append(arguments, ":(glob)"+folder+"/"+kind)
		}
	}
	out, err := exec.Command("git", arguments...).Output()
	if err != nil {
		t.Fatalf("git log %s..HEAD: %v", commit, err)
	}
	return strings.TrimSpace(string(out))
}

// TestSections: the statements of a page about its figures are parsed correctly.
func TestSections(t *testing.T) {
	parts := sections("# Page\n\n`bench train`\n\n## A\n2 cores, 2026-11-24, commits 187da17 and c08aead.\n\n## B\ncommit not recorded, at the latest f876686.\nNot measured again since the code changed: f876686, 17a9673.\n")
	if len(parts) != 3 || !strings.HasPrefix(parts[0], "# Page") || !strings.HasPrefix(parts[2], "## B") {
		t.Fatalf("found %q", parts)
	}
	if commits, older := named(parts[1]); !slices.Equal(commits, []string{"187da17", "c08aead"}) || older != nil || !dated.MatchString(parts[1]) {
		t.Errorf("found %v, %v", commits, older)
	}
	if commits, older := named(parts[2]); !slices.Equal(commits, []string{"f876686"}) || !slices.Equal(older, []string{"f876686", "17a9673"}) {
		t.Errorf("found %v, %v", commits, older)
	}
	for pattern, want := range map[string][2]bool{"online": {true, false}, "online/...": {true, true}, "on": {}, "on/...": {}} {
		if got := [2]bool{matches(pattern, "online"), matches(pattern, "online/tracks")}; got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}
