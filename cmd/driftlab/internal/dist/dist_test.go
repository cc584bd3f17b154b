package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// example returns a made-up program.
func example(system string, cgo bool) *program {
	return &program{
		path: "driftscope", data: []byte("not a program"), os: system, arch: "amd64", cgo: cgo, version: "0.0.0~git20261126040000.411953d1234",
		commit: time.Date(2026, 11, 26, 4, 0, 0, 0, time.UTC), manual: []byte(".TH DRIFTSCOPE 1\n"),
		completions: map[string][]byte{"bash": []byte("b"), "zsh": []byte("z"), "fish": []byte("f")},
		info: &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
			{Path: "github.com/alecthomas/kong", Version: "v1.17.0", Sum: "h1:abc="},
			{Path: "example.org/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/new", Version: "v2.0.0", Sum: "h1:def="}},
		}},
	}
}

var linkedWith = []library{{"gstreamer1.0-plugins-base", "1.22.0", ""}, {"libc6", "2.36-9", "2.34"}}

func kept(t *testing.T) []file {
	t.Helper()
	files, err := repository("../../../..")
	if err != nil {
		t.Skipf("not a checkout: %v", err)
	}
	return files
}

func TestPlain(t *testing.T) {
	for version, want := range map[string]string{
		"v0.0.0-20261126040000-411953d12345":         "0.0.0~git20261126040000.411953d12345",
		"v1.2.4-0.20261126040000-411953d12345+dirty": "1.2.4~git20261126040000.411953d12345+dirty",
		"v1.2.3":      "1.2.3",
		"v1.3.0-rc.1": "1.3.0~rc.1",
	} {
		if got := plain(version); got != want {
			t.Errorf("%s is %q, expected %q", version, got, want)
		}
	}
	if _, err := exec.LookPath("dpkg"); err != nil {
		return
	}
	ordered := []string{"0.0.0~git20261126040000.4-1~deb12", "0.0.0~git20261126040000.4-1~deb13", "0.0.0~git20261126040000.4-2~deb12", "0.0.0~git20261127040000.1-1~deb12", "1.3.0~rc.1-1~deb12", "1.3.0-1~deb12"}
	for i, older := range ordered[:len(ordered)-1] {
		if err := exec.Command("dpkg", "--compare-versions", older, "lt", ordered[i+1]).Run(); err != nil {
			t.Errorf("for dpkg %s is not older than %s, so there is no upgrade", older, ordered[i+1])
		}
	}
}

func TestReleaseOf(t *testing.T) {
	for text, want := range map[string]string{
		"PRETTY_NAME=\"Debian\"\nID=debian\nVERSION_ID=\"12\"\n": "deb12",
		"ID=ubuntu\nVERSION_ID=\"24.04\"\n":                      "ubuntu24.04",
		"ID=debian\n":                                            "",
	} {
		if got, err := releaseOf(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q gives %q, %v, expected %q", text, got, err, want)
		}
	}
}

// TestDeb: the package has all files at the paths where the system expects them, dpkg can read it, and packing it again gives the same bytes.
func TestDeb(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("packages are made on Debian")
	}
	files := kept(t)
	name, data, err := example("linux", true).deb(files, []byte("{}"), linkedWith, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, again, err := example("linux", true).deb(files, []byte("{}"), linkedWith, 1); err != nil || !bytes.Equal(data, again) {
		t.Errorf("packed twice, the bytes differ (%v)", err)
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not installed")
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	fields := told(t, "dpkg-deb", "--field", path)
	for _, want := range []string{"Package: driftscope", "Version: 0.0.0~git20261126040000.411953d1234-1~", "Depends: gstreamer1.0-plugins-base, libc6 (>= 2.34)", "Architecture: amd64"} {
		if !strings.Contains(fields, want) {
			t.Errorf("the control file lacks %q:\n%s", want, fields)
		}
	}
	content := told(t, "dpkg-deb", "--contents", path)
	for _, want := range []string{
		"./usr/bin/driftscope", "./usr/lib/systemd/system/driftscope.service", "./etc/driftscope/driftscope.yaml", "./usr/share/man/man1/driftscope.1.gz",
		"./usr/share/doc/driftscope/copyright", "./usr/share/doc/driftscope/docs/howto/cameras.md", "./usr/share/doc/driftscope/configs/README.md",
		"./usr/share/bash-completion/completions/driftscope", "./usr/share/zsh/vendor-completions/_driftscope", "./usr/share/fish/vendor_completions.d/driftscope.fish",
	} {
		if !strings.Contains(content, " "+want+"\n") {
			t.Errorf("the package lacks %s", want)
		}
	}
	for line := range strings.Lines(content) {
		if !strings.Contains(line, " root/root ") || !strings.Contains(line, "2026-11-26") {
			t.Errorf("a file is not owned by root, or does not have the commit's date: %s", line)
		}
	}
}

func told(t *testing.T, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), "TZ=UTC")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(out)
}

