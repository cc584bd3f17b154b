package web

import (
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// maxPages is the maximum of simultaneously connected pages. Each costs a few buffers.
const maxPages = 64

// newBridge passes WebSockets to the NATS server at address, ws:// or wss://. Without an address its answer says so. The bus decides the
// rights of pages.
func newBridge(address string) (handler http.Handler, closeIdle func(), err error) {
	if address == "" {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "the NATS server has no known WebSocket: set nats.websocket", http.StatusNotFound)
		}), func() {}, nil
	}
	target, err := url.Parse("http" + strings.TrimPrefix(address, "ws")) // ws is http, wss is https
	if err != nil {
		return nil, nil, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 1}
	proxy := &httputil.ReverseProxy{
		Transport: transport,
		ErrorLog:  log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path, r.Out.Host = target.Scheme, target.Host, target.Path, target.Host
			for _, own := range []string{"Origin", "Cookie", "Authorization"} { // the door has checked them
				r.Out.Header.Del(own)
			}
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			http.Error(w, "the NATS server is away", http.StatusBadGateway)
		},
	}
	room := make(chan struct{}, maxPages)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		default:
			http.Error(w, "too many pages are open: close one", http.StatusServiceUnavailable)
			return
		}
		if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			http.Error(w, "expected a WebSocket", http.StatusUpgradeRequired)
			return
		}
		proxy.ServeHTTP(w, r)
	}), transport.CloseIdleConnections, nil
}
