package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"driftscope/sinks/web"
)

// dashboard serves the browser's page on a free port, and fetches it with its script as a browser does.
func dashboard(ctx context.Context, _ machine) []Finding {
	f := Finding{Check: "dashboard", Grade: Good, Found: "the page is served: run prints its address", Page: "docs/howto/dashboard.md"}
	if err := servePage(ctx); err != nil {
		f.Grade, f.Found = Bad, "the page is not served: "+err.Error()
		f.Mend = "sudo ip link set lo up; a firewall must let this computer reach itself, 127.0.0.1"
	}
	return []Finding{f}
}

func servePage(ctx context.Context) (err error) {
	s, err := web.Start(web.Options{Address: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	defer s.Close()
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}} // past any proxy
	for path, has := range map[string]string{"": "<script", "app.js": "WebSocket"} {
		err = errors.Join(err, fetch(ctx, client, s.URL()+path, has))
	}
	return err
}

func fetch(ctx context.Context, client *http.Client, url, has string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	switch {
	case err != nil:
		return err
	case answer.StatusCode != http.StatusOK || !strings.Contains(string(text), has):
		return fmt.Errorf("%s answers %s with %d bytes, expected the page", url, answer.Status, len(text))
	}
	return nil
}
