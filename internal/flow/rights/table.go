// Package rights defines all rights over NATS in one place: the actions that each role may perform on each class of subjects, and the doors through which it
// may. The embedded server's permissions, configs/nats-server.conf, configs/site and the table in docs/reference/security.md are derived from it.
package rights

import (
	"fmt"
	"slices"
	"strings"
)

// Verb is an action of a role on a class of subjects. Its value is its letter in the tables.
type Verb byte

const (
	Put     Verb = 'p' // publish to the subjects
	Hear    Verb = 'h' // subscribe
	Look    Verb = 'l' // request the state of the JetStream stream
	Read    Verb = 'r' // request messages from the stream
	Consume Verb = 'c' // create consumers of the stream
	Make    Verb = 'm' // create or update the stream
	Empty   Verb = 'e' // purge the stream, or delete a message
	Unmake  Verb = 'u' // delete the stream
	Deliver Verb = 'd' // make the server publish to the subjects, as an answer or by a consumer (nats-server issue 8274). A role with p needs no d
)

// Verbs lists all verbs.
var Verbs = []Verb{Put, Hear, Look, Read, Consume, Make, Empty, Unmake, Deliver}

// OfStreams reports whether a verb applies only to classes with a stream.
func (v Verb) OfStreams() bool { return strings.ContainsRune("lrcmeu", rune(v)) }

// Door is a way into a server.
type Door string

const (
	TCP       Door = "TCP"       // NATS clients
	WebSocket Door = "WebSocket" // pages
	MQTT      Door = "MQTT"      // MQTT 3.1.1 clients
	Leaf      Door = "leaf"      // leaf nodes, whose own server checks no rights
)

// offers reports whether a verb exists at a door: an MQTT client cannot receive answers.
func (d Door) offers(v Verb) bool { return d != MQTT || v != Look && v != Read }

// Class is a class of subjects with the same rights.
type Class struct {
	Name   string   // name in the tables
	Does   string   // description for users
	Put    []string // subjects; {prefix} and {site} are replaced
	Hear   []string // subjects to subscribe to, if they differ from Put
	Sample string   // a subject of this class and of no other
	Stream string   // the JetStream stream that stores such subjects; empty if none
}

// Classes lists all classes of subjects.
var Classes = []Class{
	{Name: "results", Does: "live results and workers' messages", Put: []string{"{prefix}.{site}.*.*"}, Hear: []string{"{prefix}.*.*.*"}, Sample: "driftscope.local.other.latent"},
	{Name: "plate", Does: "the results of the experiment plate", Put: []string{"{prefix}.local.plate.population", "{prefix}.local.plate.health", "{prefix}.local.plate.event"}, Hear: []string{"{prefix}.local.*.population"}, Sample: "driftscope.local.plate.population"},
	{Name: "populations", Does: "the law of every stream", Put: []string{"{prefix}.{site}.*.*"}, Hear: []string{"{prefix}.local.*.population"}, Sample: "driftscope.local.other.population"},
	{Name: "kept", Does: "kept results", Put: []string{"{prefix}.{site}.*.kept.*"}, Sample: "driftscope.local.bead.kept.latent", Stream: "driftscope_local_bead"},
	{Name: "questions", Does: "`info`, `stats`, `snapshot`", Put: []string{"{prefix}.{site}.*.cmd.info", "{prefix}.{site}.*.cmd.stats", "{prefix}.{site}.*.cmd.snapshot"}, Hear: []string{"{prefix}.{site}.*.cmd.*"}, Sample: "driftscope.local.other.cmd.info"},
	{Name: "commands", Does: "commands", Put: []string{"{prefix}.{site}.*.cmd.*"}, Sample: "driftscope.local.other.cmd.stop"},
	{Name: "services", Does: "`$SRV`", Put: []string{"$SRV.>"}, Sample: "$SRV.PING.other"},
	{Name: "frames", Does: "frames of the camera bead", Put: []string{"camera.bead"}, Hear: []string{"camera.>"}, Sample: "camera.bead", Stream: "frames_camera_bead"},
	{Name: "others' frames", Does: "frames of other cameras", Put: []string{"camera.>"}, Sample: "camera.other", Stream: "frames_camera_other"},
	{Name: "laws", Does: "laws and configurations in KV", Put: []string{"$KV.{prefix}_local.>"}, Sample: "$KV.driftscope_local.bead.config", Stream: "KV_driftscope_local"},
	{Name: "orders", Does: "streams that should run", Put: []string{"$KV.{prefix}_local_streams.*"}, Sample: "$KV.driftscope_local_streams.bead", Stream: "KV_driftscope_local_streams"},
	{Name: "leases", Does: "leases", Put: []string{"$KV.{prefix}_local_leases.*"}, Sample: "$KV.driftscope_local_leases.bead", Stream: "KV_driftscope_local_leases"},
	{Name: "workers", Does: "records of workers", Put: []string{"$KV.{prefix}_local_workers.*"}, Sample: "$KV.driftscope_local_workers.hall-1", Stream: "KV_driftscope_local_workers"},
	{Name: "films", Does: "records and results of batches", Put: []string{"$KV.*.*.*.ended", "$KV.*.*.*.tried", "$O.*.*.*"}, Sample: "$KV.films-1.a.b.ended", Stream: "KV_films-1"},
	{Name: "models", Does: "models", Put: []string{"$O.{prefix}_local_models.>"}, Sample: "$O.driftscope_local_models.M.bead", Stream: "OBJ_driftscope_local_models"},
}

// Cells are the rights of one role: its verbs for each class, in the order of Classes.
type Cells []string

// Has reports whether a role has a verb of a class, through any door.
func (r *Role) Has(class int, v Verb) bool { return strings.IndexByte(r.cells[class], byte(v)) >= 0 }

// May reports whether a role has a verb of a class through a door.
func (r *Role) May(d Door, class int, v Verb) bool {
	return d.offers(v) && slices.Contains(r.Doors, d) && r.Has(class, v)
}

// all is the wildcard for every verb in a table.
const all = "*"

// columns parses a table: a line with the roles, and a line of cells for every class, with - for no rights. No cell may be missing.
func columns(table string) (map[string]Cells, error) {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	roles := strings.Fields(lines[0])
	if len(lines)-1 != len(Classes) {
		return nil, fmt.Errorf("a table of rights has %d rows, expected one for each of %d classes", len(lines)-1, len(Classes))
	}
	found := map[string]Cells{}
	for i, c := range Classes {
		row, named := strings.CutPrefix(strings.TrimSpace(lines[i+1]), c.Name)
		cells := strings.Fields(row)
		if !named || len(cells) != len(roles) {
			return nil, fmt.Errorf("row %q of a table of rights: expected the class %s and a cell for each of %d roles", lines[i+1], c.Name, len(roles))
		}
		for j, role := range roles {
			cell := strings.ReplaceAll(cells[j], "-", "")
			if cell == all {
				cell = ""
				for _, v := range Verbs {
					if v != Deliver && (c.Stream != "" || !v.OfStreams()) {
						cell += string(rune(v))
					}
				}
			}
			if strings.Trim(cell, "phlrcmeud") != "" || c.Stream == "" && strings.ContainsAny(cell, "lrcmeu") {
				return nil, fmt.Errorf("class %s, role %s: found the cell %q, which has no such verb", c.Name, role, cells[j])
			}
			found[role] = append(found[role], cell)
		}
	}
	return found, nil
}
