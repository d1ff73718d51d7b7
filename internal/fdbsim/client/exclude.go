package client

import (
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim/model"
)

// Exclusion is what to exclude.
type Exclusion struct {
	Targets []model.Exclusion
	Kind    model.ExclusionKind
	// Force leaves out what the client looks at before.
	Force bool
}

// Excluded is an exclusion that is in force.
type Excluded struct {
	Database *model.Database
	// Matched are the addresses that the targets mean, and Unmatched the localities that mean none.
	Matched, Unmatched []model.Exclusion
}

// errNoTargets is the answer to an exclusion of nothing.
const errNoTargets RefusedError = "At least one valid network endpoint address or a locality must be provided"

// Targets reads what to exclude or include: addresses, IP addresses, and localities.
func Targets(texts []string) ([]model.Exclusion, error) {
	targets := make([]model.Exclusion, len(texts))
	for i, text := range texts {
		target, ok := model.ParseExclusion(text)
		if !ok {
			return nil, fmt.Errorf("%s is neither an address nor a locality", text)
		}
		targets[i] = target
	}
	return targets, nil
}

// Exclude marks processes as excluded. What is needed of them moves away afterwards, see [Client.AwaitExcluded].
func (c *Client) Exclude(e Exclusion) (Excluded, error) {
	if len(e.Targets) == 0 {
		return Excluded{}, errNoTargets
	}
	db, err := c.Database((*model.Database).Writable)
	if err != nil {
		return Excluded{}, err
	}
	if !e.Force {
		if err := c.CheckExclusion(db, e); err != nil {
			return Excluded{}, err
		}
	}
	db.SetExclusions(e.Targets, e.Kind)
	if err := c.ended(); err != nil {
		return Excluded{}, err
	}
	matched, unmatched := db.ResolveTargets(e.Targets)
	return Excluded{Database: db, Matched: matched, Unmatched: unmatched}, nil
}

// AwaitExcluded waits until nothing is needed of excluded processes.
func (c *Client) AwaitExcluded(targets []model.Exclusion) error {
	_, err := c.Database(func(db *model.Database) bool {
		return db.Writable() && !slices.ContainsFunc(targets, func(e model.Exclusion) bool { return db.StillNeeded(e) })
	})
	return err
}

// Inclusion is what to include again.
type Inclusion struct {
	Targets []model.Exclusion
	Kind    model.ExclusionKind
	// All stands for all that is excluded.
	All bool
}

// Include ends exclusions.
func (c *Client) Include(i Inclusion) error {
	db, err := c.Database((*model.Database).Writable)
	if err != nil {
		return err
	}
	if i.All {
		i.Targets = db.Exclusions(i.Kind)
	}
	db.Include(i.Targets, i.Kind)
	return c.ended()
}

// ExclusionList is one of the lists of targets that special keys have.
type ExclusionList int

// The lists of targets.
const (
	InProgress ExclusionList = iota
	ExcludedAddresses
	ExcludedLocalities
	FailedAddresses
	FailedLocalities
)

// of returns the targets of a list, in order.
func (l ExclusionList) of(db *model.Database) []string {
	if l == InProgress {
		return db.InProgress()
	}
	kind := model.KindExcluded
	if l == FailedAddresses || l == FailedLocalities {
		kind = model.KindFailed
	}
	var targets []string
	for _, e := range db.Exclusions(kind) {
		if e.Locality == (l == ExcludedLocalities || l == FailedLocalities) {
			targets = append(targets, e.Text)
		}
	}
	slices.Sort(targets)
	return targets
}

// ListExclusions reads lists of targets, one after the other.
func (c *Client) ListExclusions(lists ...ExclusionList) ([]string, error) {
	var targets []string
	for _, list := range lists {
		if err := c.Begin(Reads); err != nil {
			return nil, err
		}
		db, err := c.Database((*model.Database).Readable)
		if err != nil {
			return nil, err
		}
		targets = append(targets, list.of(db)...)
	}
	return targets, nil
}
