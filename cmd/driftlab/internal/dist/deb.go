package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// pagesFolder has the repository's layout, so links between pages work.
const pagesFolder = "usr/share/doc/driftscope"

// conffiles lists files that dpkg does not overwrite once a user has changed them.
var conffiles = []string{"/etc/driftscope/driftscope.yaml"}

// unit is the path of the service's unit, in the repository and in the package.
const unit = "driftscope.service"

// deb returns the package for this computer's Debian release. The program is linked with the OpenCV of one release, which also provides its security updates.
func (p *program) deb(kept []file, bill []byte, libraries []library, revision int) (name string, data []byte, err error) {
	files, err := p.installed(kept, bill)
	if err != nil {
		return "", nil, err
	}
	release, err := release()
	if err != nil {
		return "", nil, err
	}
	version := fmt.Sprintf("%s-%d~%s", p.version, revision, release)
	control, err := p.control(version, files, libraries)
	if err != nil {
		return "", nil, err
	}
	content, err := tarred(files, p.commit, "./")
	if err != nil {
		return "", nil, err
	}
	if content, err = packed(content); err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("driftscope_%s_%s.deb", version, p.arch), ar(p.commit, []file{
		{"debian-binary", 0o644, []byte("2.0\n")}, {"control.tar.gz", 0o644, control}, {"data.tar.gz", 0o644, content},
	}), nil
}

// release names this Debian or Ubuntu, such as deb12 or ubuntu24.04.
func release() (string, error) {
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "", fmt.Errorf("a Debian package is for one release, but /etc/os-release of this computer cannot be read: %w", err)
	}
	return releaseOf(string(text))
}

func releaseOf(text string) (string, error) {
	has := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		has[key] = strings.Trim(value, `"`)
	}
	id, number := has["ID"], has["VERSION_ID"]
	if id == "" || number == "" {
		return "", fmt.Errorf("/etc/os-release has ID %q and VERSION_ID %q, expected both, such as debian and 12", id, number)
	}
	if id == "debian" {
		id = "deb"
	}
	return id + number, nil
}

// installed lists the package's files with their destinations.
func (p *program) installed(kept []file, bill []byte) ([]file, error) {
	files := below(pagesFolder, kept)
	files = append(files, file{pagesFolder + "/sbom.spdx.json", 0o644, bill}, file{"usr/bin/driftscope", 0o755, p.data})
	for _, f := range kept {
		switch f.path {
		case "configs/package/" + unit:
			files = append(files, file{"usr/lib/systemd/system/" + unit, 0o644, f.data})
		case "configs/package/driftscope.yaml":
			files = append(files, file{"etc/driftscope/driftscope.yaml", 0o644, f.data})
		case "internal/job/demo/beads.txt":
			files = append(files, file{pagesFolder + "/copyright", 0o644, copyright(f.data)})
		}
	}
	page, err := packed(p.manual)
	if err != nil {
		return nil, err
	}
	files = append(files, file{"usr/share/man/man1/driftscope.1.gz", 0o644, page},
		file{"usr/share/bash-completion/completions/driftscope", 0o644, p.completions["bash"]},
		file{"usr/share/zsh/vendor-completions/_driftscope", 0o644, p.completions["zsh"]},
		file{"usr/share/fish/vendor_completions.d/driftscope.fish", 0o644, p.completions["fish"]})
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	for i, f := range files[1:] {
		if f.path == files[i].path {
			return nil, fmt.Errorf("%s would be packed twice: remove it from one of the lists", f.path)
		}
	}
	return files, nil
}

// copyright returns the licences of the parts. sbom.spdx.json lists the licences of the linked modules.
func copyright(film []byte) []byte {
	return slices.Concat([]byte("Driftscope: Apache-2.0, the text is /usr/share/common-licenses/Apache-2.0.\n"+
		"The dashboard's page contains parts of other projects: their licences are in the page's LICENSES.txt.\n"+
		"The linked modules are listed in "+pagesFolder+"/sbom.spdx.json.\n\nThe film of driftscope demo:\n"), film)
}

// control returns the archive of control files, which dpkg reads before it unpacks.
func (p *program) control(version string, files []file, libraries []library) ([]byte, error) {
	var kib int
	var check strings.Builder
	for _, f := range files {
		kib += (len(f.data) + 1023) / 1024
		if !slices.Contains(conffiles, "/"+f.path) {
			fmt.Fprintf(&check, "%x  %s\n", md5.Sum(f.data), f.path) // checksums for dpkg --verify, without security value
		}
	}
	text := fmt.Sprintf(`Package: driftscope
Version: %s
Architecture: %s
Maintainer: Driftscope <driftscope@localhost>
Installed-Size: %d
Depends: %s
Recommends: aravis-tools-cli, ca-certificates
Section: science
Priority: optional
Description: what moves under a microscope, by which law, and when the law changes
 Driftscope reads a camera or a film, follows a molecule or every object in the
 field, and publishes their law of motion while the experiment runs.
 .
 driftscope demo shows a real film, driftscope doctor looks at this computer.
`, version, p.arch, kib, strings.Join(depends(libraries), ", "))
	archive, err := tarred([]file{
		{"conffiles", 0o644, []byte(strings.Join(conffiles, "\n") + "\n")},
		{"control", 0o644, []byte(text)},
		{"md5sums", 0o644, []byte(check.String())},
		{"postinst", 0o755, []byte(postinst)},
		{"postrm", 0o755, []byte(postrm)},
		{"prerm", 0o755, []byte(prerm)},
	}, p.commit, "./")
	if err != nil {
		return nil, err
	}
	return packed(archive)
}

// The scripts do not start a stopped service; the user starts it. An upgrade restarts a running service, and removal stops it. In a container without systemd
// the scripts do nothing.
const (
	postinst = `#!/bin/sh
set -e
if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart ` + unit + ` || true
fi
`
	prerm = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl disable --now ` + unit + ` || true
fi
`
	postrm = `#!/bin/sh
set -e
if [ "$1" = purge ]; then
	rm -rf /var/lib/driftscope /var/lib/private/driftscope
	rmdir /etc/driftscope 2>/dev/null || true
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
`
)

// ar returns the archive around a package: for each member a header line and its bytes, at even offsets (deb(5)).
func ar(when time.Time, members []file) []byte {
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	for _, m := range members {
		fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.path, when.Unix(), 0, 0, 0o100000|m.mode.Perm(), len(m.data))
		out.Write(m.data)
		if len(m.data)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}
