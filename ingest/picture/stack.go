package picture

import (
	"os"

	"driftscope/ingest/format"
	"driftscope/ingest/tiff"
)

// Stack is an open TIFF file with the memory of its current page.
type Stack struct {
	file  *os.File
	Pages *tiff.File
	Page  tiff.Image
}

// Open opens a file. Pages.Next reads its pages.
func (s *Stack) Open(path string) error {
	file, size, err := format.OpenFilled(path)
	if err != nil {
		return err
	}
	s.file = file
	s.Pages, err = tiff.Open(file, size)
	return err
}

// Close closes the file. Safe to call at any time.
func (s *Stack) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// Closed reports that no file is open.
func (s *Stack) Closed() bool { return s.file == nil }
