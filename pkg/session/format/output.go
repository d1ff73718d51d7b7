package format

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
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
}

var (
	plainFormats    = []string{"table", "text", "wide", "json", "yaml", "name"}
	templateFormats = []string{"jsonpath", "jsonpath-as-json", "go-template", "custom-columns"}
)

// Add adds the flags of a command that prints documents and tables.
func (o *Flags) Add(cmd *cobra.Command) {
	o.AddFormat(cmd)
	cmd.Flags().BoolVar(&o.NoHeaders, "no-headers", false, "If true, omit the header row of tables")
	cmd.Flags().BoolVar(&o.Absolute, "absolute-time", false, "If true, print times instead of ages")
}

func (o *Flags) AddFormat(cmd *cobra.Command) {
	formats := slices.Concat([]string{"table", "wide", "json", "yaml", "name"}, o.Own)
	cmd.Flags().StringVarP(&o.Format, "output", "o", "table", "output format: "+strings.Join(formats, ", ")+", jsonpath=TEMPLATE, go-template=TEMPLATE or custom-columns=SPEC")
	session.Complete(cmd, "output", func() []string {
		return slices.Concat(plainFormats, o.Own, []string{"jsonpath=", "go-template=", "custom-columns="})
	})
}

// Check rejects invalid formats before anything is read.
func (o Flags) Check() error {
	kind, template, _ := strings.Cut(o.Format, "=")
	switch {
	case slices.Contains(plainFormats, o.Format), slices.Contains(o.Own, o.Format):
		return nil
	case !slices.Contains(templateFormats, kind):
		return exit.Usagef("-o must be one of %s, not %q", strings.Join(slices.Concat(plainFormats, o.Own, templateFormats), ", "), o.Format)
	case template == "":
		return exit.Usagef("-o %s requires a template: -o %s=TEMPLATE", kind, kind)
	case kind == "custom-columns":
		_, err := parseColumns(template)
		return err
	default:
		_, err := genericclioptions.NewKubeTemplatePrintFlags().ToPrinter(o.Format)
		if err != nil {
			return exit.Usage(fmt.Errorf("invalid -o %s: %w", o.Format, err))
		}
		return nil
	}
}

func (o Flags) IsTable() bool {
	return slices.Contains([]string{"table", "text", "wide"}, o.Format)
}

// List returns how rows are printed.
func (o Flags) List(env *session.Env) ui.ListOptions {
	return ui.ListOptions{Wide: o.Format == "wide", NoHeaders: o.NoHeaders, Absolute: o.Absolute, Now: env.Clock.Now()}
}

// Printable is a document and its shorter forms.
type Printable struct {
	Document any
	Names    []string
	Table    func(w io.Writer) error
	// Stream is true for a document that is followed by others of its kind.
	Stream bool

	declared list.Table
	at       list.At
}

func (o Flags) Print(w io.Writer, p Printable) error {
	kind, template, _ := strings.Cut(o.Format, "=")
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
		return writeYAML(w, p)
	case "name":
		for _, name := range p.Names {
			fmt.Fprintln(w, name)
		}
		return nil
	case "custom-columns":
		return o.writeColumns(w, p, template)
	case "jsonpath", "jsonpath-as-json", "go-template":
		return o.writeTemplate(w, p.Document)
	default:
		return p.Table(w)
	}
}

func writeYAML(w io.Writer, p Printable) error {
	text, err := ui.YAML(p.Document)
	if err != nil {
		return err
	}
	if p.Stream {
		fmt.Fprintln(w, "---")
	}
	_, err = w.Write(text)
	return err
}

func (o Flags) writeTemplate(w io.Writer, document any) error {
	printer, err := genericclioptions.NewKubeTemplatePrintFlags().ToPrinter(o.Format)
	if err != nil {
		return exit.Usage(fmt.Errorf("invalid -o %s: %w", o.Format, err))
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
