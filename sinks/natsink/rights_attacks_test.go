package natsink

import (
	"slices"
	"testing"

	"driftscope/internal/flow/rights"
)

// posted is a message of an attack.
type posted struct{ subject, reply, body string }

// TestAttacks: attacks that once worked have no effect any more. TestRights would also detect each.
func TestAttacks(t *testing.T) {
	steal := `{"name":"STOLEN","subjects":["stolen"],"storage":"memory","republish":{"src":"stolen","dest":"$KV.driftscope_local_streams.bead"}}`
	stolen := []posted{{"$JS.API.STREAM.CREATE.STOLEN", "_INBOX.mine.1", steal}, {"stolen", "", "forged"}}
	for name, attack := range map[string]struct {
		on     func(*testing.T) *trial
		way    string
		sends  []posted
		spared []string // classes that no message may reach
	}{
		"a page takes the program's rights": {embeddedTrial("", false), "a page as anyone", []posted{
			{"driftscope.local.other.latent", "", "forged"}, {"driftscope.local.other.cmd.stop", "_INBOX.mine.1", ""}, {"$KV.driftscope_local.bead.config", "", "forged"}, {"$JS.API.STREAM.DELETE.driftscope_local_bead", "_INBOX.mine.2", ""},
		}, []string{"results", "commands", "laws", "kept"}},
		"a camera writes by the confirmation of a frame": {instrumentTrial, "camera", []posted{
			{"camera.bead", "$KV.driftscope_local.bead.config", "junk"}, {"camera.bead", "driftscope.local.other.latent", "junk"}, {"camera.bead", "driftscope.local.bead.kept.latent", "junk"},
		}, []string{"laws", "results", "kept"}},
		"a microscope feeds frames into another's stream": {siteTrial, "hall_bead", []posted{
			{"$JS.API.DIRECT.GET.frames_camera_bead", "camera.other", `{"seq":1}`}, {"leaf.bead.get", "camera.other", `{"seq":1}`}, {"camera.bead", "camera.other", "junk"}, {"camera.other", "", "junk"},
		}, []string{"others' frames"}},
		"a worker writes by a stream that publishes again":    {siteTrial, "hall_worker", stolen, []string{"orders"}},
		"an operator writes by a stream that publishes again": {siteTrial, "hall_operator", stolen, []string{"orders"}},
		"a viewer puts an answer in the place of a result": {siteTrial, "hall_viewer", []posted{
			{"driftscope.local.bead.cmd.info", "driftscope.local.other.latent", ""}, {"driftscope.local.bead.cmd.stats", "driftscope.local.other.population", ""}, {"$JS.API.DIRECT.GET.KV_driftscope_local_streams", "driftscope.local.other.latent", `{"seq":1}`},
		}, []string{"results", "populations"}},
	} {
		t.Run(name, func(t *testing.T) {
			tr := attack.on(t)
			w := tr.ways[slices.IndexFunc(tr.ways, func(w way) bool {
				return w.name == attack.way && (w.role == nil || slices.Contains(w.role.Doors, w.door))
			})]
			h, err := w.dial()
			if err != nil {
				t.Fatal(err)
			}
			defer h.close()
			tr.prepare()
			for _, s := range attack.sends {
				h.publish(s.subject, s.reply, []byte(s.body))
			}
			h.flush()
			for _, s := range tr.settled() {
				if c := rights.Classes[s.class]; slices.Contains(attack.spared, c.Name) && tr.matters(s.account, s.class) {
					t.Errorf("%s in %s heard %.80q", s.message.Subject, s.account, s.message.Data)
				}
			}
			for i, c := range rights.Classes {
				if c.Stream == "" || !slices.Contains(attack.spared, c.Name) {
					continue
				}
				if s, err := tr.js(i).Stream(t.Context(), c.Stream); err != nil || s.CachedInfo().State.Msgs != 1 || tr.stolen(i) {
					t.Errorf("the stream %s: %v, expected its one message and no other stream", c.Stream, err)
				}
			}
		})
	}
}
