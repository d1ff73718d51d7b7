package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/cmdutil"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/waiting"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// WaitKind is one kind of condition to wait for.
type WaitKind struct {
	// Form is the syntax; words in capitals are placeholders.
	Form, meaning string
	// parse parses the value after the first equals sign.
	parse func(value string) (waiting.WaitCondition, error)
}

// name returns the part before the equals sign.
func (k WaitKind) name() string {
	name, _, _ := strings.Cut(k.Form, "=")
	return name
}

// WaitKinds returns the conditions of `wait --for` of a kind of resource; nil is a cluster.
func WaitKinds(of *session.ResourceKind) []WaitKind {
	switch of {
	case session.BackupKind:
		return []WaitKind{{"reconciled", "the backup matches its spec", bare(waiting.WaitBackup)}}
	case session.RestoreKind:
		return []WaitKind{{"done", "all data is restored; an aborted restore ends the wait", bare(waiting.WaitRestore)}}
	}
	return []WaitKind{
		{"available", "the database reports that it is available", bare(waiting.WaitAvailable)},
		{"healthy", "status shows the state healthy", bare(waiting.WaitHealthy)},
		{"reconciled", "the cluster matches its spec, evaluated now", bare(waiting.WaitReconciled)},
		{"fully-replicated", "all data and logs have all their copies; processes with data report", bare(waiting.WaitFullyReplicated)},
		{"tolerance=ZONES", "this many more zones may fail without data loss", parseTolerance},
		{"exclusions=none", "the database has no exclusions", parseExclusions},
		{"exclusions=safe", "all that is excluded, or is to be, is safe to remove", parseExclusions},
		{"pg=ID:removed", "no status entry, process, exclusion, pod, PVC or service is left", parseGroup},
		{"pg=ID:safe", "it is excluded and safe to remove: see exclusion status", parseGroup},
		{"no-condition=NAME", "no process group has the condition", parseNoCondition},
		{"lock-free", "no run holds the Lease, no control-plane instance the lock", bare(waiting.WaitLockFree)},
		{"version=VERSION", "all expected processes report, all with this version", parseRuns},
	}
}

// parseConditions parses all conditions, each once.
func parseConditions(of *session.ResourceKind, texts []string) ([]waiting.WaitCondition, error) {
	var conditions []waiting.WaitCondition
	for _, text := range texts {
		c, err := parseCondition(of, text)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(conditions, func(other waiting.WaitCondition) bool { return other.Text == c.Text }) {
			conditions = append(conditions, c)
		}
	}
	return conditions, nil
}

func parseCondition(of *session.ResourceKind, text string) (waiting.WaitCondition, error) {
	name, value, valued := strings.Cut(text, "=")
	for _, kind := range WaitKinds(of) {
		if kind.name() != name {
			continue
		}
		if wants := strings.Contains(kind.Form, "="); wants != valued {
			return waiting.WaitCondition{}, exit.Usagef("the condition must be %s, not %q", kind.Form, text)
		}
		return kind.parse(value)
	}
	return waiting.WaitCondition{}, session.Unknown("condition", text, strings.Split(conditionNames(of), ", "))
}

func bare(condition func() waiting.WaitCondition) func(string) (waiting.WaitCondition, error) {
	return func(string) (waiting.WaitCondition, error) { return condition(), nil }
}

func parseTolerance(value string) (waiting.WaitCondition, error) {
	zones, err := strconv.Atoi(value)
	if err != nil || zones < 1 {
		return waiting.WaitCondition{}, exit.Usagef("tolerance=ZONES must be a number of zones, at least 1, not %q", value)
	}
	return waiting.WaitTolerance(zones), nil
}

func parseExclusions(value string) (waiting.WaitCondition, error) {
	switch value {
	case "none":
		return waiting.WaitNoExclusions(), nil
	case "safe":
		return waiting.WaitExclusionsSafe(), nil
	default:
		return waiting.WaitCondition{}, exit.Usagef("exclusions must be none or safe, not exclusions=%s", value)
	}
}

