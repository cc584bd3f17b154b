package tiff

// stack is a file of ImageJ beyond TIFF's 4 GiB: one directory with "images=N" in its description, and the pixels of N pages without gaps.
type stack struct {
	claimed int
	held    int   // pages that fit in the file; 0 without a stack
	start   int64 // file offset of the first page's pixels
	bytes   int64 // per page
}

func (s stack) missing() int { return s.claimed - s.held }

// fitting returns the number of whole pages in a file of size bytes.
func (s stack) fitting(size int64) int { return int(min(int64(s.claimed), (size-s.start)/s.bytes)) }

// findStack sets f.stack if the only directory describes several pages. It ignores a stale description, such as in a copied single page: the pixels must exist,
// and lie after the directory, as ImageJ writes them.
func (f *File) findStack() {
	p := &f.page
	claimed := f.claimedImages()
	if claimed < 2 || !p.contiguous() || int64(p.offsets[0]) < f.directories[0] {
		return
	}
	size := int64(p.width) * int64(p.height) * int64(p.samples) * int64(p.bits/8)
	s := stack{claimed: claimed, start: int64(p.offsets[0]), bytes: size}
	if s.held = s.fitting(f.size); s.held < 1 || s.held == 1 && f.broken == nil {
		return
	}
	f.stack = s
	f.broken = nil
}

// claimedImages returns N of "images=N" in an ImageJ description, or 0.
func (f *File) claimedImages() int { return count(imageJ(f.description()).value("images")) }
