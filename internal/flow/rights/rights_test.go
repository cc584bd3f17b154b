package rights

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated parts anew")

// TestGenerated: the shipped configurations and the table in docs/reference/security.md equal the texts generated from the tables of rights.
func TestGenerated(t *testing.T) {
	for name, part := range map[string]string{
		"configs/nats-server.conf":   Instrument().AccountsText(1),
		"configs/site/hall.conf":     Site().AccountsText(0),
		"configs/site/leaf.conf":     Site().LeafText(1),
		"docs/reference/security.md": Table(),
	} {
		path := filepath.Join("../../..", name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		first, rest, begins := strings.Cut(string(text), "rights: begin")
		mark, rest, _ := strings.Cut(rest, "\n")
		_, last, ends := strings.Cut(rest, "rights: end")
		if !begins || !ends {
			t.Fatalf("%s: expected a line with rights: begin and one with rights: end", name)
		}
		before := strings.TrimRight(rest[:len(rest)-len(last)-len("rights: end")], "#<!- \t")
		tail := rest[len(before):]
		if before == part {
			continue
		}
		if !*update {
			t.Errorf("%s is not what internal/flow/rights gives: go test ./internal/flow/rights -update", name)
			continue
		}
		if err := os.WriteFile(path, []byte(first+"rights: begin"+mark+"\n"+part+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTables: a class without a row, a role without a column and an unknown verb are errors.
func TestTables(t *testing.T) {
	for name, table := range map[string]string{
		"a row too few":  site[:strings.LastIndex(strings.TrimSpace(site), "\n")],
		"a cell too few": strings.Replace(site, "\nfilms          plrc ", "\nfilms ", 1),
		"another class":  strings.Replace(site, "\nlaws ", "\nlows ", 1),
		"another verb":   strings.Replace(site, "plrc", "xlrc", 1),
		"no stream":      strings.Replace(site, "questions      hd", "questions      hr", 1),
	} {
		if table == site {
			t.Fatalf("%s: the table was not changed", name)
		}
		if _, err := columns(table); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCovers checks which patterns cover others.
func TestCovers(t *testing.T) {
	for pair, want := range map[string]bool{
		"a.> a.b": true, "a.> a": false, "a.* a.b": true, "a.* a.b.c": false, "a.b a.b": true, "a.b a.*": false, "a.* a.>": false, "a.> a.*.c": true, "> $JS.API.>": true, "a.*.c a.b.c": true,
	} {
		a, b, _ := strings.Cut(pair, " ")
		if Covers(a, b) != want {
			t.Errorf("%s: %v, expected %v", pair, !want, want)
		}
	}
}