// parseGroup requires an ID that a process group can have: a misspelled one belongs to no
// process group either, and would count as removed.
func parseGroup(value string) (waiting.WaitCondition, error) {
	text, state, _ := strings.Cut(value, ":")
	if state != "removed" && state != "safe" {
		return waiting.WaitCondition{}, exit.Usagef("the condition of a process group must be pg=ID:removed or pg=ID:safe, not pg=%s", value)
	}
	id := v1beta2.ProcessGroupID(text)
	_, class, _, err := id.Split()
	if err != nil {
		return waiting.WaitCondition{}, exit.Usage(err)
	}
	if !class.IsKnown() {
		return waiting.WaitCondition{}, exit.Usagef("invalid process group ID %q: unknown process class %q%s", text, class, session.OrMeant(string(class), phrase.Strings(v1beta2.ProcessClasses())))
	}
	if state == "safe" {
		return waiting.WaitSafe(id), nil
	}
	return waiting.WaitRemoved(id), nil
}

func parseNoCondition(value string) (waiting.WaitCondition, error) {
	if value == string(v1beta2.ConditionReady) || !slices.Contains(phrase.Strings(cmdutil.ConditionTypes()), value) {
		return waiting.WaitCondition{}, session.Unknown("condition of process groups", value, losableConditions())
	}
	return waiting.WaitNoCondition(v1beta2.ProcessGroupConditionType(value)), nil
}

// losableConditions excludes the condition that stands for having none.
func losableConditions() []string {
	return slices.DeleteFunc(phrase.Strings(cmdutil.ConditionTypes()), func(c string) bool { return c == string(v1beta2.ConditionReady) })
}

func parseRuns(value string) (waiting.WaitCondition, error) {
	version, err := fdb.ParseVersion(value)
	if err != nil || version.String() != value {
		return waiting.WaitCondition{}, exit.Usagef("invalid version %q: must be MAJOR.MINOR.PATCH, such as 7.3.79", value)
	}
	return waiting.WaitVersion(version), nil
}

// possible rejects conditions that this cluster can never meet.
func (o waitOptions) possible(wait *waiting.Wait, cluster *session.Cluster) error {
	most := cluster.NormalizedToRead().FaultTolerance()
	for _, text := range o.conditions {
		value, isTolerance := strings.CutPrefix(text, "tolerance=")
		if zones, err := strconv.Atoi(value); isTolerance && err == nil && zones > most {
			return exit.Usagef("%s can never be met: the redundancy mode of the spec tolerates at most %d", text, most)
		}
	}
	for _, c := range wait.Conditions {
		if c.Group != "" && cluster.ProcessGroup(c.Group) == nil {
			return exit.Usagef("process group %s not found in the status of %s", c.Group, cluster.Name)
		}
	}
	return nil
}

func conditionNames(of *session.ResourceKind) string {
	var forms []string
	for _, kind := range WaitKinds(of) {
		forms = append(forms, kind.Form)
	}
	return strings.Join(forms, ", ")
}

func conditionsHelp() string {
	var b strings.Builder
	for _, of := range []*session.ResourceKind{nil, session.BackupKind, session.RestoreKind} {
		if of != nil {
			fmt.Fprintf(&b, "\nOf %s/NAME:\n\n", of.Short)
		}
		for _, kind := range WaitKinds(of) {
			fmt.Fprintf(&b, "    %-18s %s\n", kind.Form, kind.meaning)
		}
	}
	return b.String()
}

// waitCandidates completes whole conditions, with the process groups of the cluster on the
// command line.
func waitCandidates(ctx context.Context, e *session.Env, cmd *cobra.Command, args []string) []string {
	var words []string
	if of, _ := session.ResourceKindOf(args); of != nil {
		return []string{conditionNames(of)}
	}
	for _, kind := range WaitKinds(nil) {
		switch kind.name() {
		case "tolerance":
			words = append(words, "tolerance=1", "tolerance=2")
		case "no-condition":
			for _, c := range losableConditions() {
				words = append(words, "no-condition="+c)
			}
		case "pg", "version": // known by the cluster only
		default:
			words = append(words, kind.Form)
		}
	}
	cluster, err := e.Cluster(ctx, args, cmd.Flag("fdb-cluster").Value.String(), session.Reads)
	if err != nil {
		return words
	}
	for _, g := range cluster.Status.ProcessGroups {
		words = append(words, fmt.Sprintf("pg=%s:removed", g.ProcessGroupID), fmt.Sprintf("pg=%s:safe", g.ProcessGroupID))
	}
	return append(words, "version="+cluster.Spec.Version)
}
