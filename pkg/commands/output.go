package commands

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
	"sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
)

// outputFlags select how a document is printed.
type outputFlags struct {
	format    string
	noHeaders bool
	absolute  bool
	// own are formats of this command only.
	own []string
}

var (
	plainFormats    = []string{"table", "text", "wide", "json", "yaml", "name"}
	templateFormats = []string{"jsonpath", "jsonpath-as-json", "go-template", "custom-columns"}
)

// add adds the flags of a command that prints documents and tables.
func (o *outputFlags) add(cmd *cobra.Command) {
	o.addFormat(cmd)
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "If true, omit the header row of tables")
	cmd.Flags().BoolVar(&o.absolute, "absolute-time", false, "If true, print times instead of ages")
}

func (o *outputFlags) addFormat(cmd *cobra.Command) {
	formats := slices.Concat([]string{"table", "wide", "json", "yaml", "name"}, o.own)
	cmd.Flags().StringVarP(&o.format, "output", "o", "table", "output format: "+strings.Join(formats, ", ")+", jsonpath=TEMPLATE, go-template=TEMPLATE or custom-columns=SPEC")
	complete(cmd, "output", func() []string {
		return slices.Concat(plainFormats, o.own, []string{"jsonpath=", "go-template=", "custom-columns="})
	})
}

// check rejects invalid formats before anything is read.
func (o outputFlags) check() error {
	kind, template, _ := strings.Cut(o.format, "=")
	switch {
	case slices.Contains(plainFormats, o.format), slices.Contains(o.own, o.format):
		return nil
	case !slices.Contains(templateFormats, kind):
		return usagef("-o must be one of %s, not %q", strings.Join(slices.Concat(plainFormats, o.own, templateFormats), ", "), o.format)
	case template == "":
		return usagef("-o %s requires a template: -o %s=TEMPLATE", kind, kind)
	case kind == "custom-columns":
		_, err := parseColumns(template)
		return err
	default:
		_, err := genericclioptions.NewKubeTemplatePrintFlags().ToPrinter(o.format)
		if err != nil {
			return usage(fmt.Errorf("invalid -o %s: %w", o.format, err))
		}
		return nil
	}
}

func (o outputFlags) isTable() bool {
	return slices.Contains([]string{"table", "text", "wide"}, o.format)
}

// list returns how rows are printed.
func (o outputFlags) list(env *Env) ui.ListOptions {
	return ui.ListOptions{Wide: o.format == "wide", NoHeaders: o.noHeaders, Absolute: o.absolute, Now: env.Clock.Now()}
}

// printable is a document and its shorter forms.
type printable struct {
	document any
	names    []string
	table    func(w io.Writer) error
	// stream is true for a document that is followed by others of its kind.
	stream bool
}

func (o outputFlags) print(w io.Writer, p printable) error {
	kind, template, _ := strings.Cut(o.format, "=")
	switch kind {
	case "json":
		if p.stream {
			return ui.WriteJSON(w, p.document)
		}
		return ui.WriteIndentedJSON(w, p.document)
	case "yaml":
		return writeYAML(w, p)
	case "name":
		for _, name := range p.names {
			fmt.Fprintln(w, name)
		}
		return nil
	case "custom-columns":
		return writeColumns(w, p.document, template, o.noHeaders)
	case "jsonpath", "jsonpath-as-json", "go-template":
		return o.writeTemplate(w, p.document)
	default:
		return p.table(w)
	}
}

func writeYAML(w io.Writer, p printable) error {
	text, err := yaml.Marshal(p.document)
	if err != nil {
		return fmt.Errorf("printing YAML: %w", err)
	}
	if p.stream {
		fmt.Fprintln(w, "---")
	}
	_, err = w.Write(text)
	return err
}

func (o outputFlags) writeTemplate(w io.Writer, document any) error {
	printer, err := genericclioptions.NewKubeTemplatePrintFlags().ToPrinter(o.format)
	if err != nil {
		return usage(fmt.Errorf("invalid -o %s: %w", o.format, err))
	}
	object, err := generic(document)
	if err != nil {
		return err
	}
	if err := printer.PrintObj(&unstructured.Unstructured{Object: object}, w); err != nil {
		return usage(fmt.Errorf("printing with -o %s: %w", o.format, err))
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
