package ui

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"reflect"
	"unicode/utf16"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
	"sigs.k8s.io/yaml/kyaml"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// WriteJSON prints one document in one line, as streams of documents need it.
func WriteJSON(w io.Writer, document any) error { return writeJSON(w, document, "") }

// WriteIndentedJSON prints one document on several lines.
func WriteIndentedJSON(w io.Writer, document any) error { return writeJSON(w, document, "  ") }

func writeJSON(w io.Writer, document any, indent string) error {
	text, err := encoded(document, indent)
	if err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	if _, err := layout.Raw(w).Write(escaped(text, inJSON)); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}

func encoded(document any, indent string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(document)
	return b.Bytes(), err
}

// YAML returns a document as YAML. One with characters that control a terminal is written the way JSON is, which
// YAML includes: only quoted text can name them.
func YAML(document any) ([]byte, error) { return asYAML(document, yaml.Marshal) }

// KYAML returns a document as KYAML, the strict subset of YAML that kubectl prints, without a separator.
func KYAML(document any) ([]byte, error) {
	return asYAML(document, func(document any) ([]byte, error) {
		text, err := new(kyaml.Encoder).Marshal(document)
		return append(text, '\n'), err
	})
}

func asYAML(document any, marshal func(any) ([]byte, error)) ([]byte, error) {
	text, err := encoded(document, "  ")
	if err != nil {
		return nil, fmt.Errorf("print YAML: %w", err)
	}
	if safe := escaped(text, inYAML); !bytes.Equal(safe, text) {
		return safe, nil
	}
	blocks, err := marshal(document)
	if err != nil {
		return nil, fmt.Errorf("print YAML: %w", err)
	}
	if !bytes.Equal(withoutCommands(blocks, inYAML), blocks) { // a line of a block begins with text
		return text, nil
	}
	return blocks, nil
}

// escaped returns JSON with all characters that control a terminal, such as DEL or the override of the
// order of text, named by their number, and those of commands for the runner of a pipeline; encoders name only
// controls of ASCII. They are within strings: nothing else of JSON has them.
func escaped(text []byte, name func(rune) string) []byte {
	return withoutCommands(withoutControls(text, name), name)
}

func withoutCommands(text []byte, name func(rune) string) []byte {
	return []byte(new(phrase.RunnerLine).Text(string(text), name))
}

func withoutControls(text []byte, name func(rune) string) []byte {
	var b bytes.Buffer
	last := 0
	for at := 0; at < len(text); {
		if text[at] < 0x7f {
			at++
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		if phrase.IsControl(r) {
			b.Write(text[last:at])
			b.WriteString(name(r))
			last = at + size
		}
		at += size
	}
	if last == 0 {
		return text
	}
	b.Write(text[last:])
	return b.Bytes()
}

func inJSON(r rune) string {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func inYAML(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// WriteXML prints a document, given as a pointer, as XML. Secrets in its texts are hidden before they are encoded: quotes and
// ends of lines have other forms in XML, in which no secret is recognized.
func WriteXML(w io.Writer, document any) error {
	clean(reflect.ValueOf(document))
	text, err := xml.MarshalIndent(document, "", "  ")
	if err != nil {
		return fmt.Errorf("encode XML: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

// clean cleans all texts within a value.
func clean(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			clean(v.Elem())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			clean(field)
		}
	case reflect.Slice:
		for i := range v.Len() {
			clean(v.Index(i))
		}
	case reflect.String:
		v.SetString(layout.Clean(v.String()))
	default: // the rest has no text
	}
}
