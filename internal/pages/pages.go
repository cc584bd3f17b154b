// Package pages knows where the documentation lies that messages name: in the package's folder, beside an unpacked archive's program, or in
// the checkout.
package pages

import (
	"os"
	"path/filepath"
	"regexp"
)

// packaged is where the Debian package has them.
const packaged = "/usr/share/doc/driftscope/docs"

// named is a page as messages name it, relative to the repository's root.
var named = regexp.MustCompile(`\bdocs/[\w/-]+\.md\b`)

// Located is text with every page that it names under the path where a reader finds it. A page that lies nowhere keeps its name.
func Located(text string) string {
	return named.ReplaceAllStringFunc(text, func(page string) string { return located(page, folders()) })
}

// folders may hold the folder docs, or be it; the reader's own comes first, because the name is right there as it is.
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
	below, err := filepath.Rel("docs", filepath.FromSlash(page))
	if err != nil {
		return page
	}
	for _, folder := range folders {
		path := filepath.Join(folder, below)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return page
}
