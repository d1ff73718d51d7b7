package planned

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// ApprovedPlan is a saved document of kind Plan, for a pass to carry out.
type ApprovedPlan struct {
	inspect.Document
	Digest   string         `json:"digest"`
	Command  []string       `json:"command"`
	Seed     string         `json:"seed"`
	Observed PlanObserved   `json:"observed"`
	Proposed *Proposed      `json:"proposed"`
	Items    []ApprovedItem `json:"items"`
	// Forecast is what later passes may do; nil for a plan without one.
	Forecast *Forecast `json:"forecast"`
	Pass     struct {
		Outcome string `json:"outcome"`
		Stopped string `json:"stopped"`
	} `json:"pass"`

	seed uint64
}

// ApprovedItem is an action that was approved, with the fields of the document.
type ApprovedItem struct {
	Number  int            `json:"number"`
	Stage   plan.StageName `json:"stage"`
	Kind    string         `json:"kind"`
	Subject string         `json:"subject"`
	Summary string         `json:"summary"`
	Impact  plan.Impact    `json:"impact"`
	// Fingerprint identifies what the action does.
	Fingerprint string `json:"fingerprint"`
	// Details are the action's own fields.
	Details json.RawMessage `json:"details"`
}

// ReadPlan reads a saved plan. The error is why it cannot be carried out.
func ReadPlan(text []byte) (*ApprovedPlan, error) {
	p := &ApprovedPlan{}
	if err := inspect.ReadSaved(text, "Plan", p); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	var err error
	p.seed, err = strconv.ParseUint(p.Seed, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("invalid seed %q: must be a number", p.Seed)
	}
	return p, nil
}

// ReadPlans reads a saved list of plans. The error is why one of them cannot be carried out.
func ReadPlans(text []byte) ([]*ApprovedPlan, error) {
	var list struct {
		Kind  string            `json:"kind"`
		Plans []json.RawMessage `json:"plans"`
	}
	switch err := json.Unmarshal(text, &list); {
	case err != nil:
		return nil, fmt.Errorf("not a complete JSON document: %w", err)
	case list.Kind != "PlanList":
		return nil, fmt.Errorf("unsupported kind %q: must be PlanList", list.Kind)
	}
	all := make([]*ApprovedPlan, len(list.Plans))
	for i, one := range list.Plans {
		p, err := ReadPlan(one)
		if err != nil {
			return nil, fmt.Errorf("plan %d: %w", i+1, err)
		}
		all[i] = p
	}
	return all, nil
}

// ReadSitePlans reads a saved list of the plans of the sites of one database. The error is why they cannot be carried out.
func ReadSitePlans(text []byte) ([]*ApprovedPlan, error) {
	all, err := ReadPlans(text)
	if err != nil {
		return nil, err
	}
	var list struct {
		Digest string               `json:"digest"`
		Unread []inspect.UnreadSite `json:"unread"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("not a complete JSON document: %w", err)
	}
	of := make([]siteDigest, len(all))
	for i, p := range all {
		of[i] = siteDigest{p.Metadata.Site, p.Observed.UID, p.Digest}
	}
	switch {
	case len(list.Unread) > 0:
		return nil, fmt.Errorf("it is incomplete: site %s could not be read", list.Unread[0].Site)
	case list.Digest != digestOfSites(of):
		return nil, errors.New("its digest does not match its plans: it was modified, or is not of several sites")
	}
	return all, nil
}

// siteDigest is the digest of the plan of the resource at a site.
type siteDigest struct{ Site, UID, Digest string }

// digestOfSites returns one digest of the plans of all sites, whatever their order.
func digestOfSites(of []siteDigest) string {
	of = slices.Clone(of)
	slices.SortFunc(of, func(a, b siteDigest) int { return strings.Compare(a.Site, b.Site) })
	return digestOf(of)
}

func (p *ApprovedPlan) check() error {
	switch {
	case len(p.Command) == 0 || p.Metadata.Cluster == "" || p.Observed.UID == "" && !p.IsOfNew():
		return errors.New("its command or its cluster is missing")
	case slices.ContainsFunc(p.Items, func(i ApprovedItem) bool { return i.Fingerprint == "" && !plan.RecordsKind(i.Kind) }):
		return errors.New("its items have no fingerprints: it was saved by an earlier version of this program")
	case p.Digest != digest(p.keys()):
		return errors.New("its digest does not match its items: it was modified, or is incomplete")
	case p.Forecast != nil && len(p.Forecast.Phases) > 0 && p.Forecast.Digest != p.Forecast.digest():
		return errors.New("the digest of its forecast does not match: it was modified, or is incomplete")
	case p.Pass.Stopped != "":
		return fmt.Errorf("it is incomplete: %s", p.Pass.Stopped)
	case p.Pass.Outcome == "failed":
		return errors.New("it is incomplete: a stage failed")
	default:
		return nil
	}
}

// IsOfNew reports whether the resource did not exist when the plan was made: it has no UID then.
func (p *ApprovedPlan) IsOfNew() bool { return p.Proposed != nil && p.Proposed.New }

// SeedNumber repeats the random choices of the plan in the pass.
func (p *ApprovedPlan) SeedNumber() uint64 { return p.seed }

// Cuttable returns the action of an item that can be interrupted and continued; nil for others,
// and where the details do not match the fingerprint.
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

// asAction returns the action of an item's details; nil where they do not match the
// fingerprint. It serves for kinds whose details have all of their fields.
func asAction[T plan.Action](i ApprovedItem) plan.Action {
	var a T
	if i.Kind != plan.KindOf(a) || json.Unmarshal(i.Details, &a) != nil || plan.Fingerprint(a) != i.Fingerprint {
		return nil
	}
	return a
}

// Deletion returns the action of an item that deletes objects of a process group; ok is false
// for others, and where the details do not match the fingerprint.
func (i ApprovedItem) Deletion() (d plan.DeleteGroupObjects, ok bool) {
	d, ok = asAction[plan.DeleteGroupObjects](i).(plan.DeleteGroupObjects)
	return d, ok
}

// Created returns the pod or PVC that an item creates; ok is false for others.
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

// planItemKey identifies an item of a plan: the same stage does the same thing.
type planItemKey struct {
	Stage             plan.StageName
	Kind, Fingerprint string
}

// records reports whether the action only records what a pass observed. It differs with
// every observation, and requires no approval.
func (k planItemKey) records() bool { return plan.RecordsKind(k.Kind) }

// fingerprint returns the action's fingerprint; empty for one that only records.
func fingerprint(a plan.Action) string {
	if plan.Records(a) {
		return ""
	}
	return plan.Fingerprint(a)
}

func (v PlanView) keys() []planItemKey {
	keys := make([]planItemKey, len(v.Items))
	for i, item := range v.Items {
		keys[i] = planItemKey{item.Stage, item.Kind, item.Fingerprint}
	}
	return keys
}

func (p *ApprovedPlan) keys() []planItemKey {
	keys := make([]planItemKey, len(p.Items))
	for i, item := range p.Items {
		keys[i] = planItemKey{item.Stage, item.Kind, item.Fingerprint}
	}
	return keys
}

// digest returns the digest of the items in their order, without those that only record.
func digest(all []planItemKey) string {
	keys := slices.DeleteFunc(slices.Clone(all), planItemKey.records)
	return digestOf(inspect.OrEmpty(keys))
}

// digestOf returns the digest of what a plan permits.
func digestOf(permissions any) string {
	text, err := json.Marshal(permissions)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
