package paint

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/tui/cells"
)

// Pasted, each line but the last would otherwise run alone.
func TestAWrappedCommandIsOneCommandToAShell(t *testing.T) {
	command := `kubectl fdb replace sample-cluster storage-65047 --reason 'slow disk' -n default --context sandbox`
	tests := map[string]Line{
		"on a line of its own": StyledLine(Command, "  "+command),
		"after a name":         FactIn(Command, "command", command),
		"after a word":         {Styled(Faint, "    next: "), Styled(Command, command)},
	}
	for name, l := range tests {
		t.Run(name, func(t *testing.T) {
			for width := 40; width <= 130; width++ {
				var lines []string
				for _, l := range Wrapped(l, width) {
					lines = append(lines, l.Text())
					if cells.Width(l.Text()) > width {
						t.Errorf("%q is longer than %d", l.Text(), width)
					}
				}
				read := strings.ReplaceAll(strings.Join(lines, "\n"), "\\\n", "")
				if !strings.HasSuffix(strings.Join(strings.Fields(read), " "), command) {
					t.Errorf("at %d columns a shell reads\n%s", width, read)
				}
			}
		})
	}
}
