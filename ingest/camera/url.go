package camera

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"

	"driftscope/internal/flow/pipeline"
)

// urlOptions are the keys of a url source.
type urlOptions struct {
	URL       string `yaml:"url" reaches:"address"`       // rtsp://, rtsps://, http:// or https://
	Transport string `yaml:"transport" reaches:"nothing"` // transport of RTSP packets: tcp (default), inside the RTSP connection, or udp
	Clock     string `yaml:"clock" reaches:"nothing"`     // time base of frames: camera (default) is the wall clock that the camera reports, if any; arrival is this computer's clock at the first frame
	CA        string `yaml:"ca" reaches:"read"`           // PEM file of the authority that signed the camera's certificate; default: the system's authorities
}

// urlSchemes are the allowed schemes. FFmpeg also knows schemes that read files and run commands.
var urlSchemes = []string{"rtsp", "rtsps", "http", "https"}

// maxURL bounds an address.
const maxURL = 2048

// The values of clock and transport.
const (
	byCamera, byArrival = "camera", "arrival"
	overTCP, overUDP    = "tcp", "udp"
)

// NewURL makes a source of a network camera or a video on a server.
func NewURL(decode func(dst any) error) (pipeline.Source, error) {
	o := urlOptions{Transport: overTCP, Clock: byCamera}
	if err := decode(&o); err != nil {
		return nil, err
	}
	address, err := o.check()
	if err != nil {
		return nil, err
	}
	if address.Scheme == "rtsp" || address.Scheme == "rtsps" {
		return &rtspCamera{
			name: shown(address), url: o.URL, udp: o.Transport == overUDP, ca: o.CA,
			advice: "try the address with ffplay; the camera's web page shows it, with user and password; docs/howto/cameras.md has more help",
			timing: timing{reports: o.Clock == byCamera},
		}, nil
	}
	return newHTTP(o, address), nil
}

// shown returns an address for use in messages, without the password and without the query, which may contain a password.
func shown(address *url.URL) string {
	u := *address
	if u.RawQuery != "" {
		u.RawQuery = "..."
	}
	return u.Redacted()
}

// check validates the options and parses the address.
func (o *urlOptions) check() (*url.URL, error) {
	if len(o.URL) > maxURL {
		return nil, fmt.Errorf("url has %d bytes, at most %d expected", len(o.URL), maxURL)
	}
	address, err := url.Parse(o.URL)
	if err != nil || address.Host == "" || !slices.Contains(urlSchemes, address.Scheme) {
		return nil, errors.New("url does not begin with rtsp://, rtsps://, http:// or https://: give the address that the camera's page shows")
	}
	switch {
	case o.Transport != overTCP && o.Transport != overUDP:
		return nil, fmt.Errorf("transport is %q, expected tcp or udp", o.Transport)
	case o.Clock != byCamera && o.Clock != byArrival:
		return nil, fmt.Errorf("clock is %q, expected camera or arrival", o.Clock)
	}
	return address, nil
}

// maxPEM bounds a file of certificates.
const maxPEM = 1 << 20

// trusting returns TLS settings that verify a server with the certificates in the file ca, or with the system's if ca is empty.
func trusting(ca string) (*tls.Config, error) {
	if ca == "" {
		return nil, nil
	}
	info, err := os.Stat(ca)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxPEM) {
		err = fmt.Errorf("%s is not a file of certificates", ca)
	}
	if err != nil {
		return nil, fmt.Errorf("ca: %w: save the camera's certificate from a browser, in PEM format", err)
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca: %s contains no certificate: save the camera's certificate from a browser, in PEM format", ca)
	}
	return &tls.Config{RootCAs: pool}, nil
}
