package tracks

// Carry moves every track by the common motion of all objects until the next frame, px, for example by a stage or a flow. It also moves the stored steps of
// the last frames, because an exchange replays them in the coordinates of the next frame. Points keep the coordinates of their own frame.
func (t *Tracker) Carry(dx, dy float64) {
	if dx == 0 && dy == 0 {
		return
	}
	t.carried.x, t.carried.y = t.carried.x+dx, t.carried.y+dy
	for _, k := range t.live {
		k.state.motion.carry(dx, dy)
		for i := range k.steps {
			s := &k.steps[i]
			s.before.motion.carry(dx, dy)
			s.sight.d.X, s.sight.d.Y = s.sight.d.X+dx, s.sight.d.Y+dy
			s.point.X, s.point.Y = s.point.X+dx, s.point.Y+dy
		}
	}
	for i := range t.ways {
		w := &t.ways[i]
		for _, v := range [...]*way{&w.ab, &w.ba, &w.aa, &w.bb} {
			v.state.motion.carry(dx, dy)
		}
	}
}

func (m *motion) carry(dx, dy float64) {
	m.bx, m.by, m.dx, m.dy, m.fx, m.fy = m.bx+dx, m.by+dy, m.dx+dx, m.dy+dy, m.fx+dx, m.fy+dy
}
