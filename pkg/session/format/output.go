package format

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/limit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// Flags select how a document is printed.
type Flags struct {
	Format    string
	NoHeaders bool
	Absolute  bool
	// Own are formats of this command only.
	Own []string

	order  order
	labels labels
}

var (
	plainFormats    = []string{"table", "text", "wide", "json", "yaml", "kyaml", "name"}
	templateFormats = []string{"jsonpath", "jsonpath-file", "jsonpath-as-json", "go-template", "go-template-file", "custom-columns", "custom-columns-file"}
)

// Templates are the formats with a template, as the help of -o names them.
const Templates = "jsonpath=TEMPLATE, go-template=TEMPLATE, custom-columns=SPEC, jsonpath-file=FILE, go-template-file=FILE, custom-columns-file=FILE"

// TemplateCompletions are how words of -o with a template begin.
func TemplateCompletions() []string {
	return []string{"jsonpath=", "jsonpath-file=", "go-template=", "go-template-file=", "custom-columns=", "custom-columns-file="}
}

// Named are the formats without a template, as the help of -o names them.
func (o Flags) Named() []string {
	return slices.Concat([]string{"table", "wide", "json", "yaml", "kyaml", "name"}, o.Own)
}

// Completions are the values of -o, or how they begin.
func (o Flags) Completions() []string {
	return slices.Concat(plainFormats, o.Own, TemplateCompletions())
}

// OfFiles are the formats whose template is in a file.
func OfFiles() []string {
	return slices.DeleteFunc(slices.Clone(templateFormats), func(kind string) bool { return !strings.HasSuffix(kind, ofFile) })
}

// Check rejects invalid formats and orders before anything is read.
func (o Flags) Check() error {
	if err := errors.Join(o.order.check(), o.labels.check()); err != nil {
		return err
	}
	kind, given, _ := strings.Cut(o.Format, "=")
	switch {
	case slices.Contains(plainFormats, o.Format), slices.Contains(o.Own, o.Format):
		return nil
	case !slices.Contains(templateFormats, kind):
		return exit.Usagef("-o must be one of %s, not %q", strings.Join(slices.Concat(plainFormats, o.Own, templateFormats), ", "), o.Format)
	case given == "" && strings.HasSuffix(kind, ofFile):
		return exit.Usagef("-o %s requires a file: -o %s=FILE", kind, kind)
	case given == "":
		return exit.Usagef("-o %s requires a template: -o %s=TEMPLATE", kind, kind)
	case strings.HasPrefix(kind, customColumns):
		_, err := o.columns()
		return err
	default:
		_, err := o.printer()
		return err
	}
}

// ofFile is how the names of formats end whose template is in a file.
const ofFile = "-file"

// template returns a format without its file, and its template.
func (o Flags) template() (kind, template string, err error) {
	kind, template, _ = strings.Cut(o.Format, "=")
	inline, isFile := strings.CutSuffix(kind, ofFile)
	if !isFile {
		return kind, template, nil
	}
	text, err := limit.File(template, limit.Small)
	if err != nil {
		return "", "", exit.Usage(fmt.Errorf("read the file of -o %s: %w", kind, err))
	}
	return inline, string(text), nil
}

// printer returns what prints a template of cli-runtime.
func (o Flags) printer() (printers.ResourcePrinter, error) {
	kind, template, err := o.template()
	if err != nil {
		return nil, err
	}
	p, err := genericclioptions.NewKubeTemplatePrintFlags().ToPrinter(kind + "=" + template)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("invalid -o %s: %w", o.Format, err))
	}
	return p, nil
}

func (o Flags) IsTable() bool {
	return slices.Contains([]string{"table", "text", "wide"}, o.Format)
}

// List returns how rows are printed.
func (o Flags) List(env *session.Env, w io.Writer) ui.ListOptions {
	return ui.ListOptions{Paint: env.Paint(w), Wide: o.Format == "wide", NoHeaders: o.NoHeaders, Absolute: o.Absolute, Now: env.Clock.Now()}
}

// Printable is a document and its shorter forms.
type Printable struct {
	Document any
	// Names are those of -o name, in a list one of each item: empty for one that has none.
	Names []string
	Table func(w io.Writer) error
	// None is printed instead of a table without rows; empty for one with rows.
	None string
	// Stream is true for a document that is followed by others of its kind.
	Stream bool

	declared list.Table
	at       list.At
}

func (o Flags) Print(w io.Writer, p Printable) error {
	kind, _, _ := strings.Cut(o.Format, "=")
	if o.Format != "table" && o.Format != "text" { // documents and names are for programs, wide tables have everything
		w = layout.Raw(w)
	}
	switch kind {
	case "json":
		if p.Stream {
			return ui.WriteJSON(w, p.Document)
		}
		return ui.WriteIndentedJSON(w, p.Document)
	case "yaml":
		separator := ""
		if p.Stream {
			separator = documentSeparator
		}
		return writeYAML(w, separator, p.Document, ui.YAML)
	case "kyaml":
		return writeYAML(w, documentSeparator, p.Document, ui.KYAML)
	case "name":
		for _, name := range p.Names {
			if name != "" {
				fmt.Fprintln(w, name)
			}
		}
		return nil
	case customColumns, customColumns + ofFile:
		return o.writeColumns(w, p)
	case "jsonpath", "jsonpath-file", "jsonpath-as-json", "go-template", "go-template-file":
		return o.writeTemplate(w, p.Document)
	default:
		return p.Table(w)
	}
}

// documentSeparator is before each of several documents of YAML, and before every one of KYAML.
const documentSeparator = "---\n"

func writeYAML(w io.Writer, separator string, document any, encode func(any) ([]byte, error)) error {
	text, err := encode(document)
	if err != nil {
		return err
	}
	_, err = w.Write(append([]byte(separator), text...))
	return err
}

func (o Flags) writeTemplate(w io.Writer, document any) error {
	printer, err := o.printer()
	if err != nil {
		return err
	}
	object, err := generic(document)
	if err != nil {
		return err
	}
	if err := printer.PrintObj(&unstructured.Unstructured{Object: object}, w); err != nil {
		return exit.Usage(fmt.Errorf("print with -o %s: %w", o.Format, err))
	}
	return nil
}

// generic returns a document as templates see it: with the names of the JSON.
func generic(document any) (map[string]any, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("printing: %w", err)
	}
	object := map[string]any{}
	if err := utiljson.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("printing: %w", err)
	}
	return object, nil
}
