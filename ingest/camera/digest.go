package camera

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// parameter matches one parameter of a challenge, quoted or not (RFC 9110, 11.2).
var parameter = regexp.MustCompile(`([A-Za-z0-9_-]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))`)

// digests are the RFC 7616 algorithms that cameras use.
var digests = map[string]func() hash.Hash{"": md5.New, "MD5": md5.New, "SHA-256": sha256.New}

// answer returns the credentials for one request to a server that sent these challenges, or "" if it knows none of them. They contain the password in clear
// (basic authentication) only if the server accepts nothing else.
func answer(challenges []string, user *url.Userinfo, request *http.Request) (string, error) {
	basic := false
	for _, c := range challenges {
		scheme, rest, _ := strings.Cut(c, " ")
		switch strings.ToLower(scheme) {
		case "digest":
			var own [8]byte
			if _, err := rand.Read(own[:]); err != nil {
				return "", err
			}
			if proof := digest(rest, hex.EncodeToString(own[:]), user, request); proof != "" {
				return proof, nil
			}
		case "basic":
			basic = true
		}
	}
	if !basic {
		return "", nil
	}
	password, _ := user.Password()
	probe := http.Request{Header: http.Header{}}
	probe.SetBasicAuth(user.Username(), password)
	return probe.Header.Get("Authorization"), nil
}

// digest answers one challenge; nonce is the client's nonce (RFC 7616, 3.4). It returns "" if the algorithm or protection is unknown.
func digest(challenge, nonce string, user *url.Userinfo, request *http.Request) string {
	given := map[string]string{}
	for _, p := range parameter.FindAllStringSubmatch(challenge, 64) {
		given[strings.ToLower(p[1])] = p[2] + p[3]
	}
	algorithm, known := digests[strings.ToUpper(given["algorithm"])]
	protected := false
	for q := range strings.SplitSeq(given["qop"], ",") {
		protected = protected || strings.TrimSpace(q) == "auth"
	}
	if !known || given["qop"] != "" && !protected {
		return ""
	}
	h := func(parts ...string) string {
		sum := algorithm()
		sum.Write([]byte(strings.Join(parts, ":")))
		return hex.EncodeToString(sum.Sum(nil))
	}
	password, _ := user.Password()
	uri := request.URL.RequestURI()
	secret, what := h(user.Username(), given["realm"], password), h(request.Method, uri)
	header := fmt.Sprintf(`Digest username=%q, realm=%q, nonce=%q, uri=%q`, user.Username(), given["realm"], given["nonce"], uri)
	if protected {
		header += fmt.Sprintf(`, qop=auth, nc=00000001, cnonce=%q, response=%q`, nonce, h(secret, given["nonce"], "00000001", nonce, "auth", what))
	} else {
		header += fmt.Sprintf(`, response=%q`, h(secret, given["nonce"], what))
	}
	if given["algorithm"] != "" {
		header += ", algorithm=" + given["algorithm"]
	}
	if given["opaque"] != "" {
		header += fmt.Sprintf(`, opaque=%q`, given["opaque"])
	}
	return header
}
