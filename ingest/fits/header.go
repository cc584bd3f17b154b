package fits

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A header consists of cards of 80 characters in blocks of 36 cards.
const (
	cardSize  = 80
	blockSize = 36 * cardSize
	maxBlocks = 512 // 18,000 cards; cameras write about a hundred
)

// header maps keywords to their values as text. If a keyword occurs several times, the first counts.
type header map[string]string

// readHeader reads up to the END card and returns the size of the header's blocks.
func readHeader(r io.ReaderAt) (h header, size int64, err error) {
	h = header{}
	block := make([]byte, blockSize)
	for range maxBlocks {
		if _, err := r.ReadAt(block, size); errors.Is(err, io.EOF) {
			return nil, 0, fmt.Errorf("the header has no END within the file's first %d bytes: the file is torn or not a FITS file, copy it again", size)
		} else if err != nil {
			return nil, 0, err
		}
		for at := 0; at < blockSize; at += cardSize {
			card := block[at : at+cardSize]
			if size == 0 && at == 0 && !strings.HasPrefix(string(card), Magic) {
				return nil, 0, fmt.Errorf("the file begins with %.10q, %q expected: it is compressed or not a FITS file, unpack or export it again", card, Magic)
			}
			if err := h.add(card); err != nil {
				return nil, 0, fmt.Errorf("header card %d: %w", (size+int64(at))/cardSize+1, err)
			}
			if strings.TrimRight(string(card), " ") == "END" {
				return h, size + blockSize, nil
			}
		}
		size += blockSize
	}
	return nil, 0, fmt.Errorf("the header continues beyond %d cards, more than any camera writes: export the file again", maxBlocks*blockSize/cardSize)
}

// Magic is the first bytes of a FITS file.
const Magic = "SIMPLE  ="

// add reads a card, "KEYWORD = value / comment". It skips a card without a value, which is a remark.
func (h header) add(card []byte) error {
	for _, b := range card {
		if b < ' ' || b > '~' {
			return fmt.Errorf("it contains the byte %#x, plain text expected: the file is damaged, copy it again", b)
		}
	}
	keyword := strings.TrimRight(string(card[:8]), " ")
	if _, twice := h[keyword]; twice || string(card[8:10]) != "= " {
		return nil
	}
	value, _, _ := strings.Cut(string(card[10:]), "/")
	h[keyword] = strings.TrimSpace(value)
	return nil
}

// integer returns a required whole number.
func (h header) integer(keyword string) (int, error) {
	text, found := h[keyword]
	if !found {
		return 0, fmt.Errorf("%s is missing from the header: export the file again", keyword)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s is %q, expected a whole number: export the file again", keyword, text)
	}
	return n, nil
}

// number returns an optional number. Its exponent may begin with a D.
func (h header) number(keyword string) (v float64, found bool, err error) {
	text, found := h[keyword]
	if !found {
		return 0, false, nil
	}
	v, err = strconv.ParseFloat(strings.Replace(text, "D", "E", 1), 64)
	if err != nil || v-v != 0 {
		return 0, false, fmt.Errorf("%s is %q, a finite number expected: export the file again", keyword, text)
	}
	return v, true, nil
}

// numberOr returns a number, or otherwise, the standard's default, if the keyword is missing.
func (h header) numberOr(keyword string, otherwise float64) (float64, error) {
	v, found, err := h.number(keyword)
	if err == nil && !found {
		v = otherwise
	}
	return v, err
}
