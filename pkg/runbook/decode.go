package runbook

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Parse reads a runbook file. With problems, the runbook has what could be read.
func Parse(text []byte) (*Runbook, Problems) {
	var (
		d    decoder
		root yaml.Node
		book = &Runbook{lines: map[string]int{}}
	)
	documents := yaml.NewDecoder(bytes.NewReader(text))
	switch err := documents.Decode(&root); {
	case errors.Is(err, io.EOF):
		return book, Problems{{1, "the file is empty"}}
	case err != nil:
		return book, Problems{{wholeFile, "invalid YAML: " + err.Error()}}
	}
	var more yaml.Node
	if err := documents.Decode(&more); !errors.Is(err, io.EOF) {
		d.problems.addf(max(1, more.Line), "a file has one runbook: remove what follows the first document")
	}
	d.runbook(root.Content[0], book)
	return book, d.problems.sorted()
}

// decoder collects what is wrong with the structure of a file.
type decoder struct{ problems Problems }

// fields are what an object may have, with the function that reads each.
type fields map[string]func(*yaml.Node)

// object reads an object, and returns the lines of its fields; that of the object has the key "".
func (d *decoder) object(n *yaml.Node, noun string, known fields, required ...string) map[string]int {
	lines := map[string]int{"": n.Line}
	if n.Kind != yaml.MappingNode {
		d.problems.addf(n.Line, "%s must be an object", noun)
		return lines
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, is := known[key.Value]
		switch {
		case !is:
			d.problems.addf(key.Line, "unknown field %q of %s: must be one of %s", key.Value, noun, phrase.List(slices.Sorted(maps.Keys(known))))
			continue
		case lines[key.Value] != 0:
			d.problems.addf(key.Line, "duplicate field %q of %s", key.Value, noun)
			continue
		}
		lines[key.Value] = key.Line
		read(value)
	}
	for _, name := range required {
		if lines[name] == 0 {
			d.problems.addf(n.Line, "%s requires the field %q", noun, name)
		}
	}
	return lines
}

// text returns a reader of a string; numbers and booleans count as their text.
func (d *decoder) text(into *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			d.problems.addf(n.Line, "must be a string")
			return
		}
		*into = n.Value
	}
}

// named returns a reader of one of a few words.
func named[T ~string](d *decoder, into *T, known []T) func(*yaml.Node) {
	return func(n *yaml.Node) {
		*into = T(n.Value)
		if n.Kind != yaml.ScalarNode || !slices.Contains(known, *into) {
			d.problems.addf(n.Line, "invalid value %q: must be one of %s", n.Value, phrase.List(known))
		}
	}
}

func (d *decoder) flag(into *bool) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if err := n.Decode(into); err != nil || n.Tag != "!!bool" {
			d.problems.addf(n.Line, "invalid value %q: must be true or false", n.Value)
		}
	}
}

func (d *decoder) number(into *int) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if err := n.Decode(into); err != nil || *into < 1 {
			d.problems.addf(n.Line, "invalid value %q: must be a number of at least 1", n.Value)
		}
	}
}

func (d *decoder) duration(into *Duration) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if err := into.UnmarshalText([]byte(n.Value)); err != nil {
			d.problems.addf(n.Line, "%v", err)
			return
		}
		if *into <= 0 {
			d.problems.addf(n.Line, "invalid duration %q: must be positive", n.Value)
		}
	}
}

// arguments returns a reader of a command: a list of words, or a line that is split.
func (d *decoder) arguments(into *Arguments) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind == yaml.SequenceNode {
			each(n, func(item *yaml.Node) {
				var word string
				d.text(&word)(item)
				*into = append(*into, word)
			})
		} else {
			var line string
			d.text(&line)(n)
			var err error
			if *into, err = split(line); err != nil {
				d.problems.addf(n.Line, "%v", err)
				return
			}
		}
		if len(*into) == 0 {
			d.problems.addf(n.Line, "a command requires at least one word")
		}
	}
}

// pairs returns a reader of an object whose keys are free.
func (d *decoder) pairs(noun string, read func(key string, value *yaml.Node)) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.MappingNode {
			d.problems.addf(n.Line, "%s must be an object", noun)
			return
		}
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if seen[key.Value] {
				d.problems.addf(key.Line, "duplicate field %q of %s", key.Value, noun)
			}
			seen[key.Value] = true
			read(key.Value, n.Content[i+1])
		}
	}
}

// list returns a reader of a list of objects.
func (d *decoder) list(noun string, read func(*yaml.Node)) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			d.problems.addf(n.Line, "%s must be a list", noun)
			return
		}
		each(n, read)
	}
}

func each(n *yaml.Node, read func(*yaml.Node)) {
	for _, item := range n.Content {
		read(item)
	}
}
