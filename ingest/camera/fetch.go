package camera

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Limits on the response time of a server.
const (
	connectWithin = 5 * time.Second
	answerWithin  = 10 * time.Second
	maxHeader     = 64 << 10
)

// fetch requests an address, and authenticates with the address's user and password if the server demands it. The caller closes the body of the response. The
// body can be read until ctx ends.
func fetch(ctx context.Context, address *url.URL, ca string) (*http.Response, error) {
	trust, err := trusting(ca)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport: &http.Transport{
			DialContext: (&net.Dialer{Timeout: connectWithin}).DialContext, TLSClientConfig: trust, TLSHandshakeTimeout: connectWithin,
			ResponseHeaderTimeout: answerWithin, MaxResponseHeaderBytes: maxHeader, DisableKeepAlives: true, DisableCompression: true,
		},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			if len(before) > 5 || next.URL.Scheme != "http" && next.URL.Scheme != "https" {
				return errors.New("the server redirects too often")
			}
			return nil
		},
	}
	bare := *address
	bare.User = nil // Go would send the password without a challenge
	response, err := ask(ctx, client, bare.String(), "")
	if err != nil || response.StatusCode != http.StatusUnauthorized || address.User == nil {
		return checked(response, err)
	}
	response.Body.Close()
	if asked := response.Request.URL; asked.Host != address.Host { // send the password only to its own server
		return nil, fmt.Errorf("the camera redirects to %s, which asks for a password: give that address", asked.Redacted())
	}
	proof, err := answer(response.Header.Values("WWW-Authenticate"), address.User, response.Request)
	if err != nil {
		return nil, err
	}
	if proof == "" {
		return nil, errors.New("the camera uses an unknown password scheme, not basic or digest (MD5, SHA-256): choose one of these on its page")
	}
	return checked(ask(ctx, client, response.Request.URL.String(), proof))
}

func ask(ctx context.Context, client *http.Client, address, proof string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("that is not an address") // the parse error would show the password
	}
	request.Header.Set("User-Agent", "driftscope")
	if proof != "" {
		request.Header.Set("Authorization", proof)
	}
	response, err := client.Do(request)
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return response, err
}

// checked returns the response, or an error if its status is not success.
func checked(response *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	switch response.StatusCode {
	case http.StatusOK:
		return response, nil
	case http.StatusUnauthorized, http.StatusForbidden:
		err = fmt.Errorf("the camera refuses this user and password (%d)", response.StatusCode)
	case http.StatusNotFound:
		err = errors.New("the camera has no such path (404)")
	default:
		err = fmt.Errorf("the camera answers with status %d", response.StatusCode)
	}
	response.Body.Close()
	return nil, err
}
