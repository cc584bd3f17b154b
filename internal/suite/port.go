package suite

import (
	"fmt"
	"net"
	"os"
)

// Ports of servers lie below those that systems give to who asks for any: a server that was killed finds its own free again.
const (
	first = 20_000
	count = 12_000
)

// ReservedPorts are ports that no other ReservedPorts of this machine gets until they are given back: each is marked by the UDP port of its number. The zero value is ready;
// it is not safe for concurrent use.
type ReservedPorts struct{ marks []net.PacketConn }

// Next is a port of 127.0.0.1 that nobody listens on.
func (r *ReservedPorts) Next() (int, error) {
	for i := range count {
		port := first + (os.Getpid()*7+i)%count // programs that start together look in different places
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

// Close gives the ports back.
func (r *ReservedPorts) Close() {
	for _, mark := range r.marks {
		mark.Close()
	}
	r.marks = nil
}
