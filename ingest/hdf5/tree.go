package hdf5

import "fmt"

// Kinds of B-trees of version 1.
const (
	groupTree = 0
	chunkTree = 1
)

// node says what the nodes of a tree are like.
type node struct {
	kind int
	key  int             // bytes
	seen map[uint64]bool // nodes that were read: none is twice
}

// tree calls leaf with the key and the address of everything that a B-tree of version 1 lists.
func (f *file) tree(at uint64, n node, leaf func(key *cursor, child uint64) error) error {
	return f.branch(at, -1, n, leaf)
}

// branch reads a node, which has to be of a level, where that is known, from 0, the lowest.
func (f *file) branch(at uint64, level int, n node, leaf func(key *cursor, child uint64) error) error {
	if n.seen[at] {
		return fmt.Errorf("the node at address %d is met twice: the file is damaged, copy it again", at)
	}
	n.seen[at] = true
	const head = 24
	c, err := f.block(at, head)
	if err != nil {
		return err
	}
	signature, kind, its, count := string(c.take(4)), int(c.number(1)), int(c.number(1)), int(c.number(2))
	if signature != "TREE" || kind != n.kind || level >= 0 && its != level {
		return fmt.Errorf("no node of level %d of a tree of kind %d at address %d: the file is damaged, copy it again", level, n.kind, at)
	}
	if c, err = f.block(at+head, count*(n.key+8)); err != nil {
		return err
	}
	for range count {
		key := cursor{b: c.take(n.key)}
		child := c.number(8)
		if its == 0 {
			err = leaf(&key, child)
		} else {
			err = f.branch(child, its-1, n, leaf)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
