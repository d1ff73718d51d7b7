package admin

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// Special keys that only the client library reads and writes; fdbcli has commands.
const (
	maintenancePrefix = "\xff\xff/management/maintenance/"
	workersPrefix     = "\xff\xff/worker_interfaces/"
	coordinatorsKey   = "\xff\xff/configuration/coordinators/processes"
	errorMessageKey   = "\xff\xff/error_message"
)

// ignoredZone stands for all zones: data distribution ignores failures of storage.
const ignoredZone = "IgnoreSSFailures"

// change writes special keys and reads back the effect.
func (c *LibraryClient) change(ctx context.Context, operation string, mutations []Mutation, inForce func(context.Context) (bool, error)) error {
	err := c.writeSpecial(ctx, operation, mutations)
	return mutation{operation: operation, inForce: inForce}.conclude(ctx, Result{}, err)
}

// writeSpecial commits writes of special keys.
func (c *LibraryClient) writeSpecial(ctx context.Context, operation string, mutations []Mutation) error {
	_, err := c.retry(ctx, func() (int64, error) {
		return 0, c.within(ctx, operation, changeLimit, func(t LibraryTransaction) error {
			if err := t.EnableSpecialWrites(); err != nil {
				return err
			}
			if err := apply(t, mutations); err != nil {
				return err
			}
			_, err := t.Commit()
			if failed, ok := errors.AsType[*LibraryError](err); ok && failed.Code == codeSpecialKeys {
				return specialRefusal(operation, t)
			}
			return commitError(ctx, operation, err)
		})
	})
	return err
}

// specialRefusal returns why the write of special keys was refused.
func specialRefusal(operation string, t LibraryTransaction) error {
	e := &Error{Kind: KindRefused, Operation: operation, Code: codeSpecialKeys}
	value, _, err := t.Get([]byte(errorMessageKey))
	if err != nil {
		e.Err = err
		return e
	}
	var refusal struct {
		Retriable bool
		Message   string
	}
	if err := json.Unmarshal(value, &refusal); err != nil {
		e.Detail = strconv.Quote(string(value))
		return e
	}
	if refusal.Retriable {
		e.Kind = KindNotYet
	}
	e.Detail = firstLine(refusal.Message)
	if errors := errorLines([]byte(refusal.Message)); len(errors) > 0 {
		e.Detail = strings.Join(errors, "; ") // without the hints to use FORCE
	}
	return e
}

// Exclude starts exclusions without waiting for them.
func (c *LibraryClient) Exclude(ctx context.Context, targets []string) error {
	operation := "excluding " + strings.Join(targets, ", ")
	if err := checkTargets(operation, targets); err != nil {
		return err
	}
	var mutations []Mutation
	for _, t := range targets {
		mutations = append(mutations, Set(exclusionKey(t), nil))
	}
	return c.change(ctx, operation, mutations, func(ctx context.Context) (bool, error) {
		excluded, err := c.Exclusions(ctx)
		return err == nil && containsAll(excluded, targets), err
	})
}

// Include ends exclusions. It never includes everything.
func (c *LibraryClient) Include(ctx context.Context, targets []string) error {
	operation := "including " + strings.Join(targets, ", ")
	if err := checkTargets(operation, targets); err != nil {
		return err
	}
	var mutations []Mutation
	for _, t := range targets {
		key := exclusionKey(t)
		mutations = append(mutations, Clear(key))
		if _, err := netip.ParseAddr(t); err == nil { // as fdbcli does: all ports of the machine
			mutations = append(mutations, ClearRange(append(slices.Clone(key), ':'), append(slices.Clone(key), ':'+1)))
		}
	}
	return c.change(ctx, operation, mutations, func(ctx context.Context) (bool, error) {
		excluded, err := c.Exclusions(ctx)
		return err == nil && !containsAny(excluded, targets), err
	})
}

