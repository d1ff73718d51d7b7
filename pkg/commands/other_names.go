package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// otherName is what the operator's plugin of the same program name, or the design of this one, calls a command.
type otherName struct {
	// words are those of the command.
	words string
	// means are the words of ours that mean the same; empty if none do.
	means string
	// use is what to use instead, if no command of ours means the same.
	use string
}

// otherNames are accepted or answered with one line. Of two that begin alike the longer one is first.
func otherNames() []otherName {
	return []otherName{
		{words: "cordon-by-taint", means: "cordon --evacuate=by-taint"},
		{words: "exclusion-status", means: "exclusion status"},
		{words: "get exclusion-status", means: "exclusion status"},
		{words: "lock deny-list", use: "use kubectl fdb get locks to list it, and kubectl fdb locks deny or allow to change it"},
		{words: "locks deny-list", use: "use kubectl fdb get locks to list it, and kubectl fdb locks deny or allow to change it"},
		{words: "tree", use: "use kubectl fdb describe --tree"},
		{words: "remove process-groups", use: "use kubectl fdb replace"},
		{words: "remove", use: "use kubectl fdb replace"},
		{words: "fix-coordinator-ips", use: "use kubectl fdb coordinators repair, or without a quorum kubectl fdb recover plan"},
		{words: "update connection-string", use: "use kubectl fdb connection-string sync, which reads it from the database"},
		{words: "update", use: "use kubectl fdb connection-string sync"},
		{words: "recover-multi-region-cluster", use: "use kubectl fdb recover plan"},
		{words: "deprecation", use: "use kubectl fdb plan: deprecated fields are read as their successors, and it has all that a pass would change"},
		{words: "buggify", use: "edit spec.buggify with kubectl, then use kubectl fdb reconcile"},
	}
}

// inOurNames returns arguments with the names that this program has for its commands.
func inOurNames(root *cobra.Command, args []string) ([]string, error) {
	at := commandAt(root, args)
	for _, other := range otherNames() {
		words := strings.Fields(other.words)
		end := at + len(words)
		switch {
		case end > len(args) || !slices.Equal(args[at:end], words):
			continue
		case other.means == "":
			return nil, exit.Usage(fmt.Errorf("unknown command %q: %s", other.words, other.use))
		default:
			return slices.Concat(args[:at], strings.Fields(other.means), args[end:]), nil
		}
	}
	return args, nil
}

// commandAt returns the index of the first word that is neither a flag of all commands nor its value.
func commandAt(root *cobra.Command, args []string) int {
	completes := []string{cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}
	for i := 0; i < len(args); i++ {
		switch {
		case takesNextWord(root, args[i]):
			i++
		case !strings.HasPrefix(args[i], "-") && !slices.Contains(completes, args[i]):
			return i
		}
	}
	return len(args)
}

// takesNextWord reports whether a word is a flag of all commands whose value is the next word.
func takesNextWord(root *cobra.Command, word string) bool {
	if long, is := strings.CutPrefix(word, "--"); is {
		f := root.PersistentFlags().Lookup(long)
		return f != nil && f.NoOptDefVal == ""
	}
	letter, is := strings.CutPrefix(word, "-")
	if !is || len(letter) != 1 {
		return false
	}
	f := root.PersistentFlags().ShorthandLookup(letter)
	return f != nil && f.NoOptDefVal == ""
}
