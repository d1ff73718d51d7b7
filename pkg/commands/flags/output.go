package flags

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/list"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/format"
)

// Output adds the flags of a command that prints documents and tables.
func Output(cmd *cobra.Command, o *format.Flags) {
	Format(cmd, o)
	cmd.Flags().BoolVar(&o.NoHeaders, "no-headers", false, "If true, omit the header row of tables")
	cmd.Flags().BoolVar(&o.Absolute, "absolute-time", false, "If true, print times instead of ages")
}

// Format adds -o alone.
func Format(cmd *cobra.Command, o *format.Flags) {
	cmd.Flags().StringVarP(&o.Format, "output", "o", "table", "output format: "+strings.Join(o.Named(), ", ")+", "+format.Templates)
	complete.Flag(cmd, "output", o.Completions)
	keepFilesFromSteps(cmd)
}

// Sorting adds --sort-by to a command whose lists are such documents.
func Sorting(cmd *cobra.Command, o *format.Flags, of list.Document) {
	by, known := o.Orders(of)
	cmd.Flags().StringVar(by, "sort-by", "", "path of a field of the items, or title of a column, to sort by, such as .zone or ZONE; items without a value are last")
	complete.Flag(cmd, "sort-by", known)
}

// keepFilesFromSteps has no step of a runbook read a file of the machine that runs it by -o.
func keepFilesFromSteps(cmd *cobra.Command) {
	declare.ValuesNotInSteps(cmd, "output", format.OfFiles()...)
}
