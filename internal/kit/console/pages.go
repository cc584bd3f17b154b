package console

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

// packaged is the folder of the pages in the Debian package.
const packaged = "/usr/share/doc/driftscope/docs"

// named matches a page in a message, relative to the repository's root.
var named = regexp.MustCompile(`\b(docs/[\w/-]+|configs/README)\.md\b`)

// Pages about the subjects of errors.
const (
	CamerasPage       = "docs/howto/cameras.md"
	RecordingsPage    = "docs/howto/recordings.md"
	FramesPage        = "docs/howto/frames.md" // of other programs, over NATS
	ModelsPage        = "docs/reference/models.md"
	ServersPage       = "docs/howto/deployment.md"
	ConfigurationPage = "configs/README.md"
)

// about is an error with its page.
type about struct {
	error
	page string
}

func (a about) Unwrap() error { return a.error }

// About returns err with a page that says more, and the same text. nil stays nil.
func About(page string, err error) error {
	if err == nil {
		return nil
	}
	return about{err, page}
}

// PageOf returns the page that says more about err, or "" if none is known or its text names one.
func PageOf(err error) string {
	var a about
	if !errors.As(err, &a) || named.MatchString(err.Error()) {
		return ""
	}
	return a.page
}

// Located replaces every page in text by the path where a reader finds it. A page that is nowhere keeps its name.
func Located(text string) string {
	return named.ReplaceAllStringFunc(text, func(page string) string { return located(page, folders()) })
}

// folders returns the possible folders of docs. The reader's own comes first, because the name is correct there.
func folders() []string {
	all := []string{"docs"}
	if program, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(program); err == nil {
			program = real
		}
		beside := filepath.Dir(program)
		all = append(all, filepath.Join(beside, "docs"), filepath.Join(filepath.Dir(beside), "docs"))
	}
	return append(all, packaged)
}

func located(page string, folders []string) string {
	for _, folder := range folders {
		path := filepath.Join(folder, "..", filepath.FromSlash(page))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return page
}
