package rights

import (
	"fmt"
	"slices"
	"strings"
)

// writer writes a configuration of nats-server.
type writer struct {
	strings.Builder
	indent int
}

func (w *writer) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.HasPrefix(text, "}") || strings.HasPrefix(text, "]") {
		w.indent--
	}
	w.WriteString(strings.Repeat("  ", w.indent) + text + "\n")
	if strings.HasSuffix(text, "{") || strings.HasSuffix(text, "[") {
		w.indent++
	}
}

// list writes a value of several subjects, as many per line as fit.
func (w *writer) list(key string, subjects []string) {
	const longest = 150 // characters of a line
	text := fmt.Sprintf("%q", subjects)
	text = strings.ReplaceAll(text, "\" \"", "\", \"")
	switch {
	case len(subjects) == 0:
	case len(text) < longest:
		w.line("%s %s", key, text)
	default:
		w.line("%s [", key)
		line := ""
		for _, subject := range subjects {
			if line != "" && len(line)+len(subject) > longest {
				w.line("%s", strings.TrimSpace(line))
				line = ""
			}
			line += fmt.Sprintf("%q, ", subject)
		}
		w.line("%s", strings.TrimSuffix(line, ", "))
		w.line("]")
	}
}

// lines writes a list of blocks, one line each.
func (w *writer) lines(key string, lines []string) {
	if len(lines) == 0 {
		return
	}
	w.line("%s: [", key)
	for _, line := range lines {
		w.line("%s", line)
	}
	w.line("]")
}

// may writes the allowed subjects of a kind, and the denied ones.
func (w *writer) may(kind string, allow, deny []string) {
	if len(deny) == 0 {
		w.list(kind+":", allow)
		return
	}
	w.line("%s {", kind)
	w.list("allow:", allow)
	w.list("deny:", deny)
	w.line("}")
}

// connections are the names of the doors in nats-server.
var connections = map[Door]string{TCP: "STANDARD", WebSocket: "WEBSOCKET", MQTT: "MQTT", Leaf: "LEAFNODE"}

// user writes a role. Leaf nodes use other subjects for their requests.
func (w *writer) user(s *Server, r *Role, password string, doors []Door) {
	w.line("{")
	w.line("# %s", r.Does)
	w.line("user: %s", r.Name)
	w.line("password: $%s", password)
	if doors != nil {
		names := make([]string, len(doors))
		for i, d := range doors {
			names[i] = fmt.Sprintf("%q", connections[d])
		}
		w.line("allowed_connection_types: [%s]", strings.Join(names, ", "))
	}
	if !s.Everything(r) {
		p := s.Permissions(r, "driftscope")
		for _, asked := range r.byLeaf(p.Publish) {
			p.Publish = append(p.Publish, asked[1])
		}
		w.line("permissions {")
		w.may("publish", p.Publish, p.DenyPublish)
		w.may("subscribe", p.Subscribe, p.DenySubscribe)
		w.line("}")
	}
	w.line("}")
}

// byLeaf returns the subjects under which a leaf node sends requests to JetStream. Servers do not forward the usual subjects to each other.
func (r *Role) byLeaf(subjects []string) (pairs [][2]string) {
	if !slices.Contains(r.Doors, Leaf) {
		return nil
	}
	for _, subject := range subjects {
		tokens := strings.Split(subject, ".")
		if strings.HasPrefix(subject, "$JS.API.STREAM.INFO.") || strings.HasPrefix(subject, "$JS.API.DIRECT.GET.") && tokens[len(tokens)-1] != ">" {
			name := strings.TrimPrefix(tokens[len(tokens)-1], "frames_camera_")
			pairs = append(pairs, [2]string{subject, "leaf." + name + "." + strings.ToLower(tokens[3])})
		}
	}
	return pairs
}

// secret is the environment variable of a role's password.
func (r *Role) secret() string { return strings.ToUpper(r.Name) + "_PASSWORD" }

// AccountsText returns the accounts of a server in the form of its configuration.
func (s *Server) AccountsText(indent int) string {
	w := &writer{indent: indent}
	for i, a := range s.Accounts {
		if i > 0 {
			w.WriteString("\n")
		}
		w.account(s, a)
	}
	return w.String()
}

// account writes one account.
func (w *writer) account(s *Server, a Account) {
	if a.About != "" {
		w.line("# %s", a.About)
	}
	w.line("%s {", a.Name)
	switch a.Store {
	case "":
	case "enabled":
		w.line("jetstream: enabled")
	default:
		w.line("jetstream %s", a.Store)
	}
	w.line("users: [")
	imports, shares := []string{}, s.shares(a.Name)
	for i := range s.Roles {
		r := &s.Roles[i]
		if r.Account != a.Name {
			continue
		}
		w.user(s, r, r.secret(), r.Doors)
		for _, asked := range r.byLeaf(s.Permissions(r, "driftscope").Publish) {
			imports = append(imports, fmt.Sprintf("{service: {account: %s, subject: %q}, to: %q}", s.Home(Classes[0]), asked[0], asked[1]))
		}
	}
	w.line("]")
	w.lines("exports", s.exports(a))
	var own, heard []string
	for _, x := range shares {
		own = append(own, fmt.Sprintf("{%s: {account: %s, subject: %q}}", x.kind, x.from, x.subject))
		if x.kind == "stream" {
			heard = append(heard, x.subject)
		}
	}
	w.lines("imports", append(own, imports...))
	if len(heard) > 0 { // an answer on such a subject could be mistaken for a result
		w.line("mappings {")
		for _, subject := range narrowed(heard) {
			w.line("%q: \"refused\"", subject)
		}
		w.line("}")
	}
	w.line("}")
}

// LeafText returns the account of a microscope's leaf node.
func (s *Server) LeafText(indent int) string {
	i := slices.IndexFunc(s.Roles, func(r Role) bool { return slices.Contains(r.Doors, Leaf) })
	r := s.Roles[i]
	w := &writer{indent: indent}
	w.line("MICROSCOPE {")
	w.line("users: [")
	asked := r.byLeaf(s.Permissions(&r, "driftscope").Publish)
	_, r.Name, _ = strings.Cut(r.Name, "_")
	r.Does = "driftscope publish CAMERA --subject camera.bead --durable"
	w.user(s, &r, r.secret(), nil)
	w.line("]")
	w.line("mappings { # servers let no question to JetStream pass between them: hall.conf knows these names")
	w.indent++
	for _, pair := range asked {
		w.line("%q: %q", pair[0], pair[1])
	}
	w.line("}")
	w.line("}")
	return w.String()
}