// TestArchives: each system gets an archive format that it can open, with all files in one folder.
func TestArchives(t *testing.T) {
	files := []file{{"README.md", 0o644, []byte("read")}, {"docs/tutorial.md", 0o644, []byte("learn")}}
	name, data, err := example("windows", false).archive(files, []byte("{}"))
	if err != nil || !strings.HasSuffix(name, "_windows_amd64.zip") || !bytes.Contains(data, []byte("/driftscope.exe")) {
		t.Errorf("%v: %s", err, name)
	}
	name, data, err = example("darwin", false).archive(files, []byte("{}"))
	if err != nil || !strings.HasSuffix(name, "_darwin_amd64.tar.gz") || strings.Contains(name, "~") {
		t.Fatalf("%v: %s", err, name)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	folder := strings.TrimSuffix(name, ".tar.gz") + "/"
	for r := tar.NewReader(unpacked); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		path, inside := strings.CutPrefix(h.Name, folder)
		if !inside {
			t.Errorf("%s is not in %s", h.Name, folder)
		}
		found[path] = h.Mode
	}
	if found["driftscope"] != 0o755 || found["docs/tutorial.md"] != 0o644 || found["man/driftscope.1"] == 0 || found["sbom.spdx.json"] == 0 {
		t.Errorf("found %v", found)
	}
}

// TestBill: every module and library is listed under its own identifier, and the program by its checksum.
func TestBill(t *testing.T) {
	text, err := example("linux", true).bill(linkedWith)
	if err != nil {
		t.Fatal(err)
	}
	var doc spdx
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var refs []string
	ids := map[string]bool{doc.ID: true}
	for _, p := range doc.Packages {
		if ids[p.ID] {
			t.Errorf("%s is listed twice", p.ID)
		}
		ids[p.ID] = true
		for _, r := range p.Refs {
			refs = append(refs, r.Locator)
		}
	}
	want := []string{"pkg:golang/stdlib@1.26.8", "pkg:golang/github.com/alecthomas/kong@v1.17.0", "pkg:golang/example.org/new@v2.0.0", "pkg:deb/debian/gstreamer1.0-plugins-base@1.22.0?arch=amd64", "pkg:deb/debian/libc6@2.36-9?arch=amd64"}
	if !slices.Equal(refs, want) {
		t.Errorf("found %q, expected %q", refs, want)
	}
	for _, r := range doc.Relationships {
		if !ids[r.From] || !ids[r.To] {
			t.Errorf("%+v relates parts that are not listed", r)
		}
	}
	if len(doc.Packages[0].Checksums) != 1 || len(doc.Packages[0].Checksums[0].Value) != 64 {
		t.Errorf("the program has the checksums %v", doc.Packages[0].Checksums)
	}
}

// TestLibraries: the package of the C library is found for a program that is linked with it.
func TestLibraries(t *testing.T) {
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		t.Skip("no Debian")
	}
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	before := plugins
	defer func() { plugins = before }()
	plugins = nil
	p := example("linux", true)
	p.data = shell
	found, err := p.libraries()
	if err != nil || len(found) != 1 || found[0].name != "libc6" || found[0].version == "" || !strings.HasPrefix(found[0].least, "2.") {
		t.Errorf("/bin/sh is linked with %+v (%v), expected libc6", found, err)
	}
	if p = example("windows", false); p.packaged() {
		t.Error("Windows has a Debian package")
	}
}

// TestOnlyCalled: no package is made for a program that needs Qt.
func TestOnlyCalled(t *testing.T) {
	if err := onlyCalled([]string{"libopencv_core.so.406", "libopencv_dnn.so.410", "libc.so.6"}); err != nil {
		t.Error(err)
	}
	if err := onlyCalled([]string{"libopencv_core.so.406", "libopencv_highgui.so.406"}); err == nil || !strings.Contains(err.Error(), "libopencv_highgui.so.406") {
		t.Errorf("a program with highgui: %v", err)
	}
}

func TestSums(t *testing.T) {
	folder := t.TempDir()
	if err := write(filepath.Join(folder, "b"), []byte("b")); err != nil {
		t.Fatal(err)
	}
	if err := write(filepath.Join(folder, "a"), nil); err != nil {
		t.Fatal(err)
	}
	if err := sums(folder, []string{"b", "a"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	if err != nil || !strings.HasPrefix(string(text), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n") {
		t.Errorf("%v: %s", err, text)
	}
}

func TestReadProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "driftscope")
	if err := os.WriteFile(path, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readProgram(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("for a file that is no program, found %v", err)
	}
	own, err := os.Executable() // a test binary, which names no commit
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readProgram(own); err == nil || !strings.Contains(err.Error(), "-buildvcs=true") {
		t.Errorf("for a program without a commit, found %v", err)
	}
}
