package bus

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// The default of the first two tokens of every subject.
const (
	DefaultPrefix = "driftscope"
	DefaultSite   = "local"
)

// maxToken is the longest token.
const maxToken = 64

// Subject builds the subjects of one stream, <prefix>.<site>.<stream>.<kind>: namespace first, kind last, so driftscope.*.*.latent matches the latents of every
// stream. The zero value is not usable; call NewSubject.
type Subject struct{ prefix, site, stream string }

// NewSubject checks the three tokens: 1 to 64 letters, digits, - and _. An empty prefix or site takes its default.
func NewSubject(prefix, site, stream string) (Subject, error) {
	s := Subject{prefix, site, stream}
	if s.prefix == "" {
		s.prefix = DefaultPrefix
	}
	if s.site == "" {
		s.site = DefaultSite
	}
	for _, t := range [][2]string{{"prefix", s.prefix}, {"site", s.site}, {"stream", s.stream}} {
		if err := checkToken(t[0], t[1]); err != nil {
			return Subject{}, err
		}
	}
	return s, nil
}

// Of returns the subject of one kind of message.
func (s Subject) Of(kind string) string {
	return s.prefix + "." + s.site + "." + s.stream + "." + kind
}

// maxName is the longest name of a JetStream stream that every file system accepts.
const maxName = 31

// Name returns the name of the stream's resources: at most 31 characters, without dots, always the same for the same subject.
func (s Subject) Name() string {
	return shortened(maxName, s.prefix, s.site, s.stream)
}

// Bucket returns the name of the site's key-value bucket, without dots. JetStream stores the bucket in a stream with the prefix KV_ before this name, and the
// stream's name also has at most 31 characters.
func (s Subject) Bucket() string { return shortened(maxName-len("KV_"), s.prefix, s.site) }

// BucketOf returns the name of a further bucket of the site, for the given contents.
func (s Subject) BucketOf(what string) string {
	return shortened(maxName-len("KV_"), s.prefix, s.site, what)
}

// shortened joins the tokens with _. If another subject could get the same name, or the name is too long, it returns the beginning of the last token and a hash
// of all tokens.
func shortened(longest int, tokens ...string) string {
	name := strings.Join(tokens, "_")
	if len(name) <= longest && strings.Count(name, "_") == len(tokens)-1 {
		return name
	}
	sum := sha256.Sum256([]byte(strings.Join(tokens, ".") + "."))
	return fmt.Sprintf("%.*s-%x", longest-1-12, tokens[len(tokens)-1], sum[:6])
}

// checkToken returns an error for an invalid token, with a valid one as a suggestion.
func checkToken(name, token string) error {
	if token != "" && len(token) <= maxToken && strings.IndexFunc(token, outside) < 0 {
		return nil
	}
	advice := ""
	if fixed := strings.Trim(strings.Map(dash, token), "-"); fixed != "" {
		advice = fmt.Sprintf(": %s is valid", fixed[:min(len(fixed), maxToken)])
	}
	return fmt.Errorf("nats %s: found %.80q, expected 1 to %d letters, digits, - or _%s", name, token, maxToken, advice)
}

// outside reports whether r is invalid in a token.
func outside(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

// dash replaces characters that are invalid in a token.
func dash(r rune) rune {
	if outside(r) {
		return '-'
	}
	return r
}
