package tracks

// Carry moves every track, as the stage or a flow moves all objects before the next frame, px.
func (t *Tracker) Carry(dx, dy float64) {
	if dx == 0 && dy == 0 {
		return
	}
	for i := range t.live {
		m := &t.live[i].motion
		m.bx, m.by, m.dx, m.dy = m.bx+dx, m.by+dy, m.dx+dx, m.dy+dy
	}
}
