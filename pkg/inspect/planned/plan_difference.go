package planned

import (
	"fmt"
	"slices"
	"strings"
	"time"

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

// ProposedWay is how a change of a resource would be stored.
type ProposedWay string

// The ways of storing a change.
const (
	// ProposedCreate creates the resource.
	ProposedCreate ProposedWay = "create"
	// ProposedApply changes it as kubectl apply does: by a comparison with the manifest that was applied last.
	ProposedApply ProposedWay = "apply"
	// ProposedServerSide is a server-side apply of the field manager that has applied the resource before.
	ProposedServerSide ProposedWay = "server-side-apply"
	// ProposedPatch changes single fields.
	ProposedPatch ProposedWay = "patch"
)

// Proposed is a change of the resource that its plan is made for, and that nothing has stored yet.
type Proposed struct {
	// Source is a file, "stdin", a directory of a kustomization, or the flags that change single fields.
	Source string `json:"source"`
	// Way is how the change would be stored.
	Way ProposedWay `json:"way"`
	// Manager is the field manager of a server-side apply; absent otherwise.
	Manager string `json:"manager,omitempty"`
	// New is true for a resource that does not exist yet.
	New bool `json:"new,omitempty"`
	// AdmissionUnknown is true without a dry run of an API server: its defaults and refusals are not in the plan.
	AdmissionUnknown bool `json:"admissionUnknown,omitempty"`
	// Assumed are the objects of the same manifests that the API server does not have, and that the plan needs: it assumes that
	// they are stored before. Absent for none.
	Assumed []AssumedObject `json:"assumed,omitempty"`
	// Fields are the fields of the spec that would change; none for a new resource.
	Fields []ProposedField `json:"fields"`
	// Owners are other field managers that have set fields which would change, and may set them back; absent for none.
	Owners []ProposedOwner `json:"owners,omitempty"`
}

// AssumedObject is an object that is not stored yet.
type AssumedObject struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// AssumedWords returns the objects by kind and name, for users.
func AssumedWords(all []AssumedObject) []string {
	words := make([]string, len(all))
	for i, o := range all {
		words[i] = o.Kind + " " + o.Name
	}
	return words
}

// ProposedOwner is a field manager with the fields of a change that it has set.
type ProposedOwner struct {
	Manager string   `json:"manager"`
	Fields  []string `json:"fields"`
}

// ProposedField is a field of a spec that would change.
type ProposedField struct {
	Path string `json:"path"`
	// From is null for a field that is not set now, and To for one that would be removed; what is no text is JSON.
	From *string `json:"from"`
	To   *string `json:"to"`
}

// PlanListView is what passes over a cluster, its backups and its restores would do, in their
// order.
type PlanListView struct {
	inspect.Document
	Plans []PlanView `json:"plans"`
	// Pruned are the resources that the manifests do not have any more; absent without --prune.
	Pruned []Pruned `json:"pruned,omitempty"`
	// Common are the actions that the passes of several sites plan alike, and of which one is carried out: the first. Absent
	// without any.
	Common []CommonAction `json:"common,omitempty"`
	// Unread are the sites that cannot be read, about which nothing was decided; absent where there are no sites, or all
	// were read.
	Unread []inspect.UnreadSite `json:"unread,omitempty"`
	// Digest is equal for two lists with the same plans at the same sites, in any order; absent where there are no sites.
	Digest string `json:"digest,omitempty"`
}

// CommonAction is one action that the passes of several sites plan alike.
type CommonAction struct {
	Stage plan.StageName `json:"stage"`
	inspect.ActionRecord
	// Fingerprint is that of each of the items.
	Fingerprint string `json:"fingerprint"`
	// Sites are those whose passes plan it.
	Sites []string `json:"sites"`
}

// OverSites returns the plans of the sites of one database, with what they have in common and the sites that cannot be read.
func (v PlanListView) OverSites(unread []inspect.UnreadSite) PlanListView {
	v.Unread = unread
	for _, u := range unread {
		v.Warnings = append(v.Warnings, u.Warning())
	}
	of := make([]siteDigest, len(v.Plans))
	for i, p := range v.Plans {
		of[i] = siteDigest{p.Metadata.Site, p.Observed.UID, p.Digest}
	}
	v.Digest = digestOfSites(of)
	at := map[string]int{}
	for _, p := range v.Plans {
		for _, item := range p.Items {
			if !item.ofDatabase() {
				continue
			}
			i, known := at[item.Fingerprint]
			if !known {
				i, at[item.Fingerprint] = len(v.Common), len(v.Common)
				record := item.ActionRecord
				record.Details = nil // they are in the items
				v.Common = append(v.Common, CommonAction{Stage: item.Stage, ActionRecord: record, Fingerprint: item.Fingerprint})
			}
			v.Common[i].Sites = append(v.Common[i].Sites, p.Metadata.Site)
		}
	}
	v.Common = slices.DeleteFunc(v.Common, func(c CommonAction) bool { return len(c.Sites) < 2 })
	if len(v.Common) == 0 {
		v.Common = nil
	}
	return v
}

// ofDatabase reports whether the action changes the database that all sites share, which only happens under its lock. Objects
// of two Kubernetes clusters may have equal names and are two.
func (i PlanItem) ofDatabase() bool { return i.Locked && i.Fingerprint != "" }

// NextPasses returns the totals of the next pass of each site; a common action counts once. What all passes do is no sum of
// the forecasts: each is that of a site alone.
func (v PlanListView) NextPasses() (t ForecastTotals) {
	counted := map[string]bool{}
	for _, p := range v.Plans {
		for _, item := range p.Items {
			if item.Bookkeeping || item.ofDatabase() && counted[item.Fingerprint] {
				continue
			}
			counted[item.Fingerprint] = true
			t.addItem(item)
		}
	}
	return t
}

// Own returns the plan of a site without the actions that are common with a site before it.
func (v PlanListView) Own(i int) PlanView {
	p := v.Plans[i]
	p.Items = slices.DeleteFunc(slices.Clone(p.Items), func(item PlanItem) bool {
		return slices.ContainsFunc(v.Common, func(c CommonAction) bool {
			return c.Fingerprint == item.Fingerprint && slices.Index(c.Sites, p.Metadata.Site) > 0
		})
	})
	return p
}

// NewPlanList makes the list of plans that were made one after the other. It is as old as the
// oldest of them.
func NewPlanList(m inspect.Metadata, plans []PlanView) PlanListView {
	v := PlanListView{Document: inspect.NewDocument("PlanList", m, time.Time{}, inspect.SourceLive), Plans: inspect.OrEmpty(plans)}
	for _, p := range plans {
		if v.AsOf == nil || p.AsOf != nil && p.AsOf.Before(*v.AsOf) {
			v.AsOf = p.AsOf
		}
	}
	return v
}
