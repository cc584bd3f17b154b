package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"driftscope/internal/flow/latent"
)

// Encoder converts messages to JSON for one sink and reuses its memory. Only one goroutine may use it.
type Encoder struct {
	Stream string // name of the stream, written into every record
	Epoch  uint64 // epoch of the stream's lease, written into every record unless 0
	Limit  int    // largest size of a record of objects, bytes; 0: no limit

	sent   Sent
	line   []byte
	buffer bytes.Buffer
	sde    SDERecord

	fitting fitting
	left    int
}

// Sent is the law in the last encoded message: the next Estimate contains a law only if it differs.
type Sent struct {
	revision uint64
	field    *latent.Field
}

// Sent returns the state for Resend. A sink calls it before a message that it may have to encode again.
func (e *Encoder) Sent() Sent { return e.sent }

// Resend makes the Encoder continue as if the laws since Sent had not been encoded. The zero Sent is the state of a new Encoder.
func (e *Encoder) Resend(since Sent) { e.sent = since }

// Encode calls emit with the kind and the JSON of each record of m. The JSON is one line without a newline, and valid until emit returns. An Estimate gives an
// ObjectsRecord for a field, a LatentRecord if it has a latent, and an SDERecord if its law is new.
func (e *Encoder) Encode(m latent.Message, emit func(kind latent.Kind, line []byte) error) error {
	header := e.header
	e.left = 0
	switch m := m.(type) {
	case *latent.Estimate:
		if err := e.frame(m, emit); err != nil {
			return err
		}
		return e.law(m.Latent.Seq, m.Latent.Time, &m.SDE, emit)
	case *latent.Law:
		return e.law(m.Seq, m.Time, &m.SDE, emit)
	case *latent.Event:
		r := EventRecord{header(latent.KindEvent), *m}
		r.Time = r.Time.UTC()
		return e.emit(latent.KindEvent, &r, emit)
	case *latent.Trigger:
		return e.emit(latent.KindTrigger, triggerRecord(header(latent.KindTrigger), m), emit)
	case *latent.Health:
		r := HealthRecord{Header: header(latent.KindHealth), Health: *m}
		r.Time = r.Time.UTC()
		return e.emit(latent.KindHealth, &r, emit)
	case *latent.Track:
		return e.emit(latent.KindTrack, trackRecord(header(latent.KindTrack), m), emit)
	case *latent.Population:
		return e.emit(latent.KindPopulation, populationRecord(header(latent.KindPopulation), m), emit)
	case *latent.View:
		r := ViewRecord{header(latent.KindView), *m}
		r.Time = r.Time.UTC()
		return e.emit(latent.KindView, &r, emit)
	}
	return fmt.Errorf("a message of type %T cannot be written", m)
}

// header returns the header of a record.
func (e *Encoder) header(kind latent.Kind) Header {
	return Header{V: latent.Version, Kind: kind, Stream: e.Stream, Epoch: e.Epoch}
}

// Left returns the number of positions that were omitted from the last encoded message because of Limit.
func (e *Encoder) Left() int { return e.left }

// frame emits the objects of a frame of a field, and its latent if it has one.
func (e *Encoder) frame(m *latent.Estimate, emit func(latent.Kind, []byte) error) error {
	if m.Objects != nil {
		e.line = appendObjects(e.line[:0], e.header(latent.KindObjects), m, 0)
		if e.Limit > 0 && len(e.line) > e.Limit {
			e.left = e.fit(m)
		}
		if err := emit(latent.KindObjects, e.line); err != nil || len(m.Latent.Mean) == 0 {
			return err
		}
	}
	e.line = appendLatent(e.line[:0], e.header(latent.KindLatent), m)
	return emit(latent.KindLatent, e.line)
}

// law emits s, for frame seq, if its revision is new. It includes the drift field if that is new.
func (e *Encoder) law(seq uint64, at time.Time, s *latent.SDE, emit func(latent.Kind, []byte) error) error {
	if s.Revision == e.sent.revision {
		return nil
	}
	e.sde.fill(e.header(latent.KindSDE), seq, at, s)
	if s.Field != nil && s.Field != e.sent.field {
		e.sde.Field = fieldRecord(s.Field)
	}
	if err := e.emit(latent.KindSDE, &e.sde, emit); err != nil {
		return err
	}
	e.sent = Sent{s.Revision, s.Field}
	return nil
}

// emit encodes a record according to the tags of its fields.
func (e *Encoder) emit(kind latent.Kind, r Record, emit func(latent.Kind, []byte) error) error {
	e.buffer.Reset()
	if err := json.NewEncoder(&e.buffer).Encode(r); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return emit(kind, bytes.TrimSuffix(e.buffer.Bytes(), []byte("\n")))
}

// appendHeader starts the JSON of a record. The kind and the stream are tokens and need no escaping.
func appendHeader(dst []byte, h Header) []byte {
	dst = strconv.AppendInt(append(dst, `{"v":`...), int64(h.V), 10)
	dst = append(append(dst, `,"kind":"`...), h.Kind...)
	dst = append(append(dst, `","stream":"`...), h.Stream...)
	dst = append(dst, '"')
	if h.Epoch != 0 {
		dst = strconv.AppendUint(append(dst, `,"epoch":`...), h.Epoch, 10)
	}
	return dst
}

// appendLatent writes the JSON of a LatentRecord without allocating.
func appendLatent(dst []byte, h Header, e *latent.Estimate) []byte {
	l := &e.Latent
	field := func(name string, v uint64) {
		dst = append(dst, name...)
		dst = strconv.AppendUint(dst, v, 10)
	}
	vector := func(name string, v []float64) {
		dst = append(dst, name...)
		dst = appendNumbers(dst, v)
	}
	dst = appendHeader(dst, h)
	field(`,"seq":`, l.Seq)
	dst = append(dst, `,"time":"`...)
	dst = l.Time.UTC().AppendFormat(dst, time.RFC3339Nano)
	field(`","trajectory":`, l.Trajectory)
	field(`,"dropped_before":`, l.Dropped)
	vector(`,"z":`, l.Mean)
	vector(`,"z_sd":`, l.SD)
	vector(`,"drift":`, e.Drift)
	dst = append(dst, `,"latency_ms":`...)
	dst = appendNumber(dst, Milliseconds(e.Latency))
	if len(l.Centroid) > 0 {
		vector(`,"centroid_px":`, l.Centroid)
	}
	vector(`,"z_filtered":`, e.Filtered)
	vector(`,"z_filtered_sd":`, e.FilteredSD)
	dst = append(dst, `,"nis":`...)
	dst = appendNumber(dst, e.NIS)
	dst = append(dst, `,"light":`...)
	dst = appendNumber(dst, l.Light)
	if len(e.Horizons) > 0 {
		vector(`,"forecast_s":`, e.Horizons)
		vector(`,"forecast":`, e.Forecast)
		vector(`,"forecast_sd":`, e.ForecastSD)
	}
	return append(dst, '}')
}
