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

// Documentation pages to which errors refer.
const (
	CamerasPage       = "docs/howto/cameras.md"
	RecordingsPage    = "docs/howto/recordings.md"
	FramesPage        = "docs/howto/frames.md" // frames of other programs, over NATS
	ModelsPage        = "docs/reference/models.md"
	ServersPage       = "docs/howto/deployment.md"
	ConfigurationPage = "configs/README.md"
)

// about is an error with a documentation page.
type about struct {
	error
	page string
}

func (a about) Unwrap() error { return a.error }

// About attaches a documentation page to err and keeps its text. nil stays nil.
func About(page string, err error) error {
	if err == nil {
		return nil
	}
	return about{err, page}
}

// PageOf returns the page attached to err, or "" if there is none or the text already names a page.
func PageOf(err error) string {
	var a about
	if !errors.As(err, &a) || named.MatchString(err.Error()) {
		return ""
	}
	return a.page
}

// Located replaces every page in text by the path at which the reader can open it. A page that is not installed keeps its name.
func Located(text string) string {
	return named.ReplaceAllStringFunc(text, func(page string) string { return located(page, folders()) })
}

// folders returns the possible folders of docs. The current folder comes first, because the plain name is correct there.
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
