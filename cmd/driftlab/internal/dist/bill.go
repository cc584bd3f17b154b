package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"
)

// The parts of SPDX 2.3 that a bill of materials needs (https://spdx.github.io/spdx-spec/v2.3/).
type spdx struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []part         `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type part struct {
	Name      string      `json:"name"`
	ID        string      `json:"SPDXID"`
	Version   string      `json:"versionInfo"`
	Location  string      `json:"downloadLocation"`
	Analyzed  bool        `json:"filesAnalyzed"`
	Source    string      `json:"sourceInfo,omitempty"` // source of the checksum: the hash in go.sum
	Concluded string      `json:"licenseConcluded"`
	Declared  string      `json:"licenseDeclared"`
	Copyright string      `json:"copyrightText"`
	Checksums []checksum  `json:"checksums,omitempty"`
	Refs      []reference `json:"externalRefs,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Kind string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const (
	unknown  = "NOASSERTION"
	mainPart = "SPDXRef-driftscope"
)

// bill returns the list of a program's parts: the program with its checksum, every module that the linker recorded in it, Go, and the linked packages of this
// Debian.
func (p *program) bill(libraries []library) ([]byte, error) {
	digest := fmt.Sprintf("%x", sha256.Sum256(p.data))
	doc := spdx{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: p.name(),
		Namespace: "https://driftscope.invalid/spdx/" + p.name() + "/" + digest,
		Creation:  creation{p.commit.UTC().Format(time.RFC3339), []string{"Tool: driftscope cmd/driftlab/internal/dist"}},
		Packages: []part{{
			Name: "driftscope", ID: mainPart, Version: p.version, Location: unknown, Concluded: "Apache-2.0", Declared: "Apache-2.0", Copyright: unknown,
			Checksums: []checksum{{"SHA256", digest}},
		}},
		Relationships: []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", mainPart}},
	}
	add := func(name, version, source, purl, kind string) {
		id := fmt.Sprintf("SPDXRef-%d-%s", len(doc.Packages), strings.Map(inID, path.Base(name)))
		doc.Packages = append(doc.Packages, part{
			Name: name, ID: id, Version: version, Location: unknown, Source: source, Concluded: unknown, Declared: unknown, Copyright: unknown,
			Refs: []reference{{"PACKAGE-MANAGER", "purl", purl}},
		})
		doc.Relationships = append(doc.Relationships, relationship{mainPart, kind, id})
	}
	goVersion := strings.TrimPrefix(p.info.GoVersion, "go")
	add("stdlib", goVersion, "", "pkg:golang/stdlib@"+goVersion, "STATIC_LINK")
	for _, m := range p.info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		add(m.Path, m.Version, "go.sum "+m.Sum, "pkg:golang/"+strings.ToLower(m.Path)+"@"+m.Version, "STATIC_LINK")
	}
	for _, l := range libraries {
		add(l.name, l.version, "", "pkg:deb/debian/"+l.name+"@"+l.version+"?arch="+p.arch, "DYNAMIC_LINK")
	}
	text, err := json.MarshalIndent(doc, "", " ")
	return append(text, '\n'), err
}

// inID returns r if an SPDX identifier may contain it, or a replacement.
func inID(r rune) rune {
	if r == '.' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
		return r
	}
	return '-'
}
