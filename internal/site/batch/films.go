package batch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"driftscope/ingest"
	"driftscope/ingest/format"
	"driftscope/ingest/tiff"
)

// Bounds on the search for films.
const (
	maxFilms = 100_000
	maxDepth = 8 // depth of folders below the given one
	looked   = 3 // TIFFs at each end of a folder's list that decide whether the TIFFs are films or pictures of one film
)

// film is a finished recording.
type film struct {
	name    string         // name of the result, with folders but without the ending
	path    string         // absolute
	kind    string         // kind of source
	options map[string]any // options of the source, without the path
	folder  bool
}

// search is the state of a search for films.
type search struct {
	out    string // absolute path of --out, which is not searched
	films  []film
	passed []string // entries that are not films, and why
}

// find returns the films among the arguments. An argument is a film, or a folder with files and folders that are films.
func find(args []string, out string) ([]film, []string, error) {
	s := search{}
	var err error
	if s.out, err = filepath.Abs(out); err != nil {
		return nil, nil, err
	}
	for _, arg := range args {
		if err := s.argument(arg); err != nil {
			return nil, nil, err
		}
	}
	if len(s.films) == 0 {
		return nil, s.passed, fmt.Errorf("no film was found in %s: give files or folders of %s", strings.Join(args, ", "), strings.Join(kinds, ", "))
	}
	return s.films, s.passed, s.named()
}

// argument adds a film or folder that the user named.
func (s *search) argument(arg string) error {
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		folder, err := filepath.Abs(arg)
		if err != nil {
			return err
		}
		return s.folder(folder, filepath.Base(folder), 0)
	}
	kind, options, err := ingest.Guess(arg)
	if err != nil {
		if _, missing := os.Stat(arg); errors.Is(missing, fs.ErrNotExist) {
			return err
		}
		s.pass("%v", err)
		return nil
	}
	path, _ := options["path"].(string)
	info, err := os.Stat(path)
	if !slices.Contains(kinds, kind) || err != nil {
		return fmt.Errorf("%s: is read as %s, but a batch needs finished recordings: give files or folders", arg, kind)
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	delete(options, "path")
	return s.add(film{name: stem(path), path: path, kind: kind, options: options, folder: info.IsDir()})
}

// stem returns a file's name without its extension.
func stem(path string) string {
	base := filepath.Base(path)
	if name := strings.TrimSuffix(base, filepath.Ext(base)); name != "" {
		return name
	}
	return base
}

func (s *search) pass(text string, args ...any) {
	s.passed = append(s.passed, fmt.Sprintf(text, args...))
}

func (s *search) add(f film) error {
	if slices.ContainsFunc(s.films, func(o film) bool { return o.path == f.path && fmt.Sprint(o.options) == fmt.Sprint(f.options) }) {
		return nil
	}
	if len(s.films) == maxFilms {
		return fmt.Errorf("more than %d films: give fewer folders at a time", maxFilms)
	}
	s.films = append(s.films, f)
	return nil
}

// folder adds a folder as a film, or the films in the folder. name is the name of the result if the folder is one film.
func (s *search) folder(path, name string, depth int) error {
	if path == s.out {
		return nil
	}
	kind, options, err := ingest.Guess(path)
	if err != nil {
		return err
	}
	delete(options, "path")
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
	pictures := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() && format.IsPicture(e.Name()) })
	if kind != "directory" || pictures && !holdsFilms(path, entries) {
		if kind == "directory" && slices.ContainsFunc(entries, fs.DirEntry.IsDir) {
			s.pass("%s: its pictures are one film, to which its folders do not belong: give the folders separately", path)
		}
		return s.add(film{name: name, path: path, kind: kind, options: options, folder: true})
	}
	inside := name
	if depth == 0 {
		inside = "" // in --out the results have the same relative paths as the films in the folder
	}
	single := 0
	for _, e := range entries {
		below := filepath.Join(path, e.Name())
		info, err := os.Stat(below)
		switch {
		case err != nil:
			s.pass("%v", err)
		case info.IsDir() && depth == maxDepth:
			s.pass("%s: is more than %d folders deep: give this folder as an argument", below, maxDepth)
		case info.IsDir():
			err = s.folder(below, filepath.Join(inside, e.Name()), depth+1)
		case info.Mode().IsRegular() && isPage(below):
			single++
		default:
			err = s.file(below, filepath.Join(inside, stem(below)))
		}
		if err != nil && info != nil {
			return err
		}
	}
	if single > 0 {
		s.pass("%s: %d single pictures among films: put the pictures of a film into a separate folder", path, single)
	}
	return nil
}

// file adds a file of a folder, if it is a film.
func (s *search) file(path, name string) error {
	kind, options, err := ingest.Guess(path)
	if err != nil || !slices.Contains(kinds, kind) {
		s.pass("%s: is not a film", path)
		return nil
	}
	delete(options, "path")
	return s.add(film{name: name, path: path, kind: kind, options: options})
}

// holdsFilms reports whether a folder's files are films rather than the pictures of one film: some are of a kind that is always a film, or have several pages,
// or no file is a readable picture.
func holdsFilms(folder string, entries []fs.DirEntry) bool {
	var tiffs []string
	others := false
	for _, e := range entries {
		ext := format.Extension(e.Name())
		switch {
		case e.IsDir():
		case slices.Contains(format.VideoExtensions, ext), slices.Contains(format.FitsExtensions, ext), slices.Contains(format.Hdf5Extensions, ext),
			slices.Contains(format.CziExtensions, ext), slices.Contains(format.Nd2Extensions, ext):
			return true
		case slices.Contains(format.TiffExtensions, ext):
			tiffs = append(tiffs, filepath.Join(folder, e.Name()))
		case format.IsPicture(e.Name()):
			others = true
		}
	}
	if len(tiffs) > 2*looked {
		tiffs = append(tiffs[:looked:looked], tiffs[len(tiffs)-looked:]...)
	}
	single := others
	for _, path := range tiffs {
		n := pages(path)
		if n > 1 {
			return true
		}
		single = single || n == 1
	}
	return !single
}

// isPage reports whether a file is one picture. An unreadable TIFF is not, so that it is reported as a film that failed.
func isPage(path string) bool {
	return format.IsPicture(path) && (!slices.Contains(format.TiffExtensions, format.Extension(path)) || pages(path) == 1)
}

// pages returns the number of pages of a TIFF, or 0 if it cannot be read.
func pages(path string) int {
	file, size, err := format.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	f, err := tiff.Open(file, size)
	if err != nil {
		return 0
	}
	return f.Pages()
}

// named makes equal result names distinct, by adding the films' extensions.
func (s *search) named() error {
	count := map[string]int{}
	for _, f := range s.films {
		count[f.name]++
	}
	taken := map[string]string{}
	for i := range s.films {
		f := &s.films[i]
		if count[f.name] > 1 {
			f.name = filepath.Join(filepath.Dir(f.name), filepath.Base(f.path))
		}
		if other, found := taken[f.name]; found {
			return fmt.Errorf("%s and %s: both results would be called %s: give the folder that contains both, or another --out for one", other, f.path, f.name)
		}
		taken[f.name] = f.path
	}
	return nil
}
