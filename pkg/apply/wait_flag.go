package apply

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
)

// Values of --wait. A plain --wait means WaitDone.
const (
	waitNone = "none"
	WaitDone = "done"
	waitAll  = "all"
)

// waitValue is --wait of a changing command. It still accepts true and false as done and none,
// from when --wait was a flag without a value.
type waitValue struct{ f *ChangeFlags }

func (v waitValue) String() string {
	switch {
	case v.f == nil || !v.f.Wait:
		return waitNone
	case v.f.waitAll:
		return waitAll
	default:
		return WaitDone
	}
}

// Type implements pflag.Value.
func (v waitValue) Type() string { return "string" }

// Set implements pflag.Value.
func (v waitValue) Set(text string) error {
	if on, err := strconv.ParseBool(text); err == nil {
		text = waitNone
		if on {
			text = WaitDone
		}
	}
	if !slices.Contains(v.f.waitValues(), text) {
		return fmt.Errorf("must be %s", strings.Join(v.f.waitValues(), " or "))
	}
	v.f.Wait, v.f.waitAll = text != waitNone, text == waitAll
	return nil
}

// waitValues returns the values that --wait of the command accepts.
func (f *ChangeFlags) waitValues() []string {
	if f.removes {
		return []string{WaitDone, waitAll, waitNone}
	}
	return []string{WaitDone, waitNone}
}

// addWait adds --wait; waitsFor completes the sentence "repeat passes until …".
func (f *ChangeFlags) addWait(cmd *cobra.Command, waitsFor string) {
	usage := strings.Join(f.waitValues(), ", ") + ": done repeats passes until " + waitsFor
	if f.removes {
		usage += "; all also waits until the exclusions of removed process groups have ended, which takes ten minutes without a recovery"
	}
	cmd.Flags().Var(waitValue{f}, "wait", usage)
	cmd.Flags().Lookup("wait").NoOptDefVal = WaitDone
	session.Complete(cmd, "wait", f.waitValues)
}

// AddRemoving adds the flags of a command whose passes remove process groups.
func (f *ChangeFlags) AddRemoving(cmd *cobra.Command, waitsFor string) {
	f.removes = true
	f.Add(cmd, waitsFor)
	f.addRespectPDB(cmd)
}

// waitFlag returns --wait to repeat the command; empty if it does not wait.
func (f ChangeFlags) waitFlag() string {
	switch {
	case !f.Wait:
		return ""
	case f.waitAll:
		return "--wait=" + waitAll
	default:
		return "--wait"
	}
}
