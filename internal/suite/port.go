package suite

import (
	"fmt"
	"net"
	"os"
)

// The ports for servers lie below the system's automatic ports, so a restarted server finds its own port free.
const (
	first = 20_000
	count = 12_000
)

// ReservedPorts reserves ports that no other ReservedPorts on this machine returns until Close. A bound UDP port of the same number marks each. The zero value
// is ready to use. It is not safe for concurrent use.
type ReservedPorts struct{ marks []net.PacketConn }

// Next returns a free TCP port of 127.0.0.1.
func (r *ReservedPorts) Next() (int, error) {
	for i := range count {
		port := first + (os.Getpid()*7+i)%count // programs that start together begin at different ports
		address := fmt.Sprintf("127.0.0.1:%d", port)
		mark, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			mark.Close()
			continue
		}
		l.Close()
		r.marks = append(r.marks, mark)
		return port, nil
	}
	return 0, fmt.Errorf("every port of 127.0.0.1 from %d to %d is taken: end what listens there", first, first+count-1)
}

// Close releases the ports.
func (r *ReservedPorts) Close() {
	for _, mark := range r.marks {
		mark.Close()
	}
	r.marks = nil
}
