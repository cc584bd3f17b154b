package main

import (
	"debug/buildinfo"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

// TestTheProgramIsHardened: the program from make loads at a random address, and its C and C++ code ends the process after a stack overflow.
func TestTheProgramIsHardened(t *testing.T) {
	suite.Long(t)
	if runtime.GOOS != "linux" {
		t.Skip("the program is an ELF file on Linux alone")
	}
	binary := filepath.Join(t.TempDir(), "driftscope")
	c := exec.Command("make", "--no-print-directory", "-o", "bin/.setup", "build", "BINARY="+binary) // without the setup
	c.Dir = "../.."
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // the Makefile's own
		return strings.HasPrefix(v, "CGO_CFLAGS=") || strings.HasPrefix(v, "CGO_CXXFLAGS=") || strings.HasPrefix(v, "GOFLAGS=")
	})
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	flags, err := f.DynValue(elf.DT_FLAGS_1)
	if err != nil || f.Type != elf.ET_DYN || len(flags) == 0 || elf.DynFlag1(flags[0])&elf.DF_1_PIE == 0 {
		t.Errorf("found a file of type %v with the flags %v, %v: expected a position-independent program", f.Type, flags, err)
	}
	symbols, err := f.ImportedSymbols()
	if err != nil || !slices.ContainsFunc(symbols, func(s elf.ImportedSymbol) bool { return s.Name == "__stack_chk_fail" }) {
		t.Errorf("nothing in the program ends it where a stack was written over (%v)", err)
	}
	names, err := f.ImportedLibraries()
	if err != nil || !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "libopencv_videoio.") }) {
		t.Errorf("the program is linked with %q (%v), expected videoio", names, err)
	}
	for _, name := range names { // libraries that would bring in Qt and a third of all packages: decision 1
		for _, module := range []string{"highgui", "calib3d", "features2d", "objdetect", "photo", "video", "viz"} {
			if strings.HasPrefix(name, "libopencv_"+module+".") {
				t.Errorf("the program is linked with %s, of which it calls nothing", name)
			}
		}
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"CGO_CFLAGS", "CGO_CXXFLAGS"} { // every C and C++ file of ours and of gocv's
		if !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool {
			return s.Key == key && strings.Contains(s.Value, "-fstack-protector-strong")
		}) {
			t.Errorf("%s is without -fstack-protector-strong", key)
		}
	}
}
