package flags

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/apply"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/complete"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/declare"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/proposal"
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

// Cluster adds the flag that names a cluster instead of the first argument.
func Cluster(cmd *cobra.Command, env *session.Env, f *session.ClusterFlag) {
	cmd.Flags().StringVarP(&f.Name, "fdb-cluster", "c", "", "name of the FoundationDBCluster; equivalent to the argument CLUSTER")
	complete.FlagWith(cmd, "fdb-cluster", complete.From(env).ClusterNames)
}

// Manifests adds the flags that name manifests, as kubectl has them; the words say what becomes of them.
func Manifests(cmd *cobra.Command, f *proposal.Files, words string) {
	flags := cmd.Flags()
	flags.StringSliceVarP(&f.Names, "filename", "f", nil, "file or directory with manifests "+words+", - for stdin")
	flags.StringVarP(&f.Kustomization, "kustomize", "k", "", "directory of a kustomization "+words)
	flags.BoolVarP(&f.Recursive, "recursive", "R", false, "If true, include the directories below those of -f")
	declare.NotInSteps(cmd, "filename", "kustomize", "recursive")
}

// CheckManifests refuses flags that contradict each other.
func CheckManifests(f proposal.Files) error {
	switch {
	case len(f.Names) > 0 && f.Kustomization != "":
		return exit.Usagef("-f conflicts with -k")
	case f.Recursive && len(f.Names) == 0:
		return exit.Usagef("-R requires -f DIRECTORY")
	default:
		return nil
	}
}

// SetNamespace gives a manifest the namespace of the command line, unless it has one.
func SetNamespace(m proposal.Manifest, env *session.Env) error {
	namespace, err := env.Connection().Namespace()
	if err != nil {
		return err
	}
	own := m.Object.GetNamespace()
	if asked := env.Kube.Namespace; own != "" && asked != nil && *asked != "" && *asked != own {
		return exit.Usage(fmt.Errorf("%s: %s has namespace %s, and -n is %s", m.At("metadata.namespace"), m.Title(), own, *asked), "omit -n")
	}
	m.Object.SetNamespace(cmp.Or(own, namespace))
	return nil
}

// notResumed are the flags of commands that a command line which resumes one does not repeat: it names what they select.
var notResumed = []string{
	"fdb-cluster", "selector", "class", "condition", "excluded", "node", "older-than", "process-group", "removing", "zone", "help",
}

// resumedGlobals are the flags of all commands that such a command line repeats. A single letter is a shorthand.
var resumedGlobals = []string{"q", "v", "color", "request-timeout", "transport", "cluster-file"}

// repeatedFlags are the flags of the connection, besides namespace and context, that command lines to
// copy repeat. Tokens and passwords are not among them: hints are kept in logs.
var repeatedFlags = []string{
	"kubeconfig", "cluster", "user", "server", "tls-server-name", "certificate-authority", "client-certificate", "client-key", "insecure-skip-tls-verify", "as", "as-uid", "as-group", "as-user-extra",
}

// NoteTyped notes which flags the user typed, for command lines to copy: those of the connection, and those of the command.
func NoteTyped(g *session.GlobalFlags, connection, command *pflag.FlagSet) {
	var typed []string
	for _, name := range repeatedFlags {
		typed = append(typed, typedWords(connection.Lookup(name))...)
	}
	var again []session.TypedFlag
	command.VisitAll(func(flag *pflag.Flag) {
		ofAll := connection.Lookup(flag.Name) != nil
		resumed := slices.Contains(resumedGlobals, flag.Name) || slices.Contains(resumedGlobals, flag.Shorthand)
		if ofAll && !resumed || !ofAll && slices.Contains(notResumed, flag.Name) {
			return
		}
		if words := typedWords(flag); len(words) > 0 {
			again = append(again, session.TypedFlag{Name: "--" + flag.Name, Words: words})
		}
	})
	g.NoteTyped(typed, again)
}

// typedWords returns a flag as it was typed; nil if it was not.
func typedWords(f *pflag.Flag) (words []string) {
	if f == nil || !f.Changed {
		return nil
	}
	values := []string{f.Value.String()}
	if list, ok := f.Value.(pflag.SliceValue); ok && f.Value.Type() == "stringSlice" {
		values = []string{strings.Join(list.GetSlice(), ",")}
	} else if ok {
		values = list.GetSlice()
	}
	for _, value := range values {
		switch f.NoOptDefVal {
		case "":
			words = append(words, "--"+f.Name, value)
		case value:
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name+"="+value)
		}
	}
	return words
}
