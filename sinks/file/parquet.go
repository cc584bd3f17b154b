package file

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"driftscope/internal/flow/latent"
)

const (
	parquetEvery = 5 * time.Minute // recording time that a crash may lose, unless rotate_every is set
	groupBytes   = 4 << 20         // largest size of the values before encoding, bytes
	groupRows    = 1 << 16         // largest number of rows before encoding
)

// Parquet writes tables as Apache Parquet. A file is readable once its footer is written; until then its name ends in .partial.
type Parquet struct {
	tables  columnar
	stream  string
	writers [tableCount]*parquet.GenericWriter[any]
	row     [1]parquet.Row // reused
}

// NewParquet creates the first files of a stream. decode fills the options of NewCSV.
func NewParquet(decode func(any) error, stream string, log *slog.Logger) (*Parquet, error) {
	o := tableOptions{fileOptions: fileOptions{RotateEvery: parquetEvery}}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := o.check("results.parquet"); err != nil {
		return nil, err
	}
	only, names, err := o.chosen()
	if err != nil {
		return nil, err
	}
	s := &Parquet{stream: stream}
	s.tables.only, s.tables.files = only, recording{rotation: rotation{options: o.fileOptions, tables: names, log: log}, finish: s.footer}
	s.tables.write = s.values
	return s, s.tables.files.start()
}

// Write adds m's rows.
func (s *Parquet) Write(_ context.Context, m latent.Message) error { return s.tables.record(m) }

// values writes the row of a table. If fresh is true, it first starts a file.
func (s *Parquet) values(table int, fresh bool) error {
	t := &s.tables.rows[table]
	if fresh {
		s.writers[table] = parquet.NewGenericWriter[any](s.tables.output(table), schemaOf(tableNames[table], t.columns),
			parquet.Compression(&parquet.Snappy), parquet.WriteBufferSize(0), parquet.CreatedBy("driftscope", strconv.Itoa(latent.Version), ""),
			parquet.MaxRowsPerRowGroup(int64(min(groupBytes/(8*len(t.columns)), groupRows))), parquet.KeyValueMetadata("stream", s.stream))
	}
	row := s.row[0][:0]
	for i, c := range t.cells {
		row = append(row, valueOf(t.columns[i].form, c).Level(0, 0, i))
	}
	s.row[0] = row
	_, err := s.writers[table].WriteRows(s.row[:])
	return err
}

func valueOf(f form, c cell) parquet.Value {
	switch f {
	case isWhole, isInstant:
		return parquet.Int64Value(int64(c.whole))
	case isFlag:
		return parquet.BooleanValue(c.whole == 1)
	case isText:
		return parquet.ByteArrayValue([]byte(c.text))
	}
	return parquet.DoubleValue(c.number)
}

// footer ends the file of an output.
func (s *Parquet) footer(output int) error { return s.writers[s.tables.table(output)].Close() }

// Close completes the files and removes files without rows.
func (s *Parquet) Close(context.Context) error { return s.tables.files.close() }

// ordered is a schema that keeps the order of the columns; the library's own schema sorts them by name.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

// Fields returns the columns.
func (o ordered) Fields() []parquet.Field { return o.fields }

// schemaOf returns the schema of a table. Every column is required.
func schemaOf(name string, columns []column) *parquet.Schema {
	group, place := parquet.Group{}, map[string]int{}
	for i, c := range columns {
		group[c.name], place[c.name] = nodeOf(c.form), i
	}
	fields := group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return place[a.Name()] - place[b.Name()] })
	return parquet.NewSchema(name, ordered{group, fields})
}

func nodeOf(f form) parquet.Node {
	switch f {
	case isWhole:
		return parquet.Int(64)
	case isInstant:
		return parquet.Timestamp(parquet.Nanosecond)
	case isFlag:
		return parquet.Leaf(parquet.BooleanType)
	case isText:
		return parquet.String()
	}
	return parquet.Leaf(parquet.DoubleType)
}
