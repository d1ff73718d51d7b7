package runbook

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
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

func (d *decoder) runbook(n *yaml.Node, r *Runbook) {
	lines := d.object(n, "a runbook", fields{
		"apiVersion": named(d, &r.APIVersion, []string{APIVersion}),
		"kind":       named(d, &r.Kind, []string{Kind}),
		"metadata": func(n *yaml.Node) {
			r.Metadata.lines = d.object(n, "metadata", fields{"name": d.text(&r.Metadata.Name), "description": d.text(&r.Metadata.Description)}, "name")
		},
		"vars":    d.list("vars", func(n *yaml.Node) { r.Vars = append(r.Vars, d.variable(n)) }),
		"timeout": d.duration(&r.Timeout),
		"steps":   d.list("steps", func(n *yaml.Node) { r.Steps = append(r.Steps, d.step(n)) }),
	}, "apiVersion", "kind", "metadata", "steps")
	maps.Copy(r.lines, lines)
}

func (d *decoder) variable(n *yaml.Node) Variable {
	var v Variable
	v.lines = d.object(n, "a variable", fields{
		"name":        d.text(&v.Name),
		"description": d.text(&v.Description),
		"default": func(n *yaml.Node) {
			v.Default = new(string)
			d.text(v.Default)(n)
		},
		"required": d.flag(&v.Required),
		"pattern":  d.text(&v.Pattern),
	}, "name")
	return v
}

func (d *decoder) step(n *yaml.Node) Step {
	var s Step
	s.lines = d.object(n, "a step", fields{
		"name":        d.text(&s.Name),
		"description": d.text(&s.Description),
		"run":         d.arguments(&s.Run),
		"check":       d.arguments(&s.Check),
		"wait":        func(n *yaml.Node) { s.Wait = d.wait(n) },
		"approve":     func(n *yaml.Node) { s.Approve = d.approval(n) },
		"timeout":     d.duration(&s.Timeout),
		"on":          func(n *yaml.Node) { s.On = d.reactions(n) },
		"retry":       func(n *yaml.Node) { s.Retry = d.retry(n) },
		"capture": func(n *yaml.Node) {
			s.Capture = map[string]string{}
			d.pairs("capture", func(key string, value *yaml.Node) {
				var path string
				d.text(&path)(value)
				s.Capture[key] = path
			})(n)
		},
		"save":       d.text(&s.Save),
		"compensate": d.arguments(&s.Compensate),
		"unknown":    named(d, &s.Unknown, []Unknown{UnknownStop, UnknownRepeat}),
	}, "name")
	return s
}

func (d *decoder) wait(n *yaml.Node) *Wait {
	var w Wait
	w.lines = d.object(n, "wait", fields{"for": d.duration(&w.For), "run": d.arguments(&w.Run), "every": d.duration(&w.Every)})
	return &w
}

func (d *decoder) approval(n *yaml.Node) *Approval {
	var a Approval
	a.lines = d.object(n, "approve", fields{"who": d.text(&a.Who), "plan": d.text(&a.Plan)}, "who")
	return &a
}

func (d *decoder) retry(n *yaml.Node) *Retry {
	r := Retry{Then: Stop}
	r.lines = d.object(n, "retry", fields{"every": d.duration(&r.Every), "limit": d.number(&r.Limit), "then": named(d, &r.Then, []Action{Stop, Compensate})}, "every", "limit")
	return &r
}

// reactions reads what to do after exit codes; a code that is listed twice, by number and name, is a
// problem.
func (d *decoder) reactions(n *yaml.Node) map[string]Action {
	all, known := map[string]Action{}, map[int]bool{}
	d.pairs("on", func(key string, value *yaml.Node) {
		code, err := codeOf(key)
		if err != nil {
			d.problems.addf(value.Line, "%v", err)
			return
		}
		if known[code] && all[key] == "" {
			d.problems.addf(value.Line, "the exit code %s is listed twice, by number and by name", key)
		}
		known[code] = true
		var action Action
		named(d, &action, actions)(value)
		all[key] = action
	})(n)
	return all
}

// Problem is why a runbook is refused.
type Problem struct {
	// Line is the line of the file; 0 if the problem is not in the file, and -1 if it is in no single
	// field of it.
	Line int `json:"line,omitempty"`
	// Message is what is wrong, and what is valid.
	Message string `json:"message"`
}

// wholeFile is the Line of a problem in no single field; its message may have a line.
const wholeFile = -1

// Problems are all that is wrong with a runbook.
type Problems []Problem

func (p *Problems) addf(line int, layout string, args ...any) {
	*p = append(*p, Problem{line, fmt.Sprintf(layout, args...)})
}

// sorted returns the problems in the order of the file.
func (p Problems) sorted() Problems {
	stable.Sort(p, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return p
}

// In returns a problem with the name of its file.
func (p Problem) In(file string) string {
	switch p.Line {
	case 0:
		return p.Message
	case wholeFile:
		return file + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d: %s", file, p.Line, p.Message)
}
