package camera

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"driftscope/ingest/ingesttest"
	"driftscope/internal/flow/pipeline"
)

// webcam serves 40 pictures in parts that f writes, then the first cut bytes of another picture, and then closes the connection.
func webcam(t *testing.T, kind string, cut int, f func(w io.Writer, i int, jpeg []byte)) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for i := range 40 {
			f(w, i, ingesttest.JPEG(t, i))
			w.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond)
		}
		if cut > 0 {
			f(&limited{w, cut}, 40, ingesttest.JPEG(t, 40))
		}
		w.(http.Flusher).Flush()
		hijacked, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		hijacked.Close()
	}
}

// limited forwards a limited number of bytes.
type limited struct {
	to   io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.to.Write(p[:n])
	return len(p), nil
}

// plain writes a part like most cameras.
func plain(w io.Writer, _ int, jpeg []byte) {
	fmt.Fprintf(w, "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n", len(jpeg))
	w.Write(jpeg)
	io.WriteString(w, "\r\n")
}

// TestHTTPPictures: however a camera writes its parts, each picture is returned once and whole, with the camera's time. A cut picture is not returned.
func TestHTTPPictures(t *testing.T) {
	when := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		kind string
		part func(w io.Writer, i int, jpeg []byte)
		told string
	}{
		"plain": {"multipart/x-mixed-replace; boundary=frame", plain, "the camera sends no time stamps"},
		"without lengths": {"multipart/x-mixed-replace;boundary=--my frame", func(w io.Writer, _ int, jpeg []byte) {
			io.WriteString(w, "--my frame\nContent-type: image/jpeg\n\n")
			w.Write(jpeg)
		}, "sends no time stamps"},
		"stamped": {"multipart/x-mixed-replace; boundary=frame", func(w io.Writer, i int, jpeg []byte) {
			stamp := float64(when.UnixMilli()+int64(10*i)) / 1e3
			fmt.Fprintf(w, "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\nX-Timestamp: %.6f\r\n\r\n", len(jpeg), stamp)
			w.Write(jpeg)
		}, "frame times follow the clock that the camera reports"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(webcam(t, c.kind, 400, c.part))
			defer server.Close()
			s := opened(t, "{url: '"+server.URL+"/video'}")
			next := 0
			var err error
			for err == nil {
				var frames []filmed
				frames, err = some(t, s)
				for _, f := range frames {
					next += int(f.dropped)
					if f.shows != next {
						t.Errorf("frame %d shows picture %d, %d dropped", f.seq, f.shows, f.dropped)
					}
					if at := when.Add(time.Duration(next) * 10 * time.Millisecond); name == "stamped" && f.t.Sub(at).Abs() > time.Millisecond {
						t.Errorf("picture %d was taken at %v, %v expected", f.shows, f.t, at)
					}
					if f.seq == 0 && (len(f.events) != 1 || !strings.Contains(f.events[0], c.told)) {
						t.Errorf("the first frame has the events %q", f.events)
					}
					next = f.shows + 1
				}
			}
			if !errors.Is(err, pipeline.ErrNotConnected) || next != 40 {
				t.Errorf("%v after picture %d; not connected after 39 expected", err, next-1)
			}
		})
	}
}

// some reads one frame and returns it in a slice, or an error.
func some(t *testing.T, s pipeline.Source) ([]filmed, error) {
	t.Helper()
	f, err := s.Read(t.Context())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return []filmed{seen(t, f)}, nil
}

// TestHTTPCredentials: credentials are sent only on request, and the password in clear only if the server accepts no digest.
func TestHTTPCredentials(t *testing.T) {
	show := webcam(t, "multipart/x-mixed-replace; boundary=frame", 0, plain)
	const challenge = `Digest realm="cam, 1", qop="auth,auth-int", nonce="abc", opaque="xyz", algorithm=MD5`
	hash := func(parts ...string) string {
		sum := md5.Sum([]byte(strings.Join(parts, ":")))
		return hex.EncodeToString(sum[:])
	}
	for name, allowed := range map[string]func(r *http.Request) bool{
		"basic": func(r *http.Request) bool {
			user, password, ok := r.BasicAuth()
			return ok && user == "guest" && password == "secret"
		},
		"digest": func(r *http.Request) bool {
			given := map[string]string{}
			for _, p := range parameter.FindAllStringSubmatch(r.Header.Get("Authorization"), -1) {
				given[p[1]] = p[2] + p[3]
			}
			want := hash(hash("guest", "cam, 1", "secret"), "abc", given["nc"], given["cnonce"], "auth", hash("GET", "/video?a=b"))
			return given["response"] == want && given["opaque"] == "xyz" && given["uri"] == "/video?a=b"
		},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if proof := r.Header.Get("Authorization"); name == "digest" && strings.HasPrefix(proof, "Basic") {
				t.Error("the password itself was sent")
			}
			if !allowed(r) {
				w.Header().Add("WWW-Authenticate", `Basic realm="cam"`)
				if name == "digest" {
					w.Header().Add("WWW-Authenticate", challenge)
				}
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			show(w, r)
		}))
		defer server.Close()
		for password, want := range map[string]string{"secret": "", "wrong": "refuses this user and password (401)", "": "(401)"} {
			who := "guest:" + password + "@"
			if password == "" {
				who = ""
			}
			s := direct(t, "{url: '"+strings.Replace(server.URL, "://", "://"+who, 1)+"/video?a=b'}")
			err := s.Open(t.Context())
			if (want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "wrong")) {
				t.Errorf("%s, password %q: %v, %q expected", name, password, err, want)
			}
			s.Close()
		}
	}
}

