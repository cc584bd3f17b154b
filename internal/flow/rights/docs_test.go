package rights

import (
	"cmp"
	"fmt"
	"strings"
)

// says is what a letter of a table stands for.
var says = map[Verb]string{
	Put: "publish", Hear: "subscribe", Look: "ask the state of the JetStream stream", Read: "read messages from the stream", Consume: "have a consumer of the stream made",
	Make: "create or update the stream", Empty: "purge the stream or delete messages", Unmake: "delete the stream", Deliver: "cannot publish there, but can have JetStream deliver there ([issue 8274](https://github.com/nats-io/nats-server/issues/8274))",
}

// held is the test that tries every cell.
const held = "`TestRights`"

// Table is the part of docs/reference/security.md about NATS: who has which role, and a table of cells for each kind of server.
func Table() string {
	var b strings.Builder
	b.WriteString("| role | who | where | doors | held by |\n|---|---|---|---|---|\n")
	for _, s := range Servers() {
		for i := range s.Roles {
			r := &s.Roles[i]
			doors := make([]string, len(r.Doors))
			for j, d := range r.Doors {
				doors[j] = string(d)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.Name, r.Does, s.where(r), strings.Join(doors, ", "), held)
		}
	}
	b.WriteString("\nThe letters of the tables:")
	for _, v := range Verbs {
		fmt.Fprintf(&b, " **%c** %s.", v, says[v])
	}
	b.WriteString(" An MQTT client gets no answers, so it cannot do `l` and `r`.\n")
	for _, s := range Servers() {
		b.WriteString("\n| subjects |")
		for i := range s.Roles {
			b.WriteString(" `" + s.Roles[i].Name + "` |")
		}
		b.WriteString(" held by |\n|---|" + strings.Repeat("---|", len(s.Roles)+1) + "\n")
		for i, c := range Classes {
			b.WriteString("| " + c.Does + " |")
			for j := range s.Roles {
				b.WriteString(" " + cmp.Or(s.Roles[j].cells[i], "-") + " |")
			}
			b.WriteString(" " + held + " |\n")
		}
	}
	return b.String()
}

// where is the server of a role, and its account there.
func (s *Server) where(r *Role) string {
	if s.File == "" {
		return "the embedded server"
	}
	return fmt.Sprintf("[`%s`](../../configs/%s), account `%s`", s.File, s.File, r.Account)
}