func exclusionKey(target string) []byte {
	if localityPattern.MatchString(target) {
		return []byte(excludedLocalityPrefix + target)
	}
	return []byte(excludedPrefix + target)
}

// Exclusions returns all exclusions in force, sorted.
func (c *LibraryClient) Exclusions(ctx context.Context) ([]string, error) {
	lists, err := c.ExclusionLists(ctx)
	return lists.InForce, err
}

// InProgressExclusions returns the addresses that still hold data or logs, sorted.
func (c *LibraryClient) InProgressExclusions(ctx context.Context) ([]string, error) {
	lists, err := c.ExclusionLists(ctx)
	return lists.InProgress, err
}

// ExclusionLists reads all of them in one transaction.
func (c *LibraryClient) ExclusionLists(ctx context.Context) (ExclusionLists, error) {
	found, err := c.namesUnder(ctx, "listing exclusions", exclusionPrefixes...)
	if err != nil {
		return ExclusionLists{}, err
	}
	return exclusionLists(found), nil
}

// namesUnder returns, by prefix, the keys with it, without the prefix.
func (c *LibraryClient) namesUnder(ctx context.Context, operation string, prefixes ...string) (map[string][]string, error) {
	var reads []Read
	for _, p := range prefixes {
		reads = append(reads, ReadRange([]byte(p), []byte(endOf(p))))
	}
	view, err := c.read(ctx, operation, readLimit, reads...)
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for i, p := range prefixes {
		for _, pair := range view.Within(reads[i].Begin, reads[i].End) {
			found[p] = append(found[p], strings.TrimPrefix(string(pair.Key), p))
		}
	}
	return found, nil
}

// Maintenance returns the zone under maintenance, if any.
func (c *LibraryClient) Maintenance(ctx context.Context) (fdb.Maintenance, error) {
	const operation = "reading the maintenance mode"
	all := ReadRange([]byte(maintenancePrefix), []byte(endOf(maintenancePrefix)))
	view, err := c.read(ctx, operation, readLimit, all)
	if err != nil {
		return fdb.Maintenance{}, err
	}
	pairs := view.Within(all.Begin, all.End)
	if len(pairs) == 0 {
		return fdb.Maintenance{}, nil
	}
	zone := strings.TrimPrefix(string(pairs[0].Key), maintenancePrefix)
	if zone == ignoredZone {
		return fdb.Maintenance{Disabled: true}, nil
	}
	left, err := strconv.ParseFloat(string(pairs[0].Value), 64)
	if err != nil || len(pairs) > 1 {
		return fdb.Maintenance{}, &Error{Kind: KindUnparsed, Operation: operation, Detail: strconv.Quote(string(pairs[0].Value)), Err: err}
	}
	return fdb.Maintenance{Zone: zone, Remaining: durationOf(left)}, nil
}

// MaintenanceOn puts a zone under maintenance for d, at least a second. It fails while
// another zone is.
func (c *LibraryClient) MaintenanceOn(ctx context.Context, zone string, d time.Duration) error {
	operation := puttingUnderMaintenance(zone)
	if err := mayStartMaintenance(ctx, c, operation, zone, d); err != nil {
		return err
	}
	set := Set([]byte(maintenancePrefix+zone), []byte(seconds(d)))
	return c.change(ctx, operation, []Mutation{set}, func(ctx context.Context) (bool, error) {
		m, err := c.Maintenance(ctx)
		return err == nil && m.Zone == zone, err
	})
}

// MaintenanceOff ends maintenance of any zone.
func (c *LibraryClient) MaintenanceOff(ctx context.Context) error {
	clearAll := ClearRange([]byte(maintenancePrefix), []byte(endOf(maintenancePrefix)))
	return c.change(ctx, endingMaintenance, []Mutation{clearAll}, func(ctx context.Context) (bool, error) {
		m, err := c.Maintenance(ctx)
		return err == nil && !m.Active() && !m.Disabled, err
	})
}