// TestDigest: the examples of RFC 2617 and RFC 7616.
func TestDigest(t *testing.T) {
	request, err := http.NewRequest(http.MethodGet, "http://camera/dir/index.html", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ challenge, password, nonce, want string }{
		{`realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"`, "Circle Of Life", "0a4f113b", `response="6629fae49393a05397450978507c4ef1"`},
		{
			`realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"`, "Circle of Life",
			"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", `response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"`,
		},
		{`realm="x", nonce="y", algorithm=SHA-512`, "z", "n", ""},
		{`realm="x", nonce="y", qop="auth-int"`, "z", "n", ""},
	} {
		got := digest(c.challenge, c.nonce, url.UserPassword("Mufasa", c.password), request)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, %s expected", c.challenge, got, c.want)
		}
	}
}

// TestHTTPRefused: a response that is not a picture gives an error, within bounds of time and memory.
func TestHTTPRefused(t *testing.T) {
	multipart := "multipart/x-mixed-replace; boundary=frame"
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"no path":     {http.NotFound, "no such path (404)"},
		"broken":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }, "answers with status 418"},
		"no pictures": {webcam(t, multipart, 0, func(w io.Writer, _ int, _ []byte) { w.Write(make([]byte, 10000)) }), "contain no picture"},
		"too large":   {webcam(t, multipart, 0, func(w io.Writer, _ int, _ []byte) { io.WriteString(w, "Content-Length: 99999999\n\n") }), "99999999 bytes"},
		"leads astray": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, "redirects too often"},
		"text": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }, "cannot be opened"},
	} {
		server := httptest.NewServer(c.handler)
		s := direct(t, "{url: '"+server.URL+"'}")
		err := s.Open(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %q expected", name, err, c.want)
		}
		s.Close()
		server.Close()
	}
}

// TestHTTPTransport: a transport stream that the server cuts anywhere gives only whole pictures, in order.
func TestHTTPTransport(t *testing.T) {
	const n = 40
	data := ingesttest.TransportStream(t, "H264", n)
	for part := range 9 {
		cut := len(data) - part*len(data)/20
		if part%2 == 0 {
			cut -= cut % 188 // between packets
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "video/mp2t")
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			w.Write(data[:cut])
		}))
		s := opened(t, "{url: '"+server.URL+"'}")
		var frames []filmed
		var err error
		for err == nil {
			var more []filmed
			more, err = some(t, s)
			frames = append(frames, more...)
		}
		for i, f := range frames {
			// Because of reordering, some of the last pictures may be missing although later ones were sent.
			const reordered = 3
			if f.shows != i && (f.shows < i || i < len(frames)-reordered) {
				t.Errorf("%d of %d bytes: frame %d shows picture %d", cut, len(data), i, f.shows)
			}
			if i > 0 && (f.t.Sub(frames[i-1].t)-time.Second/25).Abs() > time.Millisecond {
				t.Errorf("%d of %d bytes: frame %d was taken %v after the one before", cut, len(data), i, f.t.Sub(frames[i-1].t))
			}
		}
		if whole := cut == len(data); whole != (err == io.EOF) || !whole && !errors.Is(err, pipeline.ErrNotConnected) || len(frames) < cut*n/len(data)/2 {
			t.Errorf("%d of %d bytes, %d frames: %v", cut, len(data), len(frames), err)
		}
		t.Logf("%d of %d bytes: %d frames", cut, len(data), len(frames))
		server.Close()
	}
}
