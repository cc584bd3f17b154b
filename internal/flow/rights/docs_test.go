package rights

import (
	"fmt"
	"strings"
)

// says explains the letters of the tables.
var says = map[Verb]string{
	Put: "publish", Hear: "subscribe", Look: "read the JetStream stream's state", Read: "read its messages", Consume: "create a consumer",
	Make: "create or update the stream", Empty: "purge the stream or delete messages", Unmake: "delete the stream", Deliver: "no publishing, but JetStream can deliver there ([issue 8274](https://github.com/nats-io/nats-server/issues/8274))",
}

// Table returns the section of docs/reference/security.md about NATS: the roles, and a table of cells for each kind of server. TestRights tests every cell.
func Table() string {
	var b strings.Builder
	b.WriteString("| role | use | server, account | doors |\n|---|---|---|---|\n")
	for _, s := range Servers() {
		for i := range s.Roles {
			r := &s.Roles[i]
			doors := make([]string, len(r.Doors))
			for j, d := range r.Doors {
				doors[j] = string(d)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Name, r.Does, s.where(r), strings.Join(doors, ", "))
		}
	}
	b.WriteString("\nLetters:")
	for _, v := range Verbs {
		fmt.Fprintf(&b, " **%c** %s.", v, says[v])
	}
	b.WriteString(" MQTT clients get no answers, so they have no `l` and `r`. An empty cell allows nothing.\n")
	for _, s := range Servers() {
		b.WriteString("\n| subjects |")
		for i := range s.Roles {
			b.WriteString(" `" + s.Roles[i].Name + "` |")
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(s.Roles)) + "\n")
		for i, c := range Classes {
			b.WriteString("| " + c.Does + " |")
			for j := range s.Roles {
				b.WriteString(" " + s.Roles[j].cells[i] + " |")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// where returns the configuration of the role's server, and the role's account.
func (s *Server) where(r *Role) string {
	if s.File == "" {
		return "the embedded server"
	}
	return fmt.Sprintf("`%s`, `%s`", s.File, r.Account)
}
