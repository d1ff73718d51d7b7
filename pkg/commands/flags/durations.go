package flags

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

const (
	// leastDuration annotates the duration flags whose minimum is more than 0.
	leastDuration = "kubectl-fdb/least"
	// Positive is the minimum of a duration that must not be 0.
	Positive = time.Nanosecond
)

// textDurations are the flags of kubectl that are durations, although their type is string.
var textDurations = []string{"request-timeout"}

// AtLeast sets the minimum of a duration flag, which is 0 without it.
func AtLeast(cmd *cobra.Command, flag string, least time.Duration) {
	if err := cmd.Flags().SetAnnotation(flag, leastDuration, []string{least.String()}); err != nil {
		panic(err) // a flag that does not exist
	}
}

// CheckDurations returns an error for each duration on the command line that is negative, or less than the
// minimum of its flag.
func CheckDurations(flags *pflag.FlagSet) error {
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			errs = append(errs, checkDuration(f))
		}
	})
	return errors.Join(errs...)
}

func checkDuration(f *pflag.Flag) error {
	d, is, err := durationOf(f)
	least := leastOf(f)
	switch {
	case !is:
		return nil
	case err != nil:
		return exit.Usagef("--%s must be a duration such as 30s or 2m, not %q", f.Name, f.Value)
	case d >= least:
		return nil
	case least == 0:
		return exit.Usagef("--%s must not be negative: %s; use 0 or a duration such as 2m", f.Name, f.Value)
	case least == Positive:
		return exit.Usagef("--%s must be positive, such as 2m: %s", f.Name, f.Value)
	default:
		return exit.Usagef("--%s must be at least %s, not %s", f.Name, phrase.Duration(least), f.Value)
	}
}

// durationOf returns the value of a flag, and whether it is a duration.
func durationOf(f *pflag.Flag) (d time.Duration, is bool, err error) {
	switch {
	case f.Value.Type() == "duration":
		d, err = time.ParseDuration(f.Value.String())
	case slices.Contains(textDurations, f.Name):
		d, err = clientcmd.ParseTimeout(f.Value.String())
	default:
		return 0, false, nil
	}
	if err != nil {
		return 0, true, fmt.Errorf("--%s: %w", f.Name, err)
	}
	return d, true, nil
}

func leastOf(f *pflag.Flag) time.Duration {
	for _, text := range f.Annotations[leastDuration] {
		if d, err := time.ParseDuration(text); err == nil {
			return d
		}
	}
	return 0
}
