package objects

import (
	"sync"

	"driftscope/internal/flow/latent"
	"driftscope/online"
	"driftscope/online/tracks"
)

// follow is the followed object, whose positions are published as the latents of a single object.
type follow struct {
	id         uint64 // 0: no object
	trajectory uint64 // trajectory of its latents; differs per object, so no step joins two objects
	config     online.Config
	law        *online.Estimator
	closing    sync.WaitGroup // waits for the laws of earlier models to close
	single     latent.Latent  // reused
	sde        latent.SDE     // as last published
}

// Follow publishes the latents of object id, or of no object if id is 0. The law restarts if the object changes.
func (e *Estimator) Follow(id uint64) error {
	if id == e.follow.id {
		return nil
	}
	if id != 0 {
		if k := e.live[id]; k == nil || !k.confirmed {
			return latent.Refuse(latent.Unknown, "follow: no object has the number %d now: send a number from the latest message objects", id)
		}
	}
	e.follow.id = id
	e.follow.trajectory++
	e.follow.law.Reset()
	return nil
}

// lose notes that the object has ended.
func (f *follow) lose() { f.id = 0 }

// relearn starts a new law when a new model changes the number of latents. It runs between two frames, so it does not wait for the old law to close.
func (f *follow) relearn(dim int) (err error) {
	if dim == f.config.Dim {
		return nil
	}
	f.config.Dim = dim
	before := f.law
	if f.law, err = online.New(f.config); err != nil {
		f.law = before
		return err
	}
	f.trajectory++
	f.closing.Go(func() { before.Close() })
	return nil
}

// close ends the goroutines outside the frame path.
func (f *follow) close() error {
	f.closing.Wait()
	return f.law.Close()
}

// update writes the estimate of the followed object into dst if the object was detected. It drops a latent that the law refuses.
func (f *follow) update(dst *latent.Estimate, z *latent.Sight, p *tracks.Point) {
	if p.Detection < 0 {
		return
	}
	spot := &z.Spots.Found[p.Detection]
	l := &f.single
	d := z.Spots.Latents
	if f.relearn(Dim+d) != nil {
		return
	}
	l.Reset(Dim + d)
	l.Of(z.Head)
	l.Trajectory, l.Light = f.trajectory, spot.Amplitude
	l.Mean[0], l.Mean[1] = spot.X, spot.Y
	l.SD[0], l.SD[1] = sqrt(spot.VarX), sqrt(spot.VarY)
	copy(l.Mean[Dim:], z.Spots.Z[d*p.Detection:])
	copy(l.SD[Dim:], z.Spots.ZSD[d*p.Detection:])
	l.Centroid = append(l.Centroid[:0], spot.X, spot.Y)
	if f.law.Update(dst, l) != nil {
		dst.Latent.Reset(0)
		dst.Latent.Of(z.Head)
	}
	if dst.SDE.Revision != f.sde.Revision {
		f.sde.Copy(&dst.SDE)
	}
}
