package file

import (
	"context"
	"encoding/csv"
	"errors"
	"log/slog"
	"math"
	"strconv"
	"time"

	"driftscope/internal/flow/latent"
)

// CSV writes tables as text: a header, then a line per row. Numbers keep their exact value; a number that is not finite is an empty cell.
type CSV struct {
	tables columnar
	writer *csv.Writer // to lines
	lines  redirect
	buffer []byte // text of one row's cells, concatenated
	ends   []int  // of each cell in buffer
	fields []string
}

// redirect is an io.Writer that writes to the current output.
type redirect struct{ to *output }

// Write never fails.
func (r *redirect) Write(p []byte) (int, error) { return r.to.Write(p) }

// NewCSV creates the first files. decode fills the options path, rotate_mb, rotate_every, keep and table.
func NewCSV(decode func(any) error, log *slog.Logger) (*CSV, error) {
	var o tableOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := o.check("results.csv"); err != nil {
		return nil, err
	}
	only, names, err := o.chosen()
	if err != nil {
		return nil, err
	}
	s := &CSV{}
	s.tables.only, s.tables.files.rotation = only, rotation{options: o.fileOptions, tables: names, log: log}
	s.writer = csv.NewWriter(&s.lines)
	s.tables.write = s.line
	return s, s.tables.files.start()
}

// Write adds m's lines. They reach the disk within a second, as long as messages arrive.
func (s *CSV) Write(_ context.Context, m latent.Message) error { return s.tables.record(m) }

// line writes the row of a table. If fresh is true, it first writes the header.
func (s *CSV) line(table int, fresh bool) error {
	t := &s.tables.rows[table]
	s.lines.to = s.tables.output(table)
	if fresh {
		s.header(table)
		if err := s.writer.Write(s.fields); err != nil {
			return err
		}
	}
	s.buffer, s.ends, s.fields = s.buffer[:0], s.ends[:0], s.fields[:0]
	for i, c := range t.cells {
		s.buffer = appendCell(s.buffer, t.columns[i].form, c)
		s.ends = append(s.ends, len(s.buffer))
	}
	row, from := string(s.buffer), 0 // one allocation for all cells
	for _, to := range s.ends {
		s.fields = append(s.fields, row[from:to])
		from = to
	}
	if err := s.writer.Write(s.fields); err != nil {
		return err
	}
	s.writer.Flush()
	return s.writer.Error()
}

func appendCell(dst []byte, f form, c cell) []byte {
	switch f {
	case isWhole:
		return strconv.AppendUint(dst, c.whole, 10)
	case isFlag:
		return strconv.AppendBool(dst, c.whole == 1)
	case isInstant:
		return time.Unix(0, int64(c.whole)).UTC().AppendFormat(dst, time.RFC3339Nano)
	case isText:
		return append(dst, c.text...)
	}
	if math.IsNaN(c.number) || math.IsInf(c.number, 0) {
		return dst
	}
	return strconv.AppendFloat(dst, c.number, 'g', -1, 64)
}

// Close writes the remaining bytes. It removes files without rows, except if only the table of objects was requested. A file with only a header then shows that
// there were no objects.
func (s *CSV) Close(context.Context) error {
	err := s.headObjects()
	return errors.Join(err, s.tables.files.close())
}

// headObjects writes the header of a table of objects without rows.
func (s *CSV) headObjects() error {
	files := &s.tables.files
	if s.tables.only != objectsTable || files.rotation.options.rotates() || len(files.outputs) == 0 || files.outputs[0] == nil || files.outputs[0].records > 0 {
		return nil
	}
	s.tables.rows[objectsTable].object(&node{}, 0)
	s.header(objectsTable)
	if err := s.writer.Write(s.fields); err != nil {
		return err
	}
	s.writer.Flush()
	files.outputs[0].records++
	return s.writer.Error()
}

// header makes the names of a table's columns the fields of the next line, and selects the file of the table.
func (s *CSV) header(table int) {
	s.lines.to, s.fields = s.tables.output(table), s.fields[:0]
	for _, c := range s.tables.rows[table].columns {
		s.fields = append(s.fields, c.name)
	}
}
