package web

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"driftscope/internal/flow/bus"
)

// minToken is the shortest token that cannot be guessed by trying.
const minToken = 16

// door admits only pages of this server and, if other machines can reach it, only holders of the token. A browser sends the token once and
// gets a cookie for it, because it can put no header on a WebSocket.
type door struct {
	token   string // empty: users of this machine need none
	cookie  string // its name, different for each server on one host
	session string // its value, random at every start
	refused atomic.Uint64
}

// newDoor refuses an address that other machines can reach without a token.
func newDoor(host, port, token string) (*door, error) {
	switch {
	case token == "" && !bus.Loopback(host):
		return nil, fmt.Errorf("dashboard.address: found %q, which others can reach: give dashboard.token too, or use 127.0.0.1 and an SSH tunnel", host)
	case token != "" && len(token) < minToken:
		return nil, fmt.Errorf("dashboard.token: found %d characters, expected at least %d", len(token), minToken)
	}
	return &door{token: token, cookie: "driftscope_" + port, session: rand.Text()}, nil
}

// guard refuses requests of another site's page. Without a token it also refuses foreign host names: another site could make its own name
// resolve to this machine.
func (d *door) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := d.foreign(r); why != "" {
			d.refuse(w, http.StatusForbidden, why)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreign returns the reason why a request belongs to another site, or "" if it does not.
func (d *door) foreign(r *http.Request) string {
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, r.Host) {
			return "pages of other sites cannot use this server"
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return "pages of other sites cannot use this server"
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if d.token == "" && !bus.Loopback(strings.Trim(host, "[]")) {
		return "this server is for its own machine: open http://127.0.0.1, or use an SSH tunnel"
	}
	return ""
}

// known admits holders of the cookie or the token.
func (d *door) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cookie, err := r.Cookie(d.cookie); d.token != "" && (err != nil || !bus.Same(cookie.Value, d.session)) && !d.bears(r) {
			d.refuse(w, http.StatusUnauthorized, "give the token first")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bears reports whether a request has the token, as Authorization: Bearer TOKEN.
func (d *door) bears(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && bus.Same(token, d.token)
}

// login answers the token with a cookie.
func (d *door) login(w http.ResponseWriter, r *http.Request) {
	if !d.bears(r) {
		d.refuse(w, http.StatusUnauthorized, "this is not the token")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: d.cookie, Value: d.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.WriteHeader(http.StatusNoContent)
}

// refuse counts and answers a refused request.
func (d *door) refuse(w http.ResponseWriter, status int, why string) {
	d.refused.Add(1)
	http.Error(w, why, status)
}
