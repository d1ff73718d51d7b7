package planned

import (
	"slices"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

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
