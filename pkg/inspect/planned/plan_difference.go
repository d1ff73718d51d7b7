package planned

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// What differs between a plan that was approved and the one that would be made now.
const (
	DiffersDone       = "item-not-planned" // approved, and no longer planned
	DiffersNew        = "item-not-approved"
	DiffersResource   = "resource" // it is another one of the same name
	differsOrder      = "order"
	differsShown      = "item-shown" // it shows something else than it does
	differsCommand    = "command"
	differsTool       = "tool"
	differsSpec       = "spec"
	differsConnection = "connection-string"
	differsDatabase   = "database"
)

// PlanDifference is one change of the cluster state since a plan was saved.
type PlanDifference struct {
	// Code is what differs, in kebab-case: item-not-planned, item-not-approved, order, item-shown, command,
	// tool, spec, connection-string, database or resource.
	Code string `json:"code"`
	// Message is the difference in words.
	Message string `json:"message"`
}

// Differences returns all differences between the present plan and the approved one. The rest
// of an approved item is equal to that item.
func (p *ApprovedPlan) Differences(now PlanView) []PlanDifference {
	all := p.facts(now)
	now = p.withApprovedKeys(now)
	items := p.items(now)
	if len(items) == 0 && p.Digest != now.Digest {
		items = []PlanDifference{{differsOrder, "the same actions are planned in another order"}}
	}
	return append(all, items...)
}

// facts returns the facts that have changed since the plan was saved.
func (p *ApprovedPlan) facts(now PlanView) []PlanDifference {
	var all []PlanDifference
	add := func(what, subject, approved, found string) {
		if approved != found {
			all = append(all, PlanDifference{what, fmt.Sprintf("%s: %s when it was approved, now %s", subject, phrase.Or(approved, phrase.Nothing), phrase.Or(found, phrase.Nothing))})
		}
	}
	add(differsCommand, "the command", strings.Join(p.Command, " "), strings.Join(now.Command, " "))
	add(differsTool, "the program", p.Metadata.Tool, now.Metadata.Tool)
	add(differsSpec, "the spec of the cluster", generation(p.Observed), generation(now.Observed))
	if of := p.Observed; of.Generation == now.Observed.Generation && of.SpecDigest != "" && of.SpecDigest != now.Observed.SpecDigest {
		all = append(all, PlanDifference{differsSpec, "the spec of the cluster: it is another one than the plan was made for"})
	}
	if p.Observed.connection() != now.Observed.connection() { // in no log: it grants access to the database
		all = append(all, PlanDifference{differsConnection, "the connection string: it changed after the approval"})
	}
	add(differsDatabase, "the database", availability(p.Observed), availability(now.Observed))
	return all
}

// connection returns what identifies the connection string. Plans of earlier versions have the string itself.
func (o PlanObserved) connection() string {
	if o.ConnectionDigest != "" {
		return o.ConnectionDigest
	}
	return connectionDigest(o.ConnectionString)
}

func generation(o PlanObserved) string { return fmt.Sprintf("generation %d", o.Generation) }

func availability(o PlanObserved) string {
	switch {
	case o.DatabaseAvailable == nil:
		return phrase.Unknown
	case *o.DatabaseAvailable:
		return "available"
	default:
		return "unavailable"
	}
}

// withApprovedKeys returns a plan in which the rest of an approved item has that item's
// fingerprint: an interrupted action has a rest.
func (p *ApprovedPlan) withApprovedKeys(now PlanView) PlanView {
	now.Items = slices.Clone(now.Items)
	for i, planned := range now.Items {
		at := slices.IndexFunc(p.Items, func(approved ApprovedItem) bool {
			whole := approved.Cuttable()
			return whole != nil && approved.Stage == planned.Stage && plan.IsRestOf(planned.Details, whole)
		})
		if at >= 0 {
			now.Items[i].Fingerprint = p.Items[at].Fingerprint
		}
	}
	now.Digest = digest(now.keys())
	return now
}

// items returns the actions that only one of the two has.
func (p *ApprovedPlan) items(now PlanView) []PlanDifference {
	var all []PlanDifference
	missing := now.keys()
	left := slices.Clone(now.Items)
	for i, key := range p.keys() {
		at := slices.Index(missing, key)
		switch {
		case key.records():
		case at < 0:
			item := p.Items[i]
			all = append(all, PlanDifference{DiffersDone, fmt.Sprintf("#%d approved, and no longer planned: %s", item.Number, itemWords(item.Kind, item.Subject, item.Summary))})
		default:
			all = append(all, p.Items[i].shown(left[at])...)
			missing, left = slices.Delete(missing, at, at+1), slices.Delete(left, at, at+1)
		}
	}
	for _, item := range left {
		if !plan.RecordsKind(item.Kind) {
			all = append(all, PlanDifference{DiffersNew, "planned now, and not approved: " + itemWords(item.Kind, item.Subject, item.Summary)})
		}
	}
	return all
}

// shown returns a difference if an approved item shows something else than the action that it approves, which
// has the same fingerprint. The rest of an interrupted action is described otherwise.
func (i ApprovedItem) shown(now PlanItem) []PlanDifference {
	type shown struct {
		subject, summary string
		impact           plan.Impact
	}
	if (shown{i.Subject, i.Summary, i.Impact}) == (shown{redact.Text(now.Subject), redact.Text(now.Summary), now.Impact}) || i.Cuttable() != nil {
		return nil
	}
	return []PlanDifference{{differsShown, fmt.Sprintf("#%d shows %s, and would %s", i.Number, itemWords(i.Kind, i.Subject, i.Summary), itemWords(now.Kind, now.Subject, now.Summary))}}
}

func itemWords(kind, subject, summary string) string {
	return kind + " " + subject + ": " + inspect.OneLine(summary)
}

// OnlyDone reports whether all differences are caused by carrying out part of the plan.
func (p *ApprovedPlan) OnlyDone(differences []PlanDifference) bool {
	return !slices.ContainsFunc(differences, func(d PlanDifference) bool {
		switch d.Code {
		case DiffersDone:
			return false
		case differsConnection:
			return !p.has(plan.KindOf(plan.ChangeCoordinators{})) && !p.has(plan.KindOf(plan.SetConnectionString{}))
		case differsDatabase:
			return !p.has(plan.KindOf(plan.Configure{}))
		default:
			return true
		}
	})
}

func (p *ApprovedPlan) has(kind string) bool {
	return slices.ContainsFunc(p.Items, func(i ApprovedItem) bool { return i.Kind == kind })
}
