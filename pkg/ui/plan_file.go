package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	Number  int            `json:"number"`
	Stage   plan.StageName `json:"stage"`
	Kind    string         `json:"kind"`
	Subject string         `json:"subject"`
	Summary string         `json:"summary"`
	// Fingerprint identifies what the action does.
	Fingerprint string `json:"fingerprint"`
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
	case p.APIVersion == firstAPIVersion:
		return fmt.Errorf("it was saved by an earlier version of this program (%s): save a new plan with --dry-run -o json and approve that", p.APIVersion)
	case p.APIVersion != APIVersion:
		return fmt.Errorf("unsupported version %q: must be %s", p.APIVersion, APIVersion)
	case len(p.Command) == 0 || p.Metadata.Cluster == "" || p.Observed.UID == "":
		return errors.New("it does not say of which command and which cluster it is")
	case slices.ContainsFunc(p.Items, func(i ApprovedItem) bool { return i.Fingerprint == "" && !plan.RecordsKind(i.Kind) }):
		return errors.New("its items have no fingerprints: it was saved by an earlier version of this program")
	case p.Digest != digest(p.keys()):
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

// Cuttable is the action of an item that can be interrupted and continued; nil for others, and
// where the details are not those of the fingerprint.
func (i ApprovedItem) Cuttable() plan.Action {
	switch i.Kind {
	case plan.KindOf(plan.ExpireBackup{}):
		return asAction[plan.ExpireBackup](i)
	case plan.KindOf(plan.ClearBackupData{}):
		return asAction[plan.ClearBackupData](i)
	default:
		return nil
	}
}

// asAction is the action that an item's details describe; nil where their fingerprint is
// another one. It serves for kinds whose details have all of their fields.
func asAction[T plan.Action](i ApprovedItem) plan.Action {
	var a T
	if i.Kind != plan.KindOf(a) || json.Unmarshal(i.Details, &a) != nil || plan.Fingerprint(a) != i.Fingerprint {
		return nil
	}
	return a
}

// Deletion is the action of an item that deletes objects of a process group; ok is false
// for others, and where the details are not those of the fingerprint.
func (i ApprovedItem) Deletion() (d plan.DeleteGroupObjects, ok bool) {
	d, ok = asAction[plan.DeleteGroupObjects](i).(plan.DeleteGroupObjects)
	return d, ok
}

// Created is the pod or PVC that an item creates; ok is false for others.
func (i ApprovedItem) Created() (kind plan.ObjectKind, name string, ok bool) {
	switch i.Kind {
	case plan.KindOf(plan.CreatePod{}):
		kind = plan.KindPod
	case plan.KindOf(plan.CreatePVC{}):
		kind = plan.KindPVC
	default:
		return "", "", false
	}
	var object struct {
		Name string `json:"name"`
	}
	err := json.Unmarshal(i.Details, &object)
	return kind, object.Name, err == nil && object.Name != ""
}
