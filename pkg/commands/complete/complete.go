// Package complete completes the words of command lines in a shell: the values of flags, and arguments.
package complete

import (
	"context"
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/spf13/cobra"
)

// completionBudget bounds the time of one shell completion. Values that are unknown by then are
// not offered.
const completionBudget = 2 * time.Second

// Candidates returns the possible values at a position of the command line.
type Candidates func(ctx context.Context, cmd *cobra.Command, args []string) []string

// sourceKey is the key of what selects the source of completions in a context.
type sourceKey struct{}

// ReadingFrom returns a context in which use selects what completions read, before they read
// anything: a dump, if the command line names one. If it fails, there are no completions.
func ReadingFrom(ctx context.Context, use func(cmd *cobra.Command) error) context.Context {
	return context.WithValue(ctx, sourceKey{}, use)
}

// Flag completes a flag with a fixed list.
func Flag(cmd *cobra.Command, flag string, list func() []string) {
	FlagWith(cmd, flag, func(context.Context, *cobra.Command, []string) []string { return list() })
}

// completions are those of the flags of all commands that are still in use, by weak pointers. Cobra's own list
// keeps every flag that was ever completed, and what it sets, for the life of the process: it is filled
// where a command line is completed, by Offer.
var completions sync.Map

// completedFlag is a flag whose values can be completed.
type completedFlag struct {
	name string
	as   cobra.CompletionFunc
}

// FlagWith completes a flag with Candidates that are read from the API server.
func FlagWith(cmd *cobra.Command, flag string, list Candidates) {
	FlagAs(cmd, flag, Argument(list))
}

// FlagAs completes a flag with what depends on the part that is typed.
func FlagAs(cmd *cobra.Command, flag string, as cobra.CompletionFunc) {
	if cmd.Flag(flag) == nil {
		panic("completes a flag that does not exist: " + flag)
	}
	key := weak.Make(cmd)
	flags, known := completions.Load(key)
	completed, _ := flags.([]completedFlag)
	completions.Store(key, append(completed, completedFlag{flag, as}))
	if !known {
		runtime.AddCleanup(cmd, func(key weak.Pointer[cobra.Command]) { completions.Delete(key) }, key)
	}
}

// Offer makes cobra complete the flags of all commands of a tree.
func Offer(parent *cobra.Command) {
	flags, _ := completions.Load(weak.Make(parent))
	completed, _ := flags.([]completedFlag)
	for _, f := range completed {
		if err := parent.RegisterFlagCompletionFunc(f.name, f.as); err != nil {
			panic(err) // a flag that is completed twice
		}
	}
	for _, cmd := range parent.Commands() {
		Offer(cmd)
	}
}

// Argument returns Candidates as a completion of arguments.
func Argument(list Candidates) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if use, is := cmd.Context().Value(sourceKey{}).(func(cmd *cobra.Command) error); is && use(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionBudget)
		defer cancel()
		return list(ctx, cmd, args), cobra.ShellCompDirectiveNoFileComp
	}
}
