package hdf5

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// Bounds on the search.
const (
	maxObjects = 1 << 16
	maxDepth   = 16
	maxHeap    = 16 << 20 // bytes of a group's names
	maxName    = 1024
	maxNode    = 1 << 16 // entries per node
)

// link is a name in a group and the address of the header of the named object.
type link struct {
	name string
	at   uint64
}

// search walks the groups of a file.
type search struct {
	file  *file
	seen  map[uint64]bool // headers and nodes already read
	names int             // number of names in all groups
	found []*dataset
}

// more counts n further names, and returns an error if they exceed the bound.
func (s *search) more(n int) error {
	if s.names += n; s.names > maxObjects {
		return tiff.Unread("groups have more than %d names: give a file with fewer", maxObjects)
	}
	return nil
}

// visit reads the object at an address and its members.
func (s *search) visit(at uint64, path string, depth int) error {
	if s.seen[at] {
		return nil // the object has several names and was read before
	}
	if len(s.seen) >= maxObjects {
		return tiff.Unread("the file has more than %d objects and nodes of groups: give a file with fewer", maxObjects)
	}
	s.seen[at] = true
	h, err := s.file.header(at)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if h.find(layoutMessage) != nil {
		s.found = append(s.found, newDataset(path, h))
		return nil
	}
	links, err := s.links(h)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if depth == maxDepth {
		return nil
	}
	slices.SortFunc(links, func(a, b link) int { return strings.Compare(a.name, b.name) })
	for _, l := range links {
		if err := s.visit(l.at, strings.TrimSuffix(path, "/")+"/"+l.name, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// links returns the hard links of a group. Soft and external links are not followed.
func (s *search) links(h header) (links []link, err error) {
	if m := h.find(tableMessage); m != nil {
		c := cursor{b: m.data}
		tree, heap := c.number(8), c.number(8)
		if c.short {
			return nil, fmt.Errorf("%w: a symbol table has only %d bytes", bounded.ErrTorn, len(m.data))
		}
		return s.table(tree, heap)
	}
	for _, m := range h {
		switch m.kind {
		case linkMessage:
			if l, hard := oneLink(m.data); hard {
				links = append(links, l)
			}
		case linksMessage:
			c := cursor{b: m.data}
			c.take(1)
			if flags := c.number(1); flags&1 != 0 {
				c.take(8)
			}
			if heap, tree := c.number(8), c.number(8); !c.short && heap != undefined {
				some, err := s.denseLinks(heap, tree)
				if err != nil {
					return nil, err
				}
				links = append(links, some...)
			}
		}
	}
	return links, nil
}

// oneLink reads a link message.
func oneLink(data []byte) (l link, hard bool) {
	c := cursor{b: data}
	c.take(1)
	flags := c.number(1)
	kind := uint64(0)
	if flags&0x08 != 0 {
		kind = c.number(1)
	}
	if flags&0x04 != 0 {
		c.take(8)
	}
	if flags&0x10 != 0 {
		c.take(1)
	}
	n := c.number(1 << (flags & 3))
	if n > maxName {
		return l, false
	}
	l.name = printable(string(c.take(int(n))))
	l.at = c.number(8)
	return l, kind == 0 && !c.short
}

// printable returns a name in which a mark replaces each character that breaks a line or is invisible.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, name)
}

// table reads a group of the old form: a B-tree of nodes and a heap of names.
func (s *search) table(tree, heap uint64) ([]link, error) {
	c, err := s.file.block(heap, 32)
	if err != nil {
		return nil, err
	}
	if string(c.take(4)) != "HEAP" {
		return nil, fmt.Errorf("there is no heap of names at address %d: the file is damaged, copy it again", heap)
	}
	c.take(4)
	n := c.number(8)
	c.take(8)
	at := c.number(8)
	if n > maxHeap {
		return nil, tiff.Unread("the names of one group have %d bytes, at most %d expected: give a file with fewer names", n, maxHeap)
	}
	names, err := s.file.block(at, int(n))
	if err != nil {
		return nil, err
	}
	var links []link
	err = s.file.tree(tree, node{kind: groupTree, key: 8, seen: s.seen}, func(_ *cursor, child uint64) error {
		some, err := s.symbols(child, names.b)
		links = append(links, some...)
		return err
	})
	return links, err
}

// symbols reads a node of a group of the old form.
func (s *search) symbols(at uint64, names []byte) (links []link, err error) {
	if s.seen[at] {
		return nil, fmt.Errorf("the node at address %d occurs twice: the file is damaged, copy it again", at)
	}
	s.seen[at] = true
	c, err := s.file.block(at, 8)
	if err != nil {
		return nil, err
	}
	const entry = 40 // bytes
	signature := string(c.take(4))
	c.take(2)
	n := int(c.number(2))
	if signature != "SNOD" {
		return nil, fmt.Errorf("there is no node of names at address %d: the file is damaged, copy it again", at)
	}
	if err := s.more(n); err != nil {
		return nil, err
	}
	if c, err = s.file.block(at+8, n*entry); err != nil {
		return nil, err
	}
	for range n {
		offset, header := c.number(8), c.number(8)
		kind := c.number(4)
		c.take(20)
		if offset >= uint64(len(names)) || kind == 2 { // 2 is a soft link
			continue
		}
		name, _, _ := bytes.Cut(names[offset:], []byte{0})
		if len(name) > 0 && len(name) <= maxName {
			links = append(links, link{printable(string(name)), header})
		}
	}
	return links, nil
}
