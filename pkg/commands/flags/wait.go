package flags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
)

// waitValue is --wait of a changing command. It still accepts true and false as done and none,
// from when --wait was a flag without a value.
type waitValue struct{ f *apply.ChangeFlags }

func (v waitValue) String() string {
	switch {
	case v.f == nil || !v.f.Wait:
		return apply.WaitNone
	case v.f.WaitAll:
		return apply.WaitAll
	default:
		return apply.WaitDone
	}
}

// Type implements pflag.Value.
func (v waitValue) Type() string { return "string" }

// Set implements pflag.Value.
func (v waitValue) Set(text string) error {
	if on, err := strconv.ParseBool(text); err == nil {
		text = apply.WaitNone
		if on {
			text = apply.WaitDone
		}
	}
	if !slices.Contains(v.values(), text) {
		return fmt.Errorf("must be %s", strings.Join(v.values(), " or "))
	}
	v.f.Wait, v.f.WaitAll = text != apply.WaitNone, text == apply.WaitAll
	return nil
}

// values returns the values that --wait of the command accepts.
func (v waitValue) values() []string {
	if v.f.Removes {
		return []string{apply.WaitDone, apply.WaitAll, apply.WaitNone}
	}
	return []string{apply.WaitDone, apply.WaitNone}
}

// addWait adds --wait; waitsFor completes the sentence "repeat passes until …".
func addWait(cmd *cobra.Command, f *apply.ChangeFlags, waitsFor string) {
	value := waitValue{f}
	usage := strings.Join(value.values(), ", ") + ": done repeats passes until " + waitsFor
	if f.Removes {
		usage += "; all also waits until the exclusions of removed process groups have ended, which takes ten minutes without a recovery"
	}
	cmd.Flags().Var(value, "wait", usage)
	cmd.Flags().Lookup("wait").NoOptDefVal = apply.WaitDone
	complete.Flag(cmd, "wait", value.values)
}
