package doctor

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sys/cpu"
)

// cpus reports the number of cores, and whether they have the vector instructions of the fast kernels of OpenCV and oneDNN.
func cpus(context.Context, machine) []Finding {
	return []Finding{instructions(runtime.GOARCH, cpu.X86.HasAVX2 && cpu.X86.HasFMA)}
}

func instructions(arch string, fast bool) Finding {
	f := Finding{Check: "cpu", Grade: Good, Found: fmt.Sprintf("%d cores, %s", runtime.GOMAXPROCS(0), arch)}
	switch {
	case arch != "amd64": // arm64 always has vector instructions
	case fast:
		f.Found += " with AVX2 and FMA"
	default:
		f.Grade, f.Page = Note, "docs/explanation/performance.md"
		f.Found += " without AVX2 or FMA: a frame takes several times as long. A virtual machine may hide them"
		f.Mend = "in a virtual machine: give it the host's processor, as qemu-system-x86_64 -cpu host does"
	}
	return f
}
