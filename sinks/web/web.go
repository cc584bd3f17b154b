// Package web is the dashboard: the page that shows a running stream, and the one HTTP server of the process that serves it. The page is
// built beforehand from the sources in page and embedded, so that it needs no network and building the program needs no Node. It reads the
// same messages as any other client, over NATS on a WebSocket that the server passes on. So one port is enough, even through a tunnel.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
)

//go:embed dist
var dist embed.FS

// policy lets the page load and reach nothing but this server.
// A blob is a film that a person opens from the own disk.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src blob:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// kinds lists the types of the embedded files. The machine's own table may differ.
var kinds = map[string]string{
	"":      "text/html; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
}

// page holds the embedded files, ready to send.
type page struct {
	files map[string][]byte // by path, "/" and "/app.js"
	build string            // identifies their content
}

// loadPage reads the embedded files.
func loadPage() (*page, error) {
	p := &page{files: map[string][]byte{}}
	sum := sha256.New()
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s %d\n", name, len(data))
		sum.Write(data)
		p.files["/"+path.Base(name)] = data
		return nil
	})
	p.files["/"] = p.files["/index.html"]
	p.build = hex.EncodeToString(sum.Sum(nil))[:16]
	return p, err
}

// ServeHTTP sends a file of the page. No file is secret.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, ok := p.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "the page is read-only", http.StatusMethodNotAllowed)
		return
	}
	h := w.Header()
	h.Set("Content-Type", kinds[path.Ext(r.URL.Path)])
	h.Set("Content-Security-Policy", policy)
	h.Set("ETag", `"`+p.build+`"`)
	h.Set("Cache-Control", "no-cache") // the browser checks each time whether this build is current
	if r.Header.Get("If-None-Match") == h.Get("ETag") {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Write(data)
}

// shelter adds headers to every answer that keep other pages away from it.
func shelter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

// sendJSON answers with v, and forbids the browser to cache it.
func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
