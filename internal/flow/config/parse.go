package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits on a configuration, checked before parsing: the parser's time grows with the square of the nesting depth, of the line length, and of the number of
// keys and entries.
const (
	MaxBytes  = 1 << 20
	maxLine   = 1024    // bytes
	maxLines  = 8192    // further lines are only reported as unread
	maxTokens = 1 << 16 // words and punctuation marks
	maxFlow   = 16      // depth of [ ] and { }
	maxBlock  = 32      // depth of blocks
)

// maxTold is the largest number of problems that are reported in full; further problems are only counted.
const maxTold = 10

// problem is one error in a configuration.
type problem struct {
	file string // empty if the options come from flags or a model card
	line int    // 0 if unknown
	text string
}

func (p *problem) Error() string {
	switch {
	case p.file == "":
		return p.text
	case p.line == 0:
		return fmt.Sprintf("%s: %s", p.file, p.text)
	}
	return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.text)
}

// parse converts a file to a tree. It refuses anchors, aliases and tags. It returns nil for an empty document.
func parse(name string, data []byte) (ast.Node, error) {
	if err := checkShape(name, data); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, syntax(name, err)
	}
	if len(file.Docs) > 1 {
		return nil, &problem{file: name, text: "contains several documents: keep one, without a --- line in the middle"}
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, nil
	}
	return file.Docs[0].Body, nil
}

// shorten returns the first maxLines lines of data, and an error with the number of lines if there are more.
func shorten(name string, data []byte) ([]byte, error) {
	lines, end := 0, 0
	for line := range bytes.Lines(data) {
		if lines++; lines <= maxLines {
			end += len(line)
		}
	}
	if lines <= maxLines || len(data) > MaxBytes { // parse refuses more than MaxBytes
		return data, nil
	}
	return data[:end], &problem{file: name, text: fmt.Sprintf("%d lines, but only the first %d were read: is this the right file?", lines, maxLines)}
}

// checkShape refuses input that would take the parser too long and that no configuration needs.
func checkShape(name string, data []byte) error {
	if len(data) > MaxBytes {
		return &problem{file: name, text: fmt.Sprintf("%d bytes, a configuration has at most %d: is this the right file?", len(data), MaxBytes)}
	}
	if bytes.ContainsRune(data, 0) {
		return &problem{file: name, text: "contains binary data: give a YAML file"}
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if len(line) > maxLine {
			return &problem{name, number, fmt.Sprintf("line of %d bytes, at most %d are allowed: break it up", len(line), maxLine)}
		}
	}
	tokens := lexer.Tokenize(string(data))
	if len(tokens) > maxTokens {
		return &problem{file: name, text: fmt.Sprintf("%d words and punctuation marks, a configuration has at most %d: is this the right file?", len(tokens), maxTokens)}
	}
	depth, blocks := 0, nesting{}
	for _, t := range tokens {
		if blocks.add(t) > maxBlock {
			return &problem{name, t.Position.Line, fmt.Sprintf("nested deeper than %d: simplify", maxBlock)}
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType, token.DirectiveType:
			return &problem{name, t.Position.Line, fmt.Sprintf("anchors, aliases, tags and directives are not supported (%q): write the value out", t.Value)}
		}
		if depth > maxFlow {
			return &problem{name, t.Position.Line, fmt.Sprintf("brackets nested deeper than %d: simplify", maxFlow)}
		}
	}
	return nil
}

// nesting is the start column of each block around a token, and the token's line.
type nesting struct {
	columns []int
	line    int
}

// add returns the depth of t. A line that is indented more than the previous line is nested in it, and so is a list entry inside another list.
func (n *nesting) add(t *token.Token) int {
	if t.Position.Line == n.line && t.Type != token.SequenceEntryType && t.Type != token.MappingKeyType {
		return len(n.columns)
	}
	n.line = t.Position.Line
	for len(n.columns) > 0 && n.columns[len(n.columns)-1] >= t.Position.Column {
		n.columns = n.columns[:len(n.columns)-1]
	}
	n.columns = append(n.columns, t.Position.Column)
	return len(n.columns)
}

// syntax shortens the parser's error, which quotes several lines of the file, to one line.
func syntax(name string, err error) error {
	var e yaml.Error
	if !errors.As(err, &e) {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return &problem{file: name, text: "not valid YAML: " + first}
	}
	return &problem{name, lineOf(e.GetToken()), "not valid YAML: " + e.GetMessage()}
}

// lineOf returns the line of a token, or 0 if it has none.
func lineOf(t *token.Token) int {
	if t == nil || t.Position == nil {
		return 0
	}
	return t.Position.Line
}

// inFile prefixes every joined error with the file's name.
func inFile(name string, err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return &problem{file: name, text: err.Error()}
	}
	var errs []error
	for _, e := range joined.Unwrap() {
		errs = append(errs, &problem{file: name, text: e.Error()})
	}
	return errors.Join(errs...)
}
