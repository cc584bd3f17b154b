package file

import (
	"fmt"
	"time"

	"driftscope/internal/latent"
)

// The tables of a recording in columns, each a file.
const (
	latentTable = iota
	sdeTable
	eventTable
	triggerTable
	tableCount
)

// tableNames are part of the files' names.
var tableNames = []string{string(latent.KindLatent), string(latent.KindSDE), string(latent.KindEvent), string(latent.KindTrigger)}

// columnar is a recording in tables, one file each.
type columnar struct {
	files    recording
	rows     [tableCount]table
	revision uint64                            // of the last law recorded
	write    func(table int, fresh bool) error // adds rows[table] to its file, which begins with it where fresh is set
}

// record adds m's rows. Health and views have none, but come every second: the disk gets then what is due.
func (c *columnar) record(m latent.Message) error {
	if err := c.files.ready(); err != nil {
		return err
	}
	if err := c.fill(m); err != nil {
		return err
	}
	c.files.settle()
	return nil
}

// fill writes the rows of m. Where it fails none was written: only the first of them can find other columns.
func (c *columnar) fill(m latent.Message) error {
	switch m := m.(type) {
	case *latent.Estimate:
		c.rows[latentTable].latent(m)
		if err := c.row(latentTable); err != nil {
			return err
		}
		return c.law(m.Latent.Seq, m.Latent.Time, &m.SDE)
	case *latent.Law:
		return c.law(m.Seq, m.Time, &m.SDE)
	case *latent.Event:
		c.rows[eventTable].event(m)
		return c.row(eventTable)
	case *latent.Trigger:
		c.rows[triggerTable].trigger(m)
		return c.row(triggerTable)
	case *latent.Health, *latent.View:
		return nil
	}
	return fmt.Errorf("a message of type %T cannot be written", m)
}

// law adds s where its revision is new, with as many dimensions as the latents before it.
func (c *columnar) law(seq uint64, at time.Time, s *latent.SDE) error {
	if s.Revision == c.revision {
		return nil
	}
	c.rows[sdeTable].sde(seq, at, s, max(c.rows[latentTable].shape.dims, len(s.Sigma)))
	if err := c.row(sdeTable); err != nil {
		return err
	}
	c.revision = s.Revision
	return nil
}

// row writes one table's row. Columns never change within a file: where they are others now, the next file begins.
func (c *columnar) row(table int) error {
	if c.rows[table].naming && c.files.outputs[table].records > 0 {
		if err := c.files.renew(); err != nil {
			c.rows[table].columns = nil // named again with the next row
			return err
		}
	}
	o := c.files.outputs[table]
	if err := c.write(table, o.records == 0); err != nil {
		return err
	}
	o.records++
	return nil
}
