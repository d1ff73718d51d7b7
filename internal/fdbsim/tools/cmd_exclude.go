package tools

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/client"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// excludeRequest is what the words of an exclude or include command ask for.
type excludeRequest struct {
	force, noWait, all bool
	kind               model.ExclusionKind
	targets            []model.Exclusion
	garbage            string
}

func parseExclude(args []string) excludeRequest {
	var r excludeRequest
	for _, word := range args {
		e, ok := model.ParseExclusion(word)
		switch {
		case word == "FORCE":
			r.force = true
		case word == "failed":
			r.kind = model.KindFailed
		case word == "no_wait":
			r.noWait = true
		case word == "all":
			r.all = true
		case !ok:
			r.garbage = cmp.Or(r.garbage, word)
		default:
			r.targets = append(r.targets, e)
		}
	}
	return r
}

// exclude marks processes as excluded, and by default waits until they may.
func (c *cli) exclude(args []string) error {
	if len(args) == 0 {
		return c.listExclusions()
	}
	r := parseExclude(args)
	if r.garbage != "" {
		c.refuseTarget(r.garbage)
		return nil // as recorded: exit code 0
	}
	done, err := c.Exclude(client.Exclusion{Targets: r.targets, Kind: r.kind, Force: r.force})
	if risk, is := errors.AsType[client.RefusedError](err); is && len(r.targets) > 0 {
		return c.refuse("%s\nType `exclude FORCE failed <ADDRESS...>' to exclude without performing safety checks.", risk)
	}
	if err != nil {
		return err
	}
	if !r.noWait {
		if err := c.awaitExcluded(r.targets); err != nil {
			return err
		}
	}
	c.reportExcluded(done)
	c.warnCoordinators(done.Database, r.targets)
	return nil
}

func (c *cli) refuseTarget(text string) {
	c.errorf("ERROR: '%s' is neither a valid network endpoint address nor a locality", text)
	if strings.HasSuffix(text, ":tls") {
		c.print("        Do not include the `:tls' suffix when naming a process\n")
	}
}

func (c *cli) awaitExcluded(targets []model.Exclusion) error {
	c.print("Waiting for state to be removed from all excluded servers. This may take a while.\n" +
		"(Interrupting this wait with CTRL+C will not cancel the data movement.)\n")
	c.slow = slowCommand{} // as recorded: fdbcli does not warn about this wait
	return c.AwaitExcluded(targets)
}

// reportExcluded prints the result of each target.
func (c *cli) reportExcluded(done client.Excluded) {
	pending := done.Database.InProgress()
	for _, e := range done.Matched {
		c.reportTarget(done.Database, e, pending)
	}
	for _, e := range done.Unmatched {
		c.errorf("  %s  ---- WARNING: Currently no servers found with this locality match! Be sure that you excluded the correct locality.", e.Text)
	}
}

// warnCoordinators prints which of the targets are coordinators.
func (c *cli) warnCoordinators(db *model.Database, targets []model.Exclusion) {
	warned := false
	for _, s := range db.CoordinatorServers() {
		if slices.ContainsFunc(targets, func(e model.Exclusion) bool { return e.Matches(s) }) {
			c.errorf("WARNING: %s is a coordinator!", s.Address())
			warned = true
		}
	}
	if warned {
		c.print("Type `help coordinators' for information on how to change the\ncluster's coordination servers before removing them.\n")
	}
}

func (c *cli) reportTarget(db *model.Database, e model.Exclusion, pending []string) {
	name, kind, gap := e.Text, "process", " "
	plural := "processes"
	if e.Machine {
		name, kind, plural, gap = e.Text+"(Whole machine)", "machine", "machines", ""
	}
	isTarget := func(s *model.Process) bool { return e.Matches(s) }
	switch {
	case !slices.ContainsFunc(db.Members, isTarget):
		c.errorf("  %s  ---- WARNING: Missing from cluster!%sBe sure that you excluded the correct %s before removing them from the cluster!",
			name, gap, plural)
	case slices.ContainsFunc(pending, func(a string) bool { return a == e.Text || (e.Machine && model.HostOf(a) == e.Text) }):
		c.errorf("  %s  ---- WARNING: Exclusion in progress! It is not safe to remove this %s from the cluster", name, kind)
	default:
		c.printf("  %s  ---- Successfully excluded. It is now safe to remove this %s from the cluster.\n", name, kind)
	}
}

// listExclusions prints what is excluded.
func (c *cli) listExclusions() error {
	db, err := c.Database(func(db *model.Database) bool { return db.Writable() && (c.options.LockAware || !db.IsLocked()) })
	if err != nil {
		return err
	}
	excluded, failed := db.Exclusions(model.KindExcluded), db.Exclusions(model.KindFailed)
	if len(excluded) == 0 && len(failed) == 0 {
		c.print("There are currently no servers or localities excluded from the database.\nTo learn how to exclude a server, type `help exclude'.\n")
		return nil
	}
	c.printf("There are currently %d servers or localities being excluded from the database:\n", len(excluded))
	c.printTargets(excluded)
	if len(excluded) > 0 {
		c.print("To find out whether it is safe to remove one or more of these\nservers from the cluster, type `exclude <addresses>'.\n" +
			"To return one of these servers to the cluster, type `include <addresses>'.\n")
	}
	c.printf("\nThere are currently %d servers or localities marked as failed in the database:\n", len(failed))
	c.printTargets(failed)
	if len(failed) > 0 {
		c.print("To return one of these servers to the cluster, type `include failed <addresses>'.\n")
	}
	if c.Release.AtLeast(listsInProgress) {
		pending := db.InProgress()
		c.printf("\nThere are currently %d processes for which exclusion is in progress:\n", len(pending))
		for _, address := range pending {
			c.printf("%s\n", address)
		}
	}
	return nil
}

// listsInProgress is the first version whose list of exclusions has those that are in progress.
var listsInProgress = fdb.Version{Major: 7, Minor: 4}

func (c *cli) printTargets(targets []model.Exclusion) {
	for _, e := range targets {
		c.printf("  %s\n", e.Text)
	}
}

// include ends exclusions.
func (c *cli) include(args []string) error {
	if len(args) == 0 {
		return c.usageOf("include")
	}
	r := parseExclude(args)
	if r.garbage != "" {
		return c.refuse("'%s' is neither a valid network endpoint address nor a locality", r.garbage)
	}
	return c.Include(client.Inclusion{Targets: r.targets, Kind: r.kind, All: r.all})
}
