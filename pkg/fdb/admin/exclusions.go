package admin

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// Prefixes of the special keys that list exclusions, including failed ones.
const (
	excludedPrefix         = "\xff\xff/management/excluded/"
	excludedLocalityPrefix = "\xff\xff/management/excluded_locality/"
	failedPrefix           = "\xff\xff/management/failed/"
	failedLocalityPrefix   = "\xff\xff/management/failed_locality/"
	inProgressPrefix       = "\xff\xff/management/in_progress_exclusion/"
)

// maxRows is the maximum number of exclusions; more are an error.
const maxRows = 100_000

var localityPattern = regexp.MustCompile(`^locality_[A-Za-z0-9_]+:[^\s;"'\\]+$`)

// Exclude starts exclusions without waiting for them. The printed result of each
// target is ignored: "successfully excluded" is also printed for a running cluster
// controller, and a dead process is always "missing".
func (c *FDBCLI) Exclude(ctx context.Context, targets []string) error {
	operation := "excluding " + strings.Join(targets, ", ")
	if err := checkTargets(operation, targets); err != nil {
		return err
	}
	return c.change(ctx, mutation{
		operation: operation,
		script:    command(append([]string{"exclude", "no_wait"}, targets...)...),
		limit:     changeLimit,
		succeeded: func(Result) bool { return true }, // no text proves success; the list does
		inForce: func(ctx context.Context) (bool, error) {
			excluded, err := c.Exclusions(ctx)
			return err == nil && containsAll(excluded, targets), err
		},
	})
}

// Include ends exclusions. It never includes everything.
func (c *FDBCLI) Include(ctx context.Context, targets []string) error {
	operation := "including " + strings.Join(targets, ", ")
	if err := checkTargets(operation, targets); err != nil {
		return err
	}
	return c.change(ctx, mutation{
		operation: operation,
		script:    command(append([]string{"include"}, targets...)...),
		limit:     changeLimit,
		inForce: func(ctx context.Context) (bool, error) {
			excluded, err := c.Exclusions(ctx)
			return err == nil && !containsAny(excluded, targets), err
		},
	})
}

func containsAll(excluded, targets []string) bool {
	return !slices.ContainsFunc(targets, func(t string) bool { return !slices.Contains(excluded, t) })
}

func containsAny(excluded, targets []string) bool {
	return slices.ContainsFunc(targets, func(t string) bool { return slices.Contains(excluded, t) })
}

// checkTargets rejects targets that exclude would misinterpret, or skip with exit
// code 0.
func checkTargets(operation string, targets []string) error {
	if len(targets) == 0 {
		return &Error{Kind: KindBadInput, Operation: operation, Detail: "no targets"}
	}
	for _, t := range targets {
		if !IsTarget(t) {
			detail := fmt.Sprintf("%q must be an IP, ip:port without flags, or a locality", t)
			return &Error{Kind: KindBadInput, Operation: operation, Detail: detail}
		}
	}
	return nil
}

// IsTarget reports whether exclude and include accept a text: an IP, an ip:port
// without flags, or a locality.
func IsTarget(text string) bool {
	if localityPattern.MatchString(text) {
		return true
	}
	if ip, err := netip.ParseAddr(text); err == nil {
		return ip.String() == text
	}
	a, err := fdb.ParseAddress(text)
	return err == nil && a.IsIP() && a.Port != 0 && a.HostPort() == text
}

// Exclusions returns all exclusions in force, sorted.
func (c *FDBCLI) Exclusions(ctx context.Context) ([]string, error) {
	return c.keysUnder(ctx, "listing exclusions",
		excludedPrefix, excludedLocalityPrefix, failedPrefix, failedLocalityPrefix)
}

// InProgressExclusions returns the addresses that still hold data or logs,
// sorted.
func (c *FDBCLI) InProgressExclusions(ctx context.Context) ([]string, error) {
	return c.keysUnder(ctx, "listing exclusions in progress", inProgressPrefix)
}

// ExclusionLists are the exclusions that the database reports, each list
// sorted.
type ExclusionLists struct {
	// InForce are the targets excluded now, including failed ones.
	InForce []string
	// Failed are those of InForce that were excluded as failed: the database does not move
	// their data.
	Failed []string
	// InProgress are addresses, without flags, that still hold data or logs.
	InProgress []string
}

// ExclusionLists reads all of them with one command.
func (c *FDBCLI) ExclusionLists(ctx context.Context) (ExclusionLists, error) {
	found, err := c.rangesUnder(ctx, "listing exclusions", exclusionPrefixes...)
	if err != nil {
		return ExclusionLists{}, err
	}
	return exclusionLists(found), nil
}

// exclusionPrefixes are the prefixes of all special keys that exclusionLists needs.
var exclusionPrefixes = []string{excludedPrefix, excludedLocalityPrefix, failedPrefix, failedLocalityPrefix, inProgressPrefix}

// exclusionLists sorts what was found under the prefixes of exclusions.
func exclusionLists(found map[string][]string) ExclusionLists {
	failed := sorted(found[failedPrefix], found[failedLocalityPrefix])
	return ExclusionLists{
		InForce:    sorted(found[excludedPrefix], found[excludedLocalityPrefix], failed),
		Failed:     failed,
		InProgress: sorted(found[inProgressPrefix]),
	}
}

// keysUnder returns the keys with these prefixes, without the prefix.
func (c *FDBCLI) keysUnder(ctx context.Context, operation string, prefixes ...string) ([]string, error) {
	found, err := c.rangesUnder(ctx, operation, prefixes...)
	return sorted(slices.Collect(maps.Values(found))...), err
}

func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// rangesUnder returns, by prefix, the keys with it, without the prefix.
func (c *FDBCLI) rangesUnder(ctx context.Context, operation string, prefixes ...string) (map[string][]string, error) {
	commands := make([]string, len(prefixes))
	for i, prefix := range prefixes {
		commands[i] = command("getrange", prefix, endOf(prefix), strconv.Itoa(maxRows))
	}
	script := strings.Join(commands, "; ")
	like := reading(script, readLimit)
	like.Whole = rangeEnds
	r, err := c.runAs(ctx, operation, script, like)
	if err != nil {
		return nil, err
	}
	if !rangeEnds(r.Stdout) {
		return nil, unparsed(operation, r)
	}
	found := map[string][]string{}
	lines := answerLines(r.Stdout)
	for _, prefix := range prefixes {
		rows, rest, err := parseRange(maxRows, lines)
		if err != nil {
			return nil, &Error{Kind: KindUnparsed, Operation: operation, Err: err}
		}
		for _, row := range rows {
			name, has := strings.CutPrefix(string(row.Key), prefix)
			if !has {
				return nil, &Error{Kind: KindUnparsed, Operation: operation, Detail: "key outside its range: " + strconv.Quote(string(row.Key))}
			}
			found[prefix] = append(found[prefix], name)
		}
		lines = rest
	}
	if len(lines) > 0 {
		return nil, unparsed(operation, r)
	}
	return found, nil
}

// endOf returns the end of the range of all keys that start with a prefix ending in
// "/".
func endOf(prefix string) string { return strings.TrimSuffix(prefix, "/") + "0" }
