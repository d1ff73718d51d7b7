package fdbsim

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// writable reports whether the database's tools can change its system keys.
func (db *database) writable() bool { return db.readable() }

// excludeRequest is what the words of an exclude or include command ask for.
type excludeRequest struct {
	force, failed, noWait, all bool
	targets                    []exclusion
	garbage                    string
}

func parseExclude(args []string) excludeRequest {
	var r excludeRequest
	for _, word := range args {
		e, ok := parseExclusion(word)
		switch {
		case word == "FORCE":
			r.force = true
		case word == "failed":
			r.failed = true
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

// exclude marks processes as leaving, and by default waits until they may.
func (c *cli) exclude(args []string) error {
	if len(args) == 0 {
		return c.listExclusions()
	}
	r := parseExclude(args)
	if r.garbage != "" {
		c.refuseTarget(r.garbage)
		return nil // as recorded: exit code 0
	}
	if len(r.targets) == 0 {
		return c.refuse("At least one valid network endpoint address or a locality must be provided")
	}
	db, err := c.database((*database).writable)
	if err != nil {
		return err
	}
	if !r.force {
		if err := c.checkExclude(db, r); err != nil {
			return err
		}
	}
	db.setExclusions(r.targets, r.failed)
	if c.dropping {
		return endError{exitKilled}
	}
	matched, unmatched := db.resolveTargets(r.targets)
	if !r.noWait {
		if err := c.awaitExcluded(r.targets); err != nil {
			return err
		}
	}
	c.reportExcluded(db, matched, unmatched)
	c.warnCoordinators(db, r.targets)
	return nil
}

func (c *cli) refuseTarget(text string) {
	c.errorf("ERROR: '%s' is neither a valid network endpoint address nor a locality", text)
	if strings.HasSuffix(text, ":tls") {
		c.print("        Do not include the `:tls' suffix when naming a process\n")
	}
}

func (c *cli) awaitExcluded(targets []exclusion) error {
	c.print("Waiting for state to be removed from all excluded servers. This may take a while.\n" +
		"(Interrupting this wait with CTRL+C will not cancel the data movement.)\n")
	c.slow = slowCommand{} // as recorded: no noise about this wait
	_, err := c.database(func(db *database) bool {
		return db.writable() && !slices.ContainsFunc(targets, func(e exclusion) bool { return db.stillNeeded(e) })
	})
	return err
}

// stillNeeded reports whether data or a log that somebody needs is known to be
// on a process that the target means.
func (db *database) stillNeeded(e exclusion) bool {
	pending := db.inProgress()
	if slices.ContainsFunc(db.storage, func(ss *storageServer) bool {
		return e.matches(ss.server) && slices.Contains(pending, ss.server.address().HostPort())
	}) {
		return true
	}
	return slices.ContainsFunc(db.members, func(s *server) bool {
		return s.alive() && e.matches(s) && slices.Contains(pending, s.address().HostPort())
	})
}

// reportExcluded says about each target what has become of it.
func (c *cli) reportExcluded(db *database, matched, unmatched []exclusion) {
	pending := db.inProgress()
	for _, e := range matched {
		c.reportTarget(db, e, pending)
	}
	for _, e := range unmatched {
		c.errorf("  %s  ---- WARNING: Currently no servers found with this locality match! Be sure that you excluded the correct locality.", e.text)
	}
}

// warnCoordinators says which of the targets are coordinators.
func (c *cli) warnCoordinators(db *database, targets []exclusion) {
	warned := false
	for _, s := range db.coordinatorServers() {
		if slices.ContainsFunc(targets, func(e exclusion) bool { return e.matches(s) }) {
			c.errorf("WARNING: %s is a coordinator!", s.address())
			warned = true
		}
	}
	if warned {
		c.print("Type `help coordinators' for information on how to change the\ncluster's coordination servers before removing them.\n")
	}
}

func (db *database) coordinatorServers() []*server {
	var servers []*server
	for _, a := range db.conn.Coordinators {
		if s := db.w.coordinatorAt(a); s != nil {
			servers = append(servers, s)
		}
	}
	return servers
}

// resolveTargets turns localities into the addresses of the processes that have
// them, dead storage servers included. Localities that nobody has stay.
func (db *database) resolveTargets(targets []exclusion) (matched, unmatched []exclusion) {
	known := slices.Clone(db.members)
	for _, ss := range db.storage {
		known = append(known, ss.server)
	}
	for _, e := range targets {
		if !e.locality {
			matched = append(matched, e)
			continue
		}
		found := false
		for _, s := range known {
			if e.matches(s) {
				matched = append(matched, exclusion{text: s.address().HostPort()})
				found = true
			}
		}
		if !found {
			unmatched = append(unmatched, e)
		}
	}
	slices.SortStableFunc(matched, func(a, b exclusion) int { return compareTargets(a.text, b.text) })
	return slices.Compact(matched), unmatched
}

// compareTargets orders addresses by number, not by text.
func compareTargets(a, b string) int {
	return cmp.Or(targetIP(a).Compare(targetIP(b)), strings.Compare(a, b))
}

func targetIP(text string) netip.Addr {
	if ip, err := netip.ParseAddr(text); err == nil {
		return ip
	}
	a, err := fdb.ParseAddress(text)
	if err != nil {
		return netip.Addr{}
	}
	ip, err := netip.ParseAddr(a.Host)
	if err != nil {
		return netip.Addr{}
	}
	return ip
}

func (c *cli) reportTarget(db *database, e exclusion, pending []string) {
	name, kind, gap := e.text, "process", " "
	plural := "processes"
	if e.machine {
		name, kind, plural, gap = e.text+"(Whole machine)", "machine", "machines", ""
	}
	isTarget := func(s *server) bool { return e.matches(s) }
	switch {
	case !slices.ContainsFunc(db.members, isTarget):
		c.errorf("  %s  ---- WARNING: Missing from cluster!%sBe sure that you excluded the correct %s before removing them from the cluster!",
			name, gap, plural)
	case slices.ContainsFunc(pending, func(a string) bool { return a == e.text || (e.machine && hostOf(a) == e.text) }):
		c.errorf("  %s  ---- WARNING: Exclusion in progress! It is not safe to remove this %s from the cluster", name, kind)
	default:
		c.printf("  %s  ---- Successfully excluded. It is now safe to remove this %s from the cluster.\n", name, kind)
	}
}

func hostOf(hostPort string) string {
	a, err := fdb.ParseAddress(hostPort)
	if err != nil {
		return ""
	}
	return a.Host
}

// listExclusions prints what is excluded.
func (c *cli) listExclusions() error {
	db, err := c.database(func(db *database) bool { return db.writable() && !db.lockedAgainst(c.options.lockAware) })
	if err != nil {
		return err
	}
	excluded, failed := db.exclusions(false), db.exclusions(true)
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
	return nil
}

func (c *cli) printTargets(targets []exclusion) {
	for _, e := range targets {
		c.printf("  %s\n", e.text)
	}
}

const includeUsage = "include all|[<ADDRESS...>] [locality_dcid:<excludedcid>] [locality_zoneid:<excludezoneid>] " +
	"[locality_machineid:<excludemachineid>] [locality_processid:<excludeprocessid>] or any locality data"

// include takes exclusions back.
func (c *cli) include(args []string) error {
	if len(args) == 0 {
		return c.usage(includeUsage)
	}
	r := parseExclude(args)
	if r.garbage != "" {
		return c.refuse("'%s' is neither a valid network endpoint address nor a locality", r.garbage)
	}
	db, err := c.database((*database).writable)
	if err != nil {
		return err
	}
	db.include(r)
	if c.dropping {
		return endError{exitKilled}
	}
	return nil
}

func (db *database) include(r excludeRequest) {
	targets := r.targets
	if r.all {
		targets = db.exclusions(r.failed)
	}
	var changes []mutation
	for _, e := range targets {
		for _, key := range db.storedAs(e, r.failed) {
			gone := singleKey(key)
			changes = append(changes, mutation{clear: &gone})
		}
	}
	if len(changes) == 0 {
		return
	}
	db.commit(changes)
	db.exclusionsChanged()
}

// storedAs are the keys that including a target clears: a whole machine takes
// its ports with it.
func (db *database) storedAs(e exclusion, failed bool) []string {
	var keys []string
	for _, stored := range db.exclusions(failed) {
		if stored.text == e.text || (e.machine && hostOf(stored.text) == e.text) {
			keys = append(keys, stored.key(failed))
		}
	}
	return keys
}
