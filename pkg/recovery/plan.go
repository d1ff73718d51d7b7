package recovery

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Step is a kind of step of a plan, in the order in which they are carried out.
type Step string

// The steps.
const (
	// StepClusterFiles keeps a copy of the cluster file of each pod and replaces it.
	StepClusterFiles Step = "write-cluster-files"
	// StepConfigMap writes the connection string to the ConfigMap.
	StepConfigMap Step = "write-config-map"
	// StepStatus writes the connection string to the status of the resource.
	StepStatus Step = "write-status"
	// StepRestart restarts all fdbserver processes in their containers.
	StepRestart Step = "restart-processes"
	// StepAvailable waits until the database is available with the new connection string.
	StepAvailable Step = "wait-available"
)

// Plan is how to get back what was lost.
type Plan struct {
	Cluster   string `json:"cluster"`
	Namespace string `json:"namespace"`
	Assessment
	// Steps are what recover apply does; empty for a kind that it does not handle.
	Steps []Step `json:"steps"`
	// Manual are what to do instead, in order; empty for a plan with steps.
	Manual []string `json:"manual"`
	// From and To are the connection strings before and after; empty for a plan without steps.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Rebuild are process groups that are added to an empty status; empty for one that has them.
	Rebuild []Rebuilt `json:"rebuild,omitempty"`
	// Bind are the PVCs that are bound to their volumes again, Create the pods that are created, in
	// this order; empty for kinds without them.
	Bind   []Binding  `json:"bind,omitempty"`
	Create []Creation `json:"create,omitempty"`
	// Basis is what the plan relies on.
	Basis Basis `json:"basis"`
	// Digest identifies all of the above.
	Digest string `json:"digest"`
}

// Basis are the facts that must be the same when a plan is carried out.
type Basis struct {
	UID    string       `json:"uid"`
	Groups []BasisGroup `json:"groups"`
}

// BasisGroup is the part of a process group on which a plan relies.
type BasisGroup struct {
	ID     string   `json:"id"`
	PodUID string   `json:"podUID"`
	Now    []string `json:"now"`
	Volume string   `json:"volume"`
	// Coordinates is whether the volume has coordination state of the generation.
	Coordinates bool `json:"coordinates"`
}

// NewPlan returns the plan for what the facts show. The commands of manual steps are made by command.
func NewPlan(cluster, namespace string, f Facts, command func(words ...string) string) (Plan, error) {
	p := Plan{Cluster: cluster, Namespace: namespace, Assessment: Assess(f), Steps: []Step{}, Manual: []string{}, Basis: basisOf(f)}
	if p.Handled && p.Kind.createsPods() {
		p.createPods(f)
	} else if p.Handled {
		var err error
		if p.Steps, p.To, err = p.target(f); err != nil {
			return Plan{}, err
		}
		p.From = f.Recorded
	} else {
		p.Manual = manual(cluster, f, p.Assessment, command)
	}
	var err error
	p.Digest, err = p.digest()
	return p, err
}

// target returns the steps of the kind, and the connection string after them.
func (p Plan) target(f Facts) (steps []Step, to string, err error) {
	if p.Copy != nil {
		to, err = copiedTo(f.Recorded, *p.Copy)
		return copiedSteps(), to, err
	}
	to, err = moveTo(f.Recorded, p.Moves)
	return []Step{StepClusterFiles, StepConfigMap, StepStatus, StepRestart, StepAvailable}, to, err
}

func basisOf(f Facts) Basis {
	b := Basis{UID: f.UID, Groups: []BasisGroup{}}
	for _, g := range f.Groups {
		b.Groups = append(b.Groups, BasisGroup{ID: g.ID, PodUID: g.PodUID, Now: append([]string{}, g.Now...), Volume: g.Volume, Coordinates: g.Coordinates()})
	}
	stable.Sort(b.Groups, func(x, y BasisGroup) int { return strings.Compare(x.ID, y.ID) })
	return b
}

