package commands

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
)

// slop is by how much pflag exceeds the width that it is given.
const slop = 5

// fitHelp makes help fit the terminal: its prose, and the descriptions of flags.
func fitHelp(root *cobra.Command) {
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		width := layout.Width(out)
		if width == 0 {
			usual(cmd, args)
			return
		}
		cmd.Long = layout.Reflow(cmd.Long, width)
		cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", width-slop)))
		var text bytes.Buffer // templates print word by word, and a page wraps whole lines
		cmd.SetOut(&text)
		usual(cmd, args)
		cmd.SetOut(out)
		_, _ = text.WriteTo(out) // help has no error to return
	})
}
