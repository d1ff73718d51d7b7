package planned

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
