package console

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

// packaged is where the Debian package has them.
const packaged = "/usr/share/doc/driftscope/docs"

// named is a page as messages name it, relative to the repository's root.
var named = regexp.MustCompile(`\b(docs/[\w/-]+|configs/README)\.md\b`)

// Pages of what errors are about.
const (
	CamerasPage       = "docs/howto/cameras.md"
	RecordingsPage    = "docs/howto/recordings.md"
	FramesPage        = "docs/howto/frames.md" // of other programs, over NATS
	ModelsPage        = "docs/reference/models.md"
	ServersPage       = "docs/howto/deployment.md"
	ConfigurationPage = "configs/README.md"
)

// about is an error with the page that says more.
type about struct {
	error
	page string
}

func (a about) Unwrap() error { return a.error }

// About is err, of which page says more; its text is the same. nil stays nil.
func About(page string, err error) error {
	if err == nil {
		return nil
	}
	return about{err, page}
}

// PageOf is the page that says more of err; empty where none is known, or where its text names one.
func PageOf(err error) string {
	var a about
	if !errors.As(err, &a) || named.MatchString(err.Error()) {
		return ""
	}
	return a.page
}

// Located is text with every page that it names under the path where a reader finds it. A page that lies nowhere keeps its name.
func Located(text string) string {
	return named.ReplaceAllStringFunc(text, func(page string) string { return located(page, folders()) })
}

// folders are what docs may be; the reader's own comes first, because the name is right there as it is.
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
