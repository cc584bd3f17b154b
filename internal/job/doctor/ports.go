package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"driftscope/internal/flow/config"
)

// port is a port that a run opens by default.
type port struct {
	address string
	use     string
	grade   Grade  // grade of the finding if the port is taken
	mend    string // remedy if the port is taken
}

// runPorts returns the ports of a run without flags.
func runPorts() []port {
	d := config.Default()
	return []port{
		{
			address: net.JoinHostPort("127.0.0.1", strconv.Itoa(d.NATS.Port)), use: "the embedded NATS server", grade: Bad,
			mend: "driftscope run SOURCE --nats-port 0 selects a free port; to use a NATS server that runs there, give --nats nats://127.0.0.1:" + strconv.Itoa(d.NATS.Port),
		},
		{address: d.Dashboard.Address, use: "the dashboard", grade: Note, mend: "nothing to do: run uses a free port and prints it; or give --dashboard 127.0.0.1:PORT"},
	}
}

// ports tries to open each port, and names the process that uses a taken one.
func ports(ctx context.Context, m machine) []Finding {
	var all []Finding
	for _, p := range m.ports {
		all = append(all, p.look(ctx, m.proc))
	}
	return all
}

func (p port) look(ctx context.Context, proc string) Finding {
	f := Finding{Check: "ports", Grade: Good, Found: fmt.Sprintf("%s is free for %s", p.address, p.use), Page: "docs/howto/install.md"}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", p.address)
	if err == nil {
		l.Close()
		return f
	}
	f.Grade, f.Mend = p.grade, p.mend
	if errors.Is(err, syscall.EADDRINUSE) {
		f.Found = fmt.Sprintf("%s, for %s, is taken by %s", p.address, p.use, holder(proc, p.address))
		return f
	}
	f.Found = fmt.Sprintf("%s, for %s, cannot be opened: %v", p.address, p.use, err)
	return f
}

// holder names the process that listens at an address of this computer, if this user may see it.
func holder(proc, address string) string {
	const unknown = "a process that this user may not see: sudo ss -ltnp shows it"
	_, number, _ := net.SplitHostPort(address)
	want, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return unknown
	}
	sockets := map[string]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		listening(filepath.Join(proc, "net", table), want, sockets)
	}
	links, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "fd", "*")) // the pattern is well-formed
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && sockets[to] {
			process := filepath.Dir(filepath.Dir(link))
			name, _ := os.ReadFile(filepath.Join(process, "comm"))
			return fmt.Sprintf("%s, process %s", strings.TrimSpace(string(name)), filepath.Base(process))
		}
	}
	return unknown
}

// listening adds the sockets that listen on a port, as named by the links of file descriptors. The columns follow proc(5): the local address,
// the state, with 0A for listening, and the inode.
func listening(path string, port uint64, into map[string]bool) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		column := strings.Fields(lines.Text())
		if len(column) < 10 || column[3] != "0A" {
			continue
		}
		_, number, _ := strings.Cut(column[1], ":")
		if p, err := strconv.ParseUint(number, 16, 16); err == nil && p == port {
			into["socket:["+column[9]+"]"] = true
		}
	}
}
