package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// library is a linked package of this Debian.
type library struct {
	name, version string
	least         string // least version of the package; empty: any version, because the file name contains the interface version
}

// plugins lists packages that the program loads at run time, which the linker does not know: the GStreamer elements that deliver frames.
var plugins = []string{"gstreamer1.0-plugins-base"}

// libraries returns the sorted libraries that the program is linked with. A program without cgo has none.
func (p *program) libraries() ([]library, error) {
	if !p.packaged() {
		return nil, nil
	}
	f, err := elf.NewFile(bytes.NewReader(p.data))
	if err != nil {
		return nil, err
	}
	names, err := f.ImportedLibraries()
	if err != nil {
		return nil, err
	}
	if err := onlyCalled(names); err != nil {
		return nil, err
	}
	paths, err := loaderCache()
	if err != nil {
		return nil, err
	}
	packages := slices.Clone(plugins)
	for _, name := range names {
		owner, err := owner(name, paths[name])
		if err != nil {
			return nil, err
		}
		packages = append(packages, owner)
	}
	slices.Sort(packages)
	var all []library
	for _, name := range slices.Compact(packages) {
		out, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", name).Output()
		if err != nil {
			return nil, fmt.Errorf("dpkg-query: %s is not installed (%w): make setup installs it", name, err)
		}
		l := library{name: name, version: string(out)}
		if name == "libc6" {
			l.least = glibc(f)
		}
		all = append(all, l)
	}
	return all, nil
}

// called lists the modules of OpenCV that the program calls. Other modules require many packages: highgui needs Qt, whose Recommends need drivers of video
// cards.
var called = []string{"core", "dnn", "imgcodecs", "imgproc", "videoio"}

// onlyCalled returns an error if a program is linked with another OpenCV module. The GNU linker would link every module that gocv has a function for.
func onlyCalled(names []string) error {
	for _, name := range names {
		module, is := strings.CutPrefix(name, "libopencv_")
		module, _, _ = strings.Cut(module, ".")
		if is && !slices.Contains(called, module) {
			return fmt.Errorf("the program is linked with %s, expected only %s of OpenCV: build it as make dist does or, if it now calls that module, add it to called in cmd/driftlab/internal/dist/libraries.go",
				name, strings.Join(called, ", "))
		}
	}
	return nil
}

// loaderCache returns the path of each library according to the loader.
func loaderCache() (map[string]string, error) {
	out, err := exec.Command("/sbin/ldconfig", "-p").Output()
	if err != nil {
		return nil, fmt.Errorf("ldconfig -p: %w", err)
	}
	paths := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, path, found := strings.Cut(strings.TrimSpace(line), " => ")
		if name, _, _ = strings.Cut(name, " "); found && paths[name] == "" {
			paths[name] = path
		}
	}
	return paths, nil
}

// owner returns the package that owns a library's file. If /lib is a link to /usr/lib, dpkg lists some files under their old path.
func owner(name, path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("the program is linked with %s, which is not found: %w", name, err)
	}
	for _, try := range []string{real, path, strings.TrimPrefix(real, "/usr"), "/usr" + path} {
		if out, err := exec.Command("dpkg-query", "-S", try).Output(); err == nil {
			found, _, _ := strings.Cut(string(out), ":")
			return found, nil
		}
	}
	return "", fmt.Errorf("the program is linked with %s, but its file %s belongs to no Debian package", name, real)
}

// glibc returns the newest interface version of the C library that the program needs.
func glibc(f *elf.File) string {
	newest, most := "", 0
	symbols, _ := f.ImportedSymbols() // a file without versions needs no least version
	for _, s := range symbols {
		number, is := strings.CutPrefix(s.Version, "GLIBC_2.")
		if n, err := strconv.Atoi(strings.Split(number, ".")[0]); is && err == nil && n > most {
			newest, most = "2."+strconv.Itoa(n), n
		}
	}
	return newest
}

// depends formats the libraries for a package's control file.
func depends(libraries []library) []string {
	var all []string
	for _, l := range libraries {
		if l.least != "" {
			all = append(all, fmt.Sprintf("%s (>= %s)", l.name, l.least))
			continue
		}
		all = append(all, l.name)
	}
	return all
}
