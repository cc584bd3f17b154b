package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io/fs"
	"path"
	"time"
)

// archive returns an archive with the program, its pages and configurations, in a folder with the archive's name: a zip for Windows, else a tar.gz.
func (p *program) archive(kept []file, bill []byte) (name string, data []byte, err error) {
	files := append([]file{{path.Base(p.executable()), 0o755, p.data}, {"sbom.spdx.json", 0o644, bill}}, kept...)
	if p.manual != nil {
		files = append(files, file{"man/driftscope.1", 0o644, p.manual})
	}
	for shell, text := range p.completions {
		files = append(files, file{"completions/driftscope." + shell, 0o644, text})
	}
	files = below(p.name(), files)
	if p.os == "windows" {
		data, err = zipped(files, p.commit)
		return p.name() + ".zip", data, err
	}
	data, err = tarred(files, p.commit, "")
	if err == nil {
		data, err = packed(data)
	}
	return p.name() + ".tar.gz", data, err
}

func (p *program) executable() string {
	if p.os == "windows" {
		return "driftscope.exe"
	}
	return "driftscope"
}

// tarred returns a tar of files owned by root, with each folder before its content. Every path gets the prefix before.
func tarred(files []file, when time.Time, before string) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	made := map[string]bool{}
	var folder func(name string) error
	folder = func(name string) error {
		if name == "." || name == "/" || made[name] {
			return nil
		}
		made[name] = true
		if err := folder(path.Dir(name)); err != nil {
			return err
		}
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: before + name + "/", Mode: 0o755, ModTime: when, Uname: "root", Gname: "root"})
	}
	for _, f := range files {
		if err := folder(path.Dir(f.path)); err != nil {
			return nil, err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: before + f.path, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: when, Uname: "root", Gname: "root"}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func zipped(files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: when.UTC()}
		h.SetMode(fs.FileMode(f.mode))
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
