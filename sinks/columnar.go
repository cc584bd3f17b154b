package sinks

import (
	"fmt"

	"driftscope/internal/latent"
)

// The tables of a recording in columns, each a file.
const (
	latentTable = iota
	sdeTable
	eventTable
)

// tableNames are part of the files' names.
var tableNames = []string{string(latent.KindLatent), string(latent.KindSDE), string(latent.KindEvent)}

// columnar is a recording in tables. keep writes the row that is filled in; it begins the file where fresh is set.
type columnar struct {
	recording
	tables   [3]table
	revision uint64 // of the last law recorded
	keep     func(table int, fresh bool) error
}

// record adds m's rows. Health and views have no table: their second is told, so that the disk gets what is due.
func (c *columnar) record(m latent.Message) error {
	if err := c.ready(); err != nil {
		return err
	}
	var err error
	switch m := m.(type) {
	case *latent.Estimate:
		c.tables[latentTable].latent(m)
		if err = c.row(latentTable); err == nil && m.SDE.Revision != c.revision {
			c.tables[sdeTable].sde(m)
			if err = c.row(sdeTable); err == nil {
				c.revision = m.SDE.Revision
			}
		}
	case *latent.Event:
		c.tables[eventTable].event(m)
		err = c.row(eventTable)
	case *latent.Health, *latent.View:
	default:
		err = fmt.Errorf("a message of type %T cannot be written", m)
	}
	if err != nil {
		return err
	}
	c.settle()
	return nil
}

// row writes one table's row. Columns never change within a file: where they are others now, the next file begins.
func (c *columnar) row(table int) error {
	if c.tables[table].naming && c.outputs[table].records > 0 {
		if err := c.renew(); err != nil {
			c.tables[table].columns = nil // named again with the next row
			return err
		}
	}
	o := c.outputs[table]
	if err := c.keep(table, o.records == 0); err != nil {
		return err
	}
	o.records++
	return nil
}
