package tiff

// stack is ImageJ's way around TIFF's 4 GiB: one directory, "images=N" in its description, and N pages of pixels in a row.
type stack struct {
	claimed int
	held    int   // pages that fit in the file; 0 where there is no stack
	start   int64 // of the first page's pixels in the file
	bytes   int64 // of a page
}

func (s stack) missing() int { return s.claimed - s.held }

// fitting is how many pages a file of size bytes holds.
func (s stack) fitting(size int64) int { return int(min(int64(s.claimed), (size-s.start)/s.bytes)) }

// findStack sets f.stack where the only directory describes several pages. A description that outlived its stack, as a copied
// single page has one, is not believed: the pixels have to be there, behind the directory as ImageJ writes them.
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

// claimedImages is N of "images=N" in an ImageJ description, 0 without one.
func (f *File) claimedImages() int { return count(imageJ(f.description()).value("images")) }
