package recovery

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// derived returns an error if what a plan applies does not follow from what it shows and relies on: the
// connection string from the coordinators, their addresses from the basis, which is compared with the
// cluster, and the steps from the kind. A digest alone proves none of this: whoever edits a plan can compute
// it again.
func (p Plan) derived() error {
	steps, to, err := p.follows()
	switch {
	case err != nil:
		return fmt.Errorf("the plan contradicts itself: %w", err)
	case to != p.To:
		return errors.New("the plan contradicts itself: its connection string is not that of its coordinators")
	case !slices.Equal(steps, p.Steps):
		return errors.New("the plan contradicts itself: its steps are not those of its kind")
	}
	return errors.Join(p.addressesKnown(), p.groupsKnown())
}

// follows returns the steps and the connection string that follow from the rest of the plan.
func (p Plan) follows() (steps []Step, to string, err error) {
	if !p.Kind.createsPods() {
		return p.target(Facts{Recorded: p.From})
	}
	f := Facts{}
	if p.From == "" {
		return p.podSteps(f), "", nil
	}
	s, err := fdb.ParseConnectionString(p.From)
	if err != nil {
		return nil, "", err
	}
	for _, c := range s.Coordinators {
		f.Coordinators = append(f.Coordinators, Coordinator{Address: c.Coordinator()})
	}
	return p.podSteps(f), "", nil
}

// addressesKnown returns an error for a coordinator at an address that its process group does not have.
func (p Plan) addressesKnown() error {
	at := map[string]string{}
	for _, m := range p.Moves {
		at[m.Group] = m.To
	}
	if p.Copy != nil {
		for _, c := range p.Copy.Coordinators {
			at[c.Group] = c.Address
		}
	}
	for group, text := range at {
		address, err := fdb.ParseAddress(text)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(p.Basis.Groups, func(g BasisGroup) bool { return g.ID == group })
		if i < 0 || address.IsIP() && !slices.Contains(p.Basis.Groups[i].Now, address.Host) {
			return fmt.Errorf("the plan contradicts itself: %s is not an address of process group %s", text, group)
		}
	}
	return nil
}

// groupsKnown returns an error for an object of a process group that the basis does not have.
func (p Plan) groupsKnown() error {
	var groups []string
	for _, r := range p.Rebuild {
		groups = append(groups, r.ID)
	}
	for _, b := range p.Bind {
		groups = append(groups, b.Group)
	}
	for _, c := range p.Create {
		groups = append(groups, c.Group)
	}
	for _, group := range groups {
		if !slices.ContainsFunc(p.Basis.Groups, func(g BasisGroup) bool { return g.ID == group }) {
			return fmt.Errorf("the plan contradicts itself: process group %s is not of its basis", group)
		}
	}
	return nil
}
