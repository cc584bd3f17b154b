package house

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"driftscope/internal/suite"
)

var (
	codeBlock    = regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]*`")
	link         = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#+ +(.+?) *$`)
	supersededBy = regexp.MustCompile(`(?:superseded|amended) by (\d+)`)
	linkText     = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	recordHead   = regexp.MustCompile(`^# (\d{4}): (.+)\n\nStatus: (.+)\n(?:\nSupersedes: (.+)\n)?`)
	number       = regexp.MustCompile(`\b\d+\b`)
	namedFile    = regexp.MustCompile("`([\\w/]+\\.go)`")
	namedPage    = regexp.MustCompile(`\bdocs/[\w/-]+\.(?:md|json)\b`)
)

// TestLinks: every link in our pages leads to a file in the repository and, if it has an anchor, to a heading of that file. Links to other machines are not
// checked.
func TestLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	files := kept(t, root)
	seen := 0
	for path := range files {
		if !strings.HasSuffix(path, ".md") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(page(t, root, path), ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			seen++
			file, anchor, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
			}
			switch {
			case !files[to]:
				t.Errorf("%s links to %s, which is not in the repository: correct the link", path, m[1])
			case anchor != "" && strings.HasSuffix(to, ".md") && !anchors(page(t, root, to))[anchor]:
				t.Errorf("%s links to %s, and %s has no such heading: correct the link", path, m[1], to)
			}
		}
	}
	if seen < 100 {
		t.Errorf("found %d links, expected hundreds", seen)
	}
}

// TestNamedPages: every page of docs that code, a configuration or a script names, in a comment or a message, is in the repository.
func TestNamedPages(t *testing.T) {
	suite.Calculation(t)
	root := filepath.Join("..", "..")
	files := kept(t, root)
	seen := 0
	for path := range files {
		if base := filepath.Base(path); base != "Makefile" && !slices.Contains([]string{".go", ".yaml", ".conf", ".sh", ".js"}, filepath.Ext(base)) || strings.Contains(path, "/dist/") {
			continue
		}
		for _, name := range namedPage.FindAllString(page(t, root, path), -1) {
			if seen++; !files[name] {
				t.Errorf("%s names %s, which is not in the repository: correct it", path, name)
			}
		}
	}
	if seen < 30 {
		t.Errorf("found %d pages named, expected dozens", seen)
	}
}

// TestNamedFiles: every Go file that a page names is in the repository, by its path if that begins with one of our folders, and otherwise by its name. Pages in
// docs/lab are exempt, because they describe earlier builds.
func TestNamedFiles(t *testing.T) {
	root := filepath.Join("..", "..")
	files := kept(t, root)
	names := map[string]bool{}
	for path := range files {
		names[filepath.Base(path)] = true
	}
	seen := 0
	for path := range files {
		if !strings.HasSuffix(path, ".md") || strings.HasPrefix(path, "docs/lab/") {
			continue
		}
		for _, m := range namedFile.FindAllStringSubmatch(page(t, root, path), -1) {
			seen++
			first, _, below := strings.Cut(m[1], "/")
			if ours := below && slices.Contains(topLevel, first); ours && !files[m[1]] || !ours && !names[filepath.Base(m[1])] {
				t.Errorf("%s names %s, which is not in the repository: correct it", path, m[1])
			}
		}
	}
	if seen < 30 {
		t.Errorf("found %d files named, expected dozens", seen)
	}
}

// TestDecisions checks that the index has a line for every decision, with the title and status in its file. Only a later decision that names it may supersede a
// decision. The numbers of merged decisions are missing.
func TestDecisions(t *testing.T) {
	root := filepath.Join("..", "..")
	index := page(t, root, "docs/decisions/README.md")
	files, err := filepath.Glob(filepath.Join(root, "docs", "decisions", "[0-9]*.md"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no decisions")
	}
	supersedes := map[[2]int]bool{} // the later decision and the earlier one
	heads, names := map[int][]string{}, map[int]string{}
	for _, file := range files {
		name := filepath.Base(file)
		n, err := strconv.Atoi(name[:min(4, len(name))])
		head := recordHead.FindStringSubmatch(page(t, root, "docs/decisions/"+name))
		if err != nil || names[n] != "" || head == nil || head[1] != name[:4] {
			t.Errorf("docs/decisions/%s does not begin with # NUMBER: the decision, and Status: accepted, or superseded by which, under a number of its own", name)
			continue
		}
		heads[n], names[n] = head, name
		for _, earlier := range number.FindAllString(linkText.ReplaceAllString(head[4], "$1"), -1) {
			m, _ := strconv.Atoi(earlier)
			supersedes[[2]int{n, m}] = true
		}
	}
	for n, head := range heads {
		status := linkText.ReplaceAllString(head[3], "$1")
		if !regexp.MustCompile(`^(accepted|superseded by \d+)`).MatchString(status) {
			t.Errorf("docs/decisions/%s has the status %q, expected accepted, or superseded by which", names[n], status)
		}
		if line := fmt.Sprintf("| [%d](%s) | %s | %s |\n", n, names[n], head[2], status); !strings.Contains(index, line) {
			t.Errorf("docs/decisions/README.md has no line %sadd it, or correct the title and the status in %s", line, names[n])
		}
		for _, by := range supersededBy.FindAllStringSubmatch(status, -1) {
			later, err := strconv.Atoi(by[1])
			if err != nil || later <= n || names[later] == "" {
				t.Errorf("decision %d is superseded by %s: found no later one of that number", n, by[1])
			} else if !supersedes[[2]int{later, n}] {
				t.Errorf("decision %d is superseded by %d, whose line Supersedes: does not name it", n, later)
			}
		}
	}
}

// kept returns the files and folders in git, as paths from the root.
func kept(t *testing.T, root string) map[string]bool {
	t.Helper()
	list, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("not a checkout:", err)
	}
	files := map[string]bool{}
	for path := range strings.Lines(string(list)) {
		for path = strings.TrimSpace(path); path != "." && !files[path]; path = filepath.Dir(path) {
			files[path] = true
		}
	}
	return files
}

func page(t *testing.T, root, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// anchors returns GitHub's anchors of a page's headings: small letters, digits, - and _, with a - for each space.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		names[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, linkText.ReplaceAllString(m[1], "$1"))] = true
	}
	return names
}

func TestAnchors(t *testing.T) {
	for title, want := range map[string]string{
		"What is late, and what is kept": "what-is-late-and-what-is-kept",
		"`run --stay` in KV":             "run---stay-in-kv",
		"After [7](0007.md): σ²_x":       "after-7-σ_x",
	} {
		if got := anchors("## " + title + "\n"); !got[want] {
			t.Errorf("%q: found %v, expected %s", title, got, want)
		}
	}
}
