package ingesttest

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/bluenviron/gortsplib/v5/pkg/base"
)

// Replay serves the recorded TCP traffic of another server. It sends the recorded answers to OPTIONS, DESCRIBE, SETUP and PLAY, and then some seconds of
// packets at once. Every client receives the same. ingest/camera/testdata/record.py makes such files. Replay returns the address.
func Replay(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	server := replayed{answers: map[base.Method]base.Response{}}
	r := bufio.NewReader(bytes.NewReader(data))
	for _, method := range []base.Method{base.Options, base.Describe, base.Setup, base.Play} {
		var answer base.Response
		if err := answer.Unmarshal(r); err != nil {
			t.Fatalf("%s: the answer to %s: %v", path, method, err)
		}
		server.answers[method] = answer
	}
	if server.packets, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server.url = "rtsp://" + listener.Addr().String() + "/film"
	var all sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		all.Wait() // the test has closed its clients before
	})
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { server.serve(conn) })
		}
	})
	return server.url
}

// replayed is the recorded traffic of a server.
type replayed struct {
	url     string
	answers map[base.Method]base.Response
	packets []byte
}

// serve answers one client until it disconnects.
func (s *replayed) serve(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		if first, err := r.Peek(1); err != nil {
			return
		} else if first[0] == base.InterleavedFrameMagicByte {
			var report base.InterleavedFrame // reused for each message
			if report.Unmarshal(r) != nil {
				return
			}
			continue
		}
		var request base.Request
		if request.Unmarshal(r) != nil {
			return
		}
		answer, known := s.answers[request.Method]
		if !known {
			answer.StatusCode = base.StatusOK
		}
		header := base.Header{"CSeq": request.Header["CSeq"]}
		for name, value := range answer.Header {
			switch name {
			case "CSeq":
			case "Content-Base":
				header[name] = base.HeaderValue{s.url + "/"}
			default:
				header[name] = value
			}
		}
		answer.Header = header
		text, err := answer.Marshal()
		if err != nil {
			return
		}
		if request.Method == base.Play {
			text = append(text, s.packets...)
		}
		if _, err := conn.Write(text); err != nil {
			return
		}
	}
}
