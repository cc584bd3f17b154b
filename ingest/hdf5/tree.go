package hdf5

import "fmt"

// The kinds of version 1 B-trees.
const (
	groupTree = 0
	chunkTree = 1
)

// node describes what the nodes of a tree have in common.
type node struct {
	kind int
	key  int             // bytes
	seen map[uint64]bool // nodes already read
}

// tree calls leaf with each key and address in a version 1 B-tree.
func (f *file) tree(at uint64, n node, leaf func(key *cursor, child uint64) error) error {
	return f.branch(at, -1, n, leaf)
}

// branch reads a node and its children. level is the expected level, 0 at the bottom, or negative if unknown.
func (f *file) branch(at uint64, level int, n node, leaf func(key *cursor, child uint64) error) error {
	if n.seen[at] {
		return fmt.Errorf("the node at address %d occurs twice: the file is damaged, copy it again", at)
	}
	n.seen[at] = true
	const head = 24
	c, err := f.block(at, head)
	if err != nil {
		return err
	}
	signature, kind, its, count := string(c.take(4)), int(c.number(1)), int(c.number(1)), int(c.number(2))
	if signature != "TREE" || kind != n.kind || level >= 0 && its != level {
		return fmt.Errorf("there is no node of level %d of a tree of kind %d at address %d: the file is damaged, copy it again", level, n.kind, at)
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