// moveTo returns the connection string with the same description and ID, and each coordinator at its
// address now: none omitted, none added.
func moveTo(from string, moves []Move) (string, error) {
	s, err := fdb.ParseConnectionString(from)
	if err != nil {
		return "", err
	}
	if len(moves) != len(s.Coordinators) {
		return "", fmt.Errorf("%s have a known address, %d required", phrase.Count(len(moves), "coordinator"), len(s.Coordinators))
	}
	for i, m := range moves {
		if s.Coordinators[i].Coordinator() != m.From {
			return "", fmt.Errorf("coordinator %s is not the one of the move from %s", s.Coordinators[i].Coordinator(), m.From)
		}
		if s.Coordinators[i], err = fdb.ParseAddress(m.To); err != nil {
			return "", err
		}
	}
	if err := s.Check(); err != nil {
		return "", err
	}
	return s.String(), nil
}

func (p Plan) digest() (string, error) {
	p.Digest = ""
	text, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Check returns an error if the plan was edited, is for another cluster, or has no steps.
func (p Plan) Check(cluster, namespace string) error {
	sum, err := p.digest()
	switch {
	case err != nil:
		return err
	case sum != p.Digest:
		return errors.New("the digest does not match: the plan was edited, or made by another version")
	case p.Cluster != cluster || p.Namespace != namespace:
		return fmt.Errorf("the plan is for cluster %s in namespace %s, not for %s in %s", p.Cluster, p.Namespace, cluster, namespace)
	case len(p.Steps) == 0 || !p.Kind.createsPods() && p.Kind != CoordinatorsMoved && (p.Kind != CoordinatorsLost || p.Copy == nil):
		return fmt.Errorf("the plan has no steps to apply: kind %s", p.Kind)
	}
	return p.derived()
}

// Moved returns what changed since the plan was made, one sentence each; none if it can be carried
// out. What the plan itself changes is no difference, so that an interrupted run can be repeated.
func (p Plan) Moved(f Facts) []string {
	if p.Kind.createsPods() {
		return p.movedWithoutPods(f)
	}
	all := p.changedLoss(f)
	f = p.asPlanned(f)
	all = append(all, p.Basis.differences(basisOf(f))...)
	for text, places := range f.strings() {
		if text != canonical(p.From) && text != canonical(p.To) {
			all = append(all, fmt.Sprintf("%s: a connection string that is not of the plan: %s", phrase.List(places), text))
		}
	}
	switch {
	case f.Quorum == nil:
		all = append(all, "whether a quorum of coordinators answers is unknown: "+f.Unknown)
	case !f.asks(p.From) && !f.asks(p.To):
		all = append(all, "the pods use coordinators that are not of the plan: "+phrase.List(f.Queried))
	case *f.Quorum && !f.asks(p.To) && len(f.emptyQuorum()) > 0:
		all = append(all, withoutState(f.emptyQuorum()))
	case *f.Quorum && !f.asks(p.To):
		all = append(all, "a quorum of the former coordinators answers: nothing has to be recovered")
	}
	for _, g := range f.Groups {
		if g.Files == nil {
			all = append(all, g.Name()+" could not be read: "+phrase.Or(g.Unread, "it has no running pod"))
		}
	}
	for _, c := range f.Coordinators {
		address, err := fdb.ParseAddress(c.Address)
		if err == nil && isTrue(c.Reachable) && f.at(address.Host) == nil {
			all = append(all, fmt.Sprintf("%s answers, and belongs to no pod of the cluster", c.Address))
		}
	}
	slices.Sort(all)
	return all
}

// IsReached reports whether the database is available with the coordinators of the plan.
func (p Plan) IsReached(f Facts) bool {
	return p.To != "" && f.asks(p.To) && isTrue(f.Quorum) && isTrue(f.Available)
}

func (b Basis) differences(now Basis) (all []string) {
	if b.UID != now.UID {
		all = append(all, "the FoundationDBCluster is another one")
	}
	then := map[string]BasisGroup{}
	for _, g := range b.Groups {
		then[g.ID] = g
	}
	for _, g := range now.Groups {
		old, known := then[g.ID]
		delete(then, g.ID)
		switch {
		case !known:
			all = append(all, g.ID+": a new process group")
		case old.PodUID != g.PodUID:
			all = append(all, g.ID+": another pod")
		case !slices.Equal(old.Now, g.Now):
			all = append(all, fmt.Sprintf("%s: its addresses are %s, not %s", g.ID, phrase.List(g.Now), phrase.List(old.Now)))
		case old.Volume != g.Volume:
			all = append(all, g.ID+": another volume")
		case old.Coordinates != g.Coordinates:
			all = append(all, g.ID+": its coordination files changed")
		}
	}
	for id := range then {
		all = append(all, id+": not in the status anymore")
	}
	return all
}

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
