package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/system"
)

// A spool's files contain consecutive records. Each has its length and its checksum, both little-endian uint32, the lengths of kind and identity, one byte
// each, then kind, identity and message. The checksum is the CRC-32 of the bytes after it and of the record's position, so a moved record is invalid. Earlier
// releases omitted the position.
const (
	spoolHead   = 8
	spoolSuffix = ".spool"
	segments    = 64      // number of segments of a full spool
	leastCut    = 1 << 20 // smallest size of a segment, bytes
)

// errSpoolFull reports that the spool has no room for a record.
var errSpoolFull = errors.New("the spool is full: messages are lost until the NATS server stores the waiting ones; raise nats.max_bytes")

// Record is a message in a spool.
type Record struct {
	Kind latent.Kind
	ID   string // identity by which the server recognises a duplicate
	Line []byte // JSON

	Skipped int64 // damaged bytes that Read skipped before it
}

// Position is the beginning of a record. The zero Position is before all records.
type Position struct {
	segment uint64
	offset  int64
}

// Before reports whether p comes before q.
func (p Position) Before(q Position) bool {
	return p.segment < q.segment || p.segment == q.segment && p.offset < q.offset
}

// Spool is a queue of records on disk. It may be used from any goroutine.
type Spool struct {
	Folder string        // folder of its files
	Ready  chan struct{} // has a token when there may be more to read

	limit int64 // bytes
	cut   int64 // bytes after which the next segment begins
	lock  *os.File

	mu    sync.Mutex
	cuts  []*segment // segments, oldest first; never empty
	bytes int64
	first Position // position of the oldest remaining record

	noted   Position // value of first on the disk
	notedAt time.Time
	copy    int // index of the position file written last
}

// segment is one file.
type segment struct {
	number uint64
	file   *os.File
	size   int64
}

// Open opens and locks the folder. It creates a missing folder.
func Open(folder string, limit int64) (*Spool, error) {
	s := &Spool{Folder: folder, limit: limit, cut: max(limit/segments, leastCut), Ready: make(chan struct{}, 1)}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("%w: check nats.store", err)
	}
	var err error
	if s.lock, err = system.OpenShared(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("%w: check nats.store", err)
	}
	if err := system.Hold(s.lock, false); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: another run of this stream uses it: give another nats.store or stream", folder), s.lock.Close())
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// SetLimit sets the largest size of the spool, in bytes. Existing records above the limit remain.
func (s *Spool) SetLimit(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = bytes
}

// load finds the records of an earlier run. New records go to a new segment, because the end of the last segment may be damaged.
func (s *Spool) load() error {
	entries, err := os.ReadDir(s.Folder)
	if err != nil {
		return err
	}
	p := s.recall()
	next := p.segment + 1
	for _, e := range entries { // sorted by name
		name, _ := strings.CutSuffix(e.Name(), spoolSuffix)
		number, err := strconv.ParseUint(name, 16, 63)
		if err != nil || e.Name() != segmentName(number) {
			continue // a foreign file
		}
		c, err := s.open(number)
		if err != nil {
			return err
		}
		if c.size == 0 { // the segment never got a record
			if err := c.remove(); err != nil {
				return err
			}
			continue
		}
		s.cuts = append(s.cuts, c)
		s.bytes += c.size
		next = max(next, number+1)
	}
	known := len(s.cuts) > 0 && p.segment <= s.cuts[len(s.cuts)-1].number // otherwise its records no longer exist
	c, err := s.open(next)
	if err != nil {
		return err
	}
	s.cuts = append(s.cuts, c)
	s.first = Position{s.cuts[0].number, 0}
	s.noted = s.first
	signal(s.Ready)
	if !known {
		return nil
	}
	return s.forget(p)
}

func segmentName(number uint64) string { return fmt.Sprintf("%016x%s", number, spoolSuffix) }

// open opens one segment.
func (s *Spool) open(number uint64) (*segment, error) {
	file, err := os.OpenFile(filepath.Join(s.Folder, segmentName(number)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: check nats.store", err)
	}
	there, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &segment{number: number, file: file, size: there.Size()}, nil
}

// remove deletes the segment.
func (c *segment) remove() error { return errors.Join(c.file.Close(), os.Remove(c.file.Name())) }

// AppendRecord appends a record to dst in its form on disk, without the checksum, which Append writes.
func AppendRecord(dst []byte, r Record) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, spoolHead)...)
	dst = append(dst, byte(len(r.Kind)), byte(len(r.ID)))
	dst = append(dst, r.Kind...)
	dst = append(dst, r.ID...)
	dst = append(dst, r.Line...)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-spoolHead))
	return dst
}

