package rights

import (
	"fmt"
	"slices"
	"strings"
)

// Everything reports whether a role needs no list of permissions, because it may do everything in its account.
func (s *Server) Everything(r *Role) bool {
	homes := false
	for i, c := range Classes {
		for _, v := range Verbs {
			if s.Home(c) == r.Account && v != Deliver && (c.Stream != "" || !v.OfStreams()) {
				homes = true
				if !r.Has(i, v) {
					return false
				}
			}
		}
	}
	return homes
}

// shared is a subject that one account exports to another.
type shared struct {
	kind, subject, from, to string // kind is service or stream
}

// shares returns the imports that the roles of an account need from others, in the order of the classes.
func (s *Server) shares(account string) (all []shared) {
	for i := range s.Roles {
		r := &s.Roles[i]
		if r.Account != account {
			continue
		}
		for _, of := range s.Accounts {
			if of.Name == account {
				continue
			}
			for _, subject := range s.named(append(s.puts(r, of.Name), s.questions(r, of.Name)...), "driftscope") {
				all = append(all, shared{"service", subject, of.Name, account})
			}
			for _, subject := range s.named(s.hears(r, of.Name), "driftscope") {
				all = append(all, shared{"stream", subject, of.Name, account})
			}
		}
	}
	return all
}

// opened returns the pattern under which an open account exports the subject of a single camera or stream.
func opened(subject string) string {
	for _, general := range []string{"camera.>", "driftscope.local.*.cmd.*", "$JS.API.STREAM.INFO.*", "$JS.API.DIRECT.GET.>", "$JS.API.STREAM.PURGE.*", "$JS.API.STREAM.MSG.DELETE.*"} {
		if Covers(general, subject) {
			return general
		}
	}
	return subject
}

// exports returns the lines of an account's exports.
func (s *Server) exports(a Account) (lines []string) {
	var kinds []shared // whose to is all accounts
	for _, of := range s.Accounts {
		for _, x := range s.shares(of.Name) {
			if x.from != a.Name {
				continue
			}
			if a.Open {
				x.subject = opened(x.subject)
			}
			i := slices.IndexFunc(kinds, func(k shared) bool { return k.kind == x.kind && k.subject == x.subject })
			if i < 0 {
				kinds = append(kinds, x)
			} else if !slices.Contains(strings.Split(kinds[i].to, ", "), x.to) {
				kinds[i].to += ", " + x.to
			}
		}
	}
	for _, x := range kinds {
		line := fmt.Sprintf("{%s: %q", x.kind, x.subject)
		if !a.Open && x.subject == "$JS.API.DIRECT.GET.>" || x.subject == "$SRV.>" { // a request with several answers
			line += ", response_type: stream"
		}
		if !a.Open {
			line += ", accounts: [" + x.to + "]"
		}
		lines = append(lines, line+"}")
	}
	return lines
}