// The library learns of new coordinators a moment after their change.
const (
	coordinatorReads = 5
	coordinatorPause = time.Second
)

// ChangeCoordinators changes the coordinators. The caller is responsible for their number
// and choice.
func (c *LibraryClient) ChangeCoordinators(ctx context.Context, coordinators []fdb.Address) (fdb.ConnectionString, error) {
	texts, err := coordinatorWords(coordinators)
	if err != nil {
		return fdb.ConnectionString{}, err
	}
	// A change that is made ends its own transaction with an unknown result.
	err = c.writeSpecial(ctx, changingCoordinators, []Mutation{Set([]byte(coordinatorsKey), []byte(strings.Join(texts, ",")))})
	reads := coordinatorReads
	if decided(err) {
		reads = 1
	}
	var now fdb.ConnectionString
	m := mutation{operation: changingCoordinators, inForce: func(ctx context.Context) (same bool, err error) {
		for try := range reads {
			if try > 0 {
				if err := pauseOn(ctx, c.clock, coordinatorPause); err != nil {
					return false, err
				}
			}
			if now, err = c.ConnectionString(ctx); err == nil && now.SameCoordinators(coordinators) {
				return true, nil
			}
		}
		return false, err
	}}
	if err := m.conclude(ctx, Result{}, err); err != nil {
		return fdb.ConnectionString{}, err
	}
	return now, nil
}

// Kill restarts processes, all or none of those that the cluster controller knows.
func (c *LibraryClient) Kill(ctx context.Context, addresses []fdb.Address) error {
	return killReachable(ctx, addresses, c.killable, c.kill)
}

// killable returns the addresses of all processes that the cluster controller knows.
func (c *LibraryClient) killable(ctx context.Context) ([]string, error) {
	const operation = "listing processes that can be killed"
	found, err := c.namesUnder(ctx, operation, workersPrefix)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, name := range found[workersPrefix] {
		a, err := fdb.ParseAddress(name)
		if err != nil {
			return nil, &Error{Kind: KindUnparsed, Operation: operation, Err: err}
		}
		known[a.HostPort()] = true
	}
	s, err := c.Status(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range s.Cluster.Processes { // the keys have one address of each
		public, err := fdb.PublicAddresses(p.CommandLine)
		if err != nil || !slices.ContainsFunc(public, func(a fdb.Address) bool { return known[a.HostPort()] }) {
			continue
		}
		for _, a := range public {
			known[a.HostPort()] = true
		}
	}
	return slices.Collect(maps.Keys(known)), nil
}

func (c *LibraryClient) kill(ctx context.Context, operation string, present []string) error {
	before, err := c.Status(ctx)
	if err != nil {
		return err
	}
	began := c.clock.Now()
	sent, err := c.library.Reboot(ctx, present)
	switch {
	case err != nil:
		err = commitError(ctx, operation, err)
	case !sent:
		err = &Error{Kind: KindNotYet, Operation: operation, Detail: "one of them cannot be reached"}
	}
	// Some versions of the library report a lost connection as not sent.
	m := mutation{operation: operation, mustRead: true, inForce: func(ctx context.Context) (bool, error) {
		return statusPoller{c.Status, c.clock}.restarted(ctx, uptimes(before), present, began)
	}}
	return m.conclude(ctx, Result{}, err)
}

// Configure is KindUnsupported: no special key configures a database.
func (c *LibraryClient) Configure(context.Context, fdb.Configuration, ConfigureKind) error {
	return unsupported("configuring the database")
}

// KillForUpgrade is KindUnsupported: the library cannot follow processes to a protocol that
// is not its own.
func (c *LibraryClient) KillForUpgrade(_ context.Context, addresses []fdb.Address) error {
	return unsupported("restarting " + phrase.Count(len(addresses), "process") + " in another version")
}

func unsupported(operation string) error {
	return &Error{Kind: KindUnsupported, Operation: operation, Detail: "the native transport cannot do this, fdbcli in a pod can"}
}
