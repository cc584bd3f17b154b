package file

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"driftscope/internal/flow/latent"
)

// The tables of a columnar recording, one file each.
const (
	latentTable = iota
	sdeTable
	eventTable
	triggerTable
	objectsTable
	trackTable
	populationTable
	tableCount
)

// tableNames lists the parts of the file names that name the table.
var tableNames = []string{string(latent.KindLatent), string(latent.KindSDE), string(latent.KindEvent), string(latent.KindTrigger),
	string(latent.KindObjects), string(latent.KindTrack), string(latent.KindPopulation)}

// columnar writes a recording as tables, one file each.
type columnar struct {
	files    recording
	only     int // the only table to write, or the constant every
	rows     [tableCount]table
	places   places
	add      func(*node) error                 // c.object, stored because a method value per frame would allocate
	revision uint64                            // revision of the last recorded law
	write    func(table int, fresh bool) error // appends rows[table] to its file; fresh is true for the first row of a file
}

// every is the value of only that means all tables.
const every = -1

// tableOptions holds the keys of every sink that writes tables.
type tableOptions struct {
	fileOptions
	Table string `yaml:"table" reaches:"nothing"` // the only table to write, into the file path; "" writes all tables, each into its own file
}

// chosen returns the only table to write, or every, and the names of the tables for the file names.
func (o *tableOptions) chosen() (only int, names []string, err error) {
	if o.Table == "" {
		return every, tableNames, nil
	}
	only = slices.Index(tableNames, o.Table)
	if only < 0 {
		return only, nil, fmt.Errorf("table: found %.40q, expected one of %s", o.Table, strings.Join(tableNames, ", "))
	}
	return only, []string{""}, nil
}

// output returns the file of a table, or nil if that table is not written.
func (c *columnar) output(table int) *output {
	if c.only != every {
		table = 0
	}
	return c.files.outputs[table]
}

// table returns the table of an output.
func (c *columnar) table(output int) int {
	if c.only != every {
		return c.only
	}
	return output
}

// record adds m's rows. Health and views have no rows, but arrive every second and so trigger due writes to the disk.
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

// fill writes the rows of m. After an error no row was written, because only the first row can have changed columns.
func (c *columnar) fill(m latent.Message) error {
	switch m := m.(type) {
	case *latent.Estimate:
		if err := c.frame(m); err != nil {
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
	case *latent.Track:
		c.rows[trackTable].track(m)
		return c.row(trackTable)
	case *latent.Population:
		c.rows[populationTable].population(m)
		return c.row(populationTable)
	case *latent.Health, *latent.View:
		return nil
	}
	return fmt.Errorf("a message of type %T cannot be written", m)
}

// frame adds a frame's latent, if it has one, and a row for every position of an object that became known with the frame. If only the table of objects is
// written, it also includes the single object of a scene.
func (c *columnar) frame(e *latent.Estimate) error {
	o := e.Objects
	if o == nil || len(e.Latent.Mean) > 0 {
		c.rows[latentTable].latent(e)
		if err := c.row(latentTable); err != nil {
			return err
		}
	}
	if c.only != every && c.only != objectsTable || c.only == every && o == nil {
		return nil
	}
	if c.add == nil {
		c.add = c.object
	}
	return c.places.each(e, c.add)
}

// object adds the row of a position.
func (c *columnar) object(n *node) error {
	c.rows[objectsTable].object(n, c.places.latents)
	return c.row(objectsTable)
}

// law adds s if its revision is new, with the dimension of the latents before it.
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

// row writes one table's row. Columns never change within a file; a change of columns starts the next file.
func (c *columnar) row(table int) error {
	if c.only != every && c.only != table {
		return nil
	}
	if c.rows[table].naming && c.output(table).records > 0 {
		if err := c.files.renew(); err != nil {
			c.rows[table].columns = nil // the next row names them again
			return err
		}
	}
	o := c.output(table)
	if err := c.write(table, o.records == 0); err != nil {
		return err
	}
	o.records++
	return nil
}
