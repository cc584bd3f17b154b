package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// program is a built program with the data that the linker recorded in it.
type program struct {
	path     string
	data     []byte
	info     *debug.BuildInfo
	os, arch string
	cgo      bool
	commit   time.Time // when
	version  string    // 1.2.3, or 0.0.0~git20261126040000.411953d1234 for a commit without a tag

	manual      []byte            // manual page, if the program runs on this computer
	completions map[string][]byte // completion scripts by shell, likewise
}

// readProgram reads a program, which must name its commit.
func readProgram(path string) (*program, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: is it a Go program?", path, err)
	}
	p := &program{path: path, info: info}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			p.os = s.Value
		case "GOARCH":
			p.arch = s.Value
		case "CGO_ENABLED":
			p.cgo = s.Value == "1"
		case "vcs.time":
			if p.commit, err = time.Parse(time.RFC3339, s.Value); err != nil {
				return nil, fmt.Errorf("%s: vcs.time: %w", path, err)
			}
		}
	}
	if p.commit.IsZero() {
		return nil, fmt.Errorf("%s does not name its commit: build it in a git checkout with -buildvcs=true", path)
	}
	p.version = plain(info.Main.Version)
	p.data, err = os.ReadFile(path)
	return p, err
}

// pseudo matches Go's version for a commit without a tag, such as v0.0.0-20261126040000-411953d12345 or v1.2.4-0.2026...
var pseudo = regexp.MustCompile(`^(\d+\.\d+\.\d+)-(?:0\.)?(\d{14})-([0-9a-f]{7,})`)

// plain returns the version in Debian's form, in which a version sorts after its pre-releases.
func plain(version string) string {
	version = strings.TrimPrefix(version, "v")
	if m := pseudo.FindStringSubmatch(version); m != nil {
		return m[1] + "~git" + m[2] + "." + m[3] + strings.TrimPrefix(version, m[0])
	}
	number, pre, is := strings.Cut(version, "-")
	if is {
		return number + "~" + pre
	}
	return number
}

// native reports whether the program runs on this computer.
func (p *program) native() bool { return p.os == runtime.GOOS && p.arch == runtime.GOARCH }

// packaged reports whether the program gets a Debian package: only the one with OpenCV, which is linked with this Debian's libraries.
func (p *program) packaged() bool { return p.os == "linux" && p.cgo }

// name returns the name of an archive and of its bill of materials. Windows allows ~ in names, but shells expand it.
func (p *program) name() string {
	name := fmt.Sprintf("driftscope_%s_%s_%s", strings.ReplaceAll(p.version, "~", "-"), p.os, p.arch)
	if p.cgo {
		name += "_opencv"
	}
	return name
}

// describe has the program print its manual page and its completions.
func (p *program) describe() (err error) {
	path, err := filepath.Abs(p.path)
	if err != nil {
		return err
	}
	if p.manual, err = exec.Command(path, "man").Output(); err != nil {
		return fmt.Errorf("%s man: %w", path, err)
	}
	p.completions = map[string][]byte{}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if p.completions[shell], err = exec.Command(path, "completion", shell).Output(); err != nil {
			return fmt.Errorf("%s completion %s: %w", path, shell, err)
		}
	}
	return nil
}
