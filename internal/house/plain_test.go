package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unclear lists phrases that force a reader to read the sentence again. gonum and nats.go use them in 1.3 of 1000 comment lines.
var unclear = regexp.MustCompile(`(?i)(\b(is|are) told\b|\btold (of|by|in)\b|\bis that of\b|\bis of\b|\bare those\b|\bthose of\b|\bwhoever\b|\bnobody\b|\bsomebody\b|\banybody\b|\bof late\b|` +
	`\bwhat is to be\b|\bby as many\b|\bis asked\b|\bhas it\b|\bwith what\b|\bof what\b|\bwhat it\b|\bthat is there\b|\bwhere there is\b|\bthan that\b|, who |\bgoes on\b|\bcomes? out\b|` +
	`\bstands? (in|for|out)\b|\btakes? leave\b|\bbegins? anew\b|\bno more than that\b)`)

// mostUnclear is the largest number of lines per 1000 with such a phrase. Some uses are plain English, such as "for those of one colour".
const mostUnclear = 3

// quoted lists pages that quote the output of programs, or old names. Their words are evidence and may not change.
var quoted = []string{"docs/lab/", "docs/paper/"}

// TestPlainWords counts unclear phrases in comments and in the docs.
func TestPlainWords(t *testing.T) {
	comment, word := regexp.MustCompile(`(^|\s)// (.*)`), regexp.MustCompile(`[a-z]{3}`)
	for _, kind := range []struct {
		name, glob string
		text       func(line string) string // returns the readable part of a line, or ""
	}{
		{"comments", "*.go", func(line string) string {
			if m := comment.FindStringSubmatch(line); m != nil {
				return m[2]
			}
			return ""
		}},
		{"docs", "*.md", func(line string) string {
			if word.MatchString(line) {
				return line
			}
			return ""
		}},
	} {
		lines, found := 0, []string(nil)
		for _, name := range written(t, kind.glob) {
			data, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(data)) {
				text := kind.text(strings.TrimRight(line, "\n"))
				if text == "" {
					continue
				}
				lines++
				if unclear.MatchString(text) {
					found = append(found, name+": "+text)
				}
			}
		}
		rate := 1000 * float64(len(found)) / float64(max(lines, 1))
		t.Logf("%s: %d of %d lines, %.1f per 1000", kind.name, len(found), lines, rate)
		if lines < 1000 || rate > mostUnclear {
			t.Errorf("%s: %.1f of 1000 lines use an unclear phrase, at most %d expected: rewrite some of\n%s", kind.name, rate, mostUnclear, strings.Join(found, "\n"))
		}
	}
}

// written returns the tracked files of a pattern that this project wrote, without tests and without pages that quote others.
func written(t *testing.T, glob string) (names []string) {
	t.Helper()
	command := exec.Command("git", "ls-files", glob)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Skipf("git ls-files: %v: the words are counted in a checkout", err)
	}
next:
	for _, name := range strings.Fields(string(out)) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, prefix := range quoted {
			if strings.HasPrefix(name, prefix) {
				continue next
			}
		}
		names = append(names, name)
	}
	return names
}
