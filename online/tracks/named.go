package tracks

import "slices"

// name assigns each detection to the track with its number. The source knows the identities, so no track has rivals, merges or waits for confirmation.
func (t *Tracker) name(detections []Detection) {
	t.rivals, t.pairs, t.sights = t.rivals[:0], t.pairs[:0], t.sights[:0]
	t.owner = slices.Grow(t.owner[:0], len(detections))[:len(detections)]
	clear(t.owner)
	clear(t.named)
	for j := range detections {
		t.sights = append(t.sights, t.sighted(j, &detections[j]))
		t.named[detections[j].ID] = int32(j)
	}
	for _, k := range t.live {
		j, ok := t.named[k.id]
		switch {
		case k.over > 0:
		case ok:
			t.owner[j] = k
			t.hit(k, &t.sights[j])
		default:
			t.take(k, sight{detection: Undetected, births: t.meanwhile})
		}
	}
	t.births(detections)
	for _, k := range t.live {
		at := k.at(t.n)
		if at.link = 1; at.sight.own() {
			s := &k.state
			s.exists, s.confirmed = max(s.exists, t.o.Confirm), true
			at.point = s.point(k.id, t.clock[t.n%window].frame, at.sight.detection)
		}
	}
}
