// Dist packs the programs that make dist has built. It writes an archive for each platform, the Debian package for this platform, the list of parts of each
// program (SPDX), and the checksums of all files. The same commit gives the same bytes, because all times are the commit's time and all lists are sorted.
//
//	go run ./cmd/driftlab/internal/dist -from out/dist/build -into out/dist
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	from := flag.String("from", "", "folder with one folder per built program")
	into := flag.String("into", "", "folder for the archives")
	revision := flag.Int("revision", 1, "revision of the Debian package: 2 is an upgrade of 1 of the same commit")
	flag.Parse()
	if err := run(*from, *into, *revision); err != nil {
		fmt.Fprintln(os.Stderr, "dist: "+err.Error())
		os.Exit(1)
	}
}

// run packs every program below from.
func run(from, into string, revision int) error {
	programs, err := filepath.Glob(filepath.Join(from, "*", "driftscope*"))
	if err != nil || len(programs) == 0 {
		return fmt.Errorf("%s has no folder with a program (%v): make dist builds them", from, err)
	}
	kept, err := repository(".")
	if err != nil {
		return err
	}
	var made []string
	for _, path := range programs {
		p, err := readProgram(path)
		if err != nil {
			return err
		}
		if p.native() {
			if err := p.describe(); err != nil {
				return err
			}
		}
		names, err := p.pack(kept, into, revision)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		made = append(made, names...)
	}
	return sums(into, made)
}

// pack writes all files that are shipped for one program and returns their names.
func (p *program) pack(kept []file, into string, revision int) (made []string, err error) {
	libraries, err := p.libraries()
	if err != nil {
		return nil, err
	}
	bill, err := p.bill(libraries)
	if err != nil {
		return nil, err
	}
	put := func(name string, data []byte, failed error) {
		if err == nil {
			err = failed
		}
		if err == nil {
			err = write(filepath.Join(into, name), data)
			made = append(made, name)
		}
	}
	name, data, failed := p.archive(kept, bill)
	put(name, data, failed)
	put(p.name()+".spdx.json", bill, nil)
	if p.packaged() {
		name, data, failed := p.deb(kept, bill, libraries, revision)
		put(name, data, failed)
	}
	return made, err
}