// Append adds complete records made by AppendRecord, all or none.
func (s *Spool) Append(records []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+int64(len(records)) > s.limit {
		return errSpoolFull
	}
	last := s.cuts[len(s.cuts)-1]
	if last.size > 0 && last.size+int64(len(records)) > s.cut {
		if err := s.extend(); err != nil {
			return err
		}
		last = s.cuts[len(s.cuts)-1]
	}
	err := last.write(records)
	if err != nil && last.size > 0 && s.first == (Position{last.number, last.size}) { // forgotten records may fill the disk
		if err := errors.Join(s.extend(), s.forget(s.first)); err != nil {
			return err
		}
		err = s.cuts[len(s.cuts)-1].write(records)
	}
	if err != nil {
		return err
	}
	s.bytes += int64(len(records))
	signal(s.Ready)
	s.note()
	return nil
}

// extend starts the next segment.
func (s *Spool) extend() error {
	next, err := s.open(s.cuts[len(s.cuts)-1].number + 1)
	if err == nil {
		s.cuts = append(s.cuts, next)
	}
	return err
}

// write adds complete records, all or none.
func (c *segment) write(records []byte) error {
	seal(records, Position{c.number, c.size})
	if _, err := c.file.WriteAt(records, c.size); err != nil {
		return errors.Join(fmt.Errorf("%w: free some space for nats.store", err), c.file.Truncate(c.size))
	}
	c.size += int64(len(records))
	return nil
}

// First returns the position of the oldest remaining record.
func (s *Spool) First() Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

// Read returns the first intact record at p or after it, and the position of the next record. ok is false at the end.
func (s *Spool) Read(p Position) (r Record, next Position, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	skipped := int64(0)
	for _, c := range s.cuts {
		if c.number < p.segment {
			continue
		}
		if c.number > p.segment { // the previous segment has ended, or files are missing in between
			p = Position{c.number, 0}
		}
		if p.offset >= c.size {
			continue
		}
		r, at, after, err := c.next(p.offset)
		if err != nil {
			return r, p, false, fmt.Errorf("%w: the spool still has its messages: check the disk of nats.store", err)
		}
		skipped += at - p.offset
		p.offset = after
		if after > at {
			r.Skipped = skipped
			return r, p, true, nil
		}
	}
	r.Skipped = skipped
	return r, p, false, nil
}

// Forget removes the records before p, and deletes segments without other records.
func (s *Spool) Forget(p Position) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forget(p)
}

func (s *Spool) forget(p Position) error {
	s.first = p
	for len(s.cuts) > 1 && (s.cuts[0].number < p.segment || s.cuts[0].number == p.segment && p.offset >= s.cuts[0].size) {
		old := s.cuts[0]
		s.cuts, s.bytes = slices.Delete(s.cuts, 0, 1), s.bytes-old.size
		if err := old.remove(); err != nil {
			return err
		}
	}
	if p.segment < s.cuts[0].number {
		s.first = Position{s.cuts[0].number, 0}
	}
	s.note()
	return nil
}

// Empty reports whether no records are left.
func (s *Spool) Empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.cuts[len(s.cuts)-1]
	return s.first.segment == last.number && s.first.offset == last.size
}

// Waiting returns the number of bytes of the remaining records.
func (s *Spool) Waiting() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes - s.first.offset
}

// Close closes the files, which keep the remaining records for the next run. If there are none, it removes all files.
func (s *Spool) Close() error {
	done := len(s.cuts) > 0 && s.Empty()
	var errs []error
	if s.notedAt = (time.Time{}); done {
		s.unnote()
	} else if len(s.cuts) > 0 {
		s.note()
	}
	for _, c := range s.cuts {
		errs = append(errs, c.file.Close())
		if done {
			errs = append(errs, os.Remove(c.file.Name()))
		}
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// signal puts a token into Ready if it has none.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
