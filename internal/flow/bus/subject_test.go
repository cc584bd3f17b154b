package bus

import (
	"regexp"
	"strings"
	"testing"
)

// TestBucketOf: the buckets of a site have distinct names that KV accepts.
func TestBucketOf(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z0-9_-]{1,28}$`)
	seen := map[string]string{}
	for _, site := range []string{"local", "local_streams", "lab-with-a-name-that-is-long", "streams"} {
		for _, prefix := range []string{"driftscope", "d_local", strings.Repeat("x", 64)} {
			s, err := NewSubject(prefix, site, "bead")
			if err != nil {
				t.Fatal(err)
			}
			for what, name := range map[string]string{"": s.Bucket(), "streams": s.BucketOf("streams"), "workers": s.BucketOf("workers"), "leases": s.BucketOf("leases")} {
				from := prefix + " " + site + " " + what
				if !valid.MatchString(name) {
					t.Errorf("%s: %q is no name of a bucket", from, name)
				}
				if other, twice := seen[name]; twice {
					t.Errorf("%q is the bucket of %s and of %s", name, from, other)
				}
				seen[name] = from
			}
		}
	}
	s, _ := NewSubject("", "", "bead")
	if name := s.BucketOf("streams"); name != "driftscope_local_streams" {
		t.Errorf("found %q", name)
	}
}
