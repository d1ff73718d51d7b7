package ui

import (
	"encoding/xml"
	"fmt"
	"io"
	"reflect"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

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
