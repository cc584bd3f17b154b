package suite

import (
	"fmt"
	"net"
	"testing"
)

// TestReserved: every port is returned only once until it is released, even if no program listens on it yet. A port in use is never returned.
func TestReserved(t *testing.T) {
	var r, other ReservedPorts
	defer other.Close()
	next := func(r *ReservedPorts) int {
		t.Helper()
		port, err := r.Next()
		if err != nil || port < first || port >= first+count {
			t.Fatalf("port %d, %v; %d to %d expected", port, err, first, first+count-1)
		}
		return port
	}
	one, two, three := next(&r), next(&r), next(&other)
	if one == two || one == three || two == three {
		t.Errorf("ports %d, %d and %d: three expected", one, two, three)
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", one)) // the reservation does not prevent listening
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if again := next(&r); again == one || again == three {
		t.Errorf("port %d again, which is taken", again)
	}
	l.Close()
	r.Close()
	if again := next(&r); again != one {
		t.Errorf("port %d, expected %d, which is free again", again, one)
	}
	r.Close()
}
