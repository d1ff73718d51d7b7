package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ApprovedPlan is a document of kind Plan that came back, for a pass to carry out.
type ApprovedPlan struct {
	Document
	Digest   string         `json:"digest"`
	Command  []string       `json:"command"`
	Seed     string         `json:"seed"`
	Observed PlanObserved   `json:"observed"`
	Items    []ApprovedItem `json:"items"`
	Pass     struct {
		Outcome string `json:"outcome"`
		Stopped string `json:"stopped"`
	} `json:"pass"`

	seed uint64
}

// ApprovedItem is an action that was approved, as far as its document tells.
type ApprovedItem struct {
	Number  int    `json:"number"`
	Step    string `json:"step"`
	Kind    string `json:"kind"`
	Subject string `json:"subject"`
	Summary string `json:"summary"`
	// Details are the action's own fields.
	Details json.RawMessage `json:"details"`
}

// ReadPlan reads a plan. The error says what keeps the text from being one that can be
// carried out.
func ReadPlan(text []byte) (*ApprovedPlan, error) {
	p := &ApprovedPlan{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("it is no JSON document, or not a whole one: %w", err)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	var err error
	p.seed, err = strconv.ParseUint(p.Seed, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("its seed %q is no number", p.Seed)
	}
	return p, nil
}

func (p *ApprovedPlan) check() error {
	switch {
	case p.Kind != "Plan":
		return fmt.Errorf("it is a document of kind %q, not a Plan", p.Kind)
	case p.APIVersion != APIVersion:
		return fmt.Errorf("it is of version %q, and not of %s", p.APIVersion, APIVersion)
	case len(p.Command) == 0 || p.Metadata.Cluster == "" || p.Observed.UID == "":
		return errors.New("it does not say of which command and which cluster it is")
	case p.Digest != digest(p.essences()):
		return errors.New("its digest is not that of its items: somebody has changed it, or part of it is missing")
	case p.Pass.Stopped != "":
		return fmt.Errorf("it could not be made to its end: %s", p.Pass.Stopped)
	case p.Pass.Outcome == "failed":
		return errors.New("it could not be made to its end: a step failed")
	default:
		return nil
	}
}

// SeedNumber makes the random choices of the pass as they were made for the plan.
func (p *ApprovedPlan) SeedNumber() uint64 { return p.seed }

func (p *ApprovedPlan) essences() []essence {
	essences := make([]essence, len(p.Items))
	for i, item := range p.Items {
		essences[i] = essence{item.Step, item.Kind, item.Subject, item.Summary}
	}
	return essences
}

// Cuttable is the action of an item that can be cut off and gone on with; nil for others, and
// where the details are not those of the summary.
func (i ApprovedItem) Cuttable() plan.Action {
	switch i.Kind {
	case plan.KindOf(plan.ExpireBackup{}):
		return detailsOf[plan.ExpireBackup](i)
	case plan.KindOf(plan.ClearBackupData{}):
		return detailsOf[plan.ClearBackupData](i)
	default:
		return nil
	}
}

func detailsOf[T plan.Action](i ApprovedItem) plan.Action {
	var a T
	if json.Unmarshal(i.Details, &a) != nil || a.Describe() != i.Summary || a.Subject() != i.Subject {
		return nil
	}
	return a
}

// Deletion is the action of an item that deletes objects of a process group; ok is false
// for others, and where the details are not those of the summary.
func (i ApprovedItem) Deletion() (d plan.DeleteGroupObjects, ok bool) {
	if i.Kind != plan.KindOf(d) || json.Unmarshal(i.Details, &d) != nil {
		return plan.DeleteGroupObjects{}, false
	}
	return d, d.Describe() == i.Summary && d.Subject() == i.Subject
}
