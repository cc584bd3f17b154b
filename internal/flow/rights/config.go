package rights

import (
	"slices"
	"strings"
)

// Permissions are the subjects to which a user may publish and subscribe.
type Permissions struct{ Publish, DenyPublish, Subscribe, DenySubscribe []string }

// api returns the subjects of the JetStream requests about a stream that a verb allows.
func (v Verb) api(stream string) []string {
	switch v {
	case Look:
		return []string{"$JS.API.INFO", "$JS.API.STREAM.INFO." + stream}
	case Read:
		return []string{"$JS.API.DIRECT.GET." + stream, "$JS.API.DIRECT.GET." + stream + ".>"}
	case Consume:
		return []string{"$JS.API.CONSUMER.CREATE." + stream + ".>", "$JS.API.CONSUMER.CREATE." + stream, "$JS.API.CONSUMER.DELETE." + stream + ".*", "$JS.API.CONSUMER.INFO." + stream + ".*", "$JS.API.CONSUMER.MSG.NEXT." + stream + ".*", "$JS.ACK.>"}
	case Make:
		return []string{"$JS.API.STREAM.CREATE." + stream, "$JS.API.STREAM.UPDATE." + stream}
	case Empty:
		return []string{"$JS.API.STREAM.PURGE." + stream, "$JS.API.STREAM.MSG.DELETE." + stream}
	case Unmake:
		return []string{"$JS.API.STREAM.DELETE." + stream}
	}
	return nil
}

// everyStream returns the subjects of the requests about all streams of an account that a verb allows.
func (v Verb) everyStream() []string {
	switch v {
	case Look:
		return append(v.api("*"), "$JS.API.STREAM.NAMES")
	case Read:
		return []string{"$JS.API.DIRECT.GET.>", "$JS.API.STREAM.MSG.GET.*"}
	case Consume:
		return append([]string{"$JS.API.CONSUMER.CREATE.>"}, v.api("*")[2:]...)
	}
	return v.api("*")
}

// asked returns the streams of an account for which a role has the verb v, and whether these are all streams of the account.
func (s *Server) asked(r *Role, v Verb, account string) (streams []string, every bool) {
	every = true
	for i, c := range Classes {
		if c.Stream == "" || s.Home(c) != account {
			continue
		}
		if r.Has(i, v) {
			streams = append(streams, c.Stream)
		} else {
			every = false
		}
	}
	return streams, every && len(streams) > 0
}

// ofStreams are the verbs that need requests to JetStream.
var ofStreams = []Verb{Look, Read, Consume, Make, Empty, Unmake}

// questions returns the subjects of the requests that a role may send to the JetStream of an account.
func (s *Server) questions(r *Role, account string) (subjects []string) {
	whole := 0
	for _, v := range ofStreams {
		streams, every := s.asked(r, v, account)
		if every && (r.Account == account || !s.store(r.Account)) {
			whole++
			subjects = append(subjects, v.everyStream()...)
			continue
		}
		for _, stream := range streams {
			subjects = append(subjects, v.api(stream)...)
		}
	}
	if whole == len(ofStreams) {
		return []string{"$JS.API.>", "$JS.ACK.>", "$JS.FC.>"}
	}
	return subjects
}

// puts returns the subjects to which a role may publish in an account, besides requests to JetStream.
func (s *Server) puts(r *Role, account string) (subjects []string) {
	for i, c := range Classes {
		if s.Home(c) == account && r.Has(i, Put) {
			subjects = append(subjects, c.Put...)
		}
	}
	return subjects
}

// hears returns the subjects of an account to which a role may subscribe, besides inboxes.
func (s *Server) hears(r *Role, account string) (subjects []string) {
	for i, c := range Classes {
		if s.Home(c) != account || !r.Has(i, Hear) {
			continue
		}
		if c.Hear != nil {
			subjects = append(subjects, c.Hear...)
		} else {
			subjects = append(subjects, c.Put...)
		}
	}
	return subjects
}

// Permissions returns the permissions of a role, with prefix as the first token of subjects.
func (s *Server) Permissions(r *Role, prefix string) Permissions {
	var p Permissions
	homes := map[string]bool{}
	for _, c := range Classes {
		if home := s.Home(c); !homes[home] {
			homes[home] = true
			p.Publish = append(append(p.Publish, s.puts(r, home)...), s.questions(r, home)...)
			p.Subscribe = append(p.Subscribe, s.hears(r, home)...)
		}
	}
	p.Publish, p.Subscribe = append(p.Publish, r.puts...), append(p.Subscribe, r.hears...)
	p.Publish, p.Subscribe = s.named(p.Publish, prefix), s.named(p.Subscribe, prefix)
	for i, c := range Classes {
		lacks := func(v Verb, subjects []string) bool {
			return !r.Has(i, v) && slices.ContainsFunc(subjects, func(a string) bool { return Covers(a, c.Sample) })
		}
		if lacks(Put, p.Publish) {
			p.DenyPublish = append(p.DenyPublish, c.Put...)
		}
		if lacks(Hear, p.Subscribe) {
			p.DenySubscribe = append(p.DenySubscribe, c.Put...)
		}
		for _, v := range []Verb{Read, Make} { // an account with a wildcard forwards requests, or has its own JetStream that would answer
			if c.Stream == "" || r.Has(i, v) {
				continue
			}
			for _, subject := range v.api(c.Stream) {
				if slices.ContainsFunc(p.Publish, func(a string) bool { return Covers(a, subject) }) {
					p.DenyPublish = append(p.DenyPublish, subject)
				}
			}
		}
	}
	p.DenyPublish, p.DenySubscribe = s.named(p.DenyPublish, prefix), s.named(p.DenySubscribe, prefix)
	return p
}

// named replaces the placeholders in subjects, and leaves out subjects that others cover.
func (s *Server) named(subjects []string, prefix string) (named []string) {
	replace := strings.NewReplacer("{prefix}", prefix, "{site}", s.Site)
	for _, subject := range subjects {
		named = append(named, replace.Replace(subject))
	}
	return narrowed(named)
}

// narrowed leaves out subjects that others cover.
func narrowed(subjects []string) (rest []string) {
	for i, a := range subjects {
		covered := slices.ContainsFunc(subjects, func(b string) bool { return a != b && Covers(b, a) })
		if !covered && slices.Index(subjects, a) == i {
			rest = append(rest, a)
		}
	}
	return rest
}

// Covers reports whether pattern a matches every subject that pattern b matches.
func Covers(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i, token := range as {
		switch {
		case token == ">":
			return len(bs) > i
		case i >= len(bs) || token != bs[i] && (token != "*" || bs[i] == ">"):
			return false
		}
	}
	return len(as) == len(bs)
}

// store reports whether an account has JetStream.
func (s *Server) store(account string) bool {
	i := slices.IndexFunc(s.Accounts, func(a Account) bool { return a.Name == account })
	return s.Accounts[i].Store != ""
}
