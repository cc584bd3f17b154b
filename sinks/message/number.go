package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Number is a float64 whose JSON is null if it is not finite.
type Number float64

// MarshalJSON writes the shortest number with the same value.
func (n Number) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(n)), nil }

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}

// Numbers are float64s, each of which is null in JSON if it is not finite.
type Numbers []float64

// MarshalJSON writes an array, even an empty one.
func (n Numbers) MarshalJSON() ([]byte, error) { return appendNumbers(nil, n), nil }

// UnmarshalJSON reads at most MaxLatent numbers, null as NaN.
func (n *Numbers) UnmarshalJSON(data []byte) (err error) {
	*n, err = readNumbers(data, MaxLatent)
	return err
}

// Table is Numbers in several rows, one after the other.
type Table []float64

// MarshalJSON writes an array, even an empty one.
func (t Table) MarshalJSON() ([]byte, error) { return appendNumbers(nil, t), nil }

// UnmarshalJSON reads at most MaxHorizons rows of MaxLatent numbers, null as NaN.
func (t *Table) UnmarshalJSON(data []byte) (err error) {
	*t, err = readNumbers(data, MaxHorizons*MaxLatent)
	return err
}

// At returns v[i], or NaN if v is too short.
func At(v []float64, i int) float64 {
	if i < len(v) {
		return v[i]
	}
	return math.NaN()
}

// Column contains one number per object of a field.
type Column []float64

// MarshalJSON writes an array, even an empty one.
func (c Column) MarshalJSON() ([]byte, error) { return appendNumbers(nil, c), nil }

// UnmarshalJSON reads at most MaxObjects numbers, null as NaN.
func (c *Column) UnmarshalJSON(data []byte) (err error) {
	*c, err = readNumbers(data, MaxObjects)
	return err
}

// Points contains one number per point of a field, per cell of a map, or per distance.
type Points []float64

// MarshalJSON writes an array, even an empty one.
func (p Points) MarshalJSON() ([]byte, error) { return appendNumbers(nil, p), nil }

// UnmarshalJSON reads at most MaxField numbers, null as NaN.
func (p *Points) UnmarshalJSON(data []byte) (err error) {
	*p, err = readNumbers(data, MaxField)
	return err
}

func readNumbers(data []byte, most int) ([]float64, error) {
	if count := bytes.Count(data, []byte(",")) + 1; count > most {
		return nil, fmt.Errorf("found %d numbers, expected at most %d", count, most)
	}
	data = bytes.TrimSpace(data)
	if string(data) == "null" {
		return nil, nil
	}
	rest, open := bytes.CutPrefix(data, []byte("["))
	rest, closed := bytes.CutSuffix(rest, []byte("]"))
	if !open || !closed {
		return nil, fmt.Errorf("found %.20q, expected an array of numbers", data)
	}
	n := make([]float64, 0, bytes.Count(rest, []byte(","))+1)
	for more := len(bytes.TrimSpace(rest)) > 0; more; {
		var one []byte
		one, rest, more = bytes.Cut(rest, []byte(","))
		v, err := readNumber(bytes.TrimSpace(one))
		if err != nil {
			return nil, err
		}
		n = append(n, v)
	}
	return n, nil
}

// readNumber reads a JSON number, null as NaN. The decoder has already refused invalid JSON. readNumber also refuses forms that only Go reads, such as Inf.
func readNumber(one []byte) (float64, error) {
	if string(one) == "null" {
		return math.NaN(), nil
	}
	if len(one) == 0 || one[0] != '-' && (one[0] < '0' || one[0] > '9') {
		return 0, fmt.Errorf("found %.20q, expected a number or null", one)
	}
	return strconv.ParseFloat(string(one), 64)
}

func appendNumbers(dst []byte, n []float64) []byte {
	dst = append(dst, '[')
	for i, v := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendNumber(dst, v)
	}
	return append(dst, ']')
}

func appendNumber(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}
