package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// volumes are the rules about disks.
func volumes() []Rule {
	return []Rule{
		{
			Code: "VOL-001", Severity: Error, Title: "Every process group with data has its volume claim",
			Why:  "Its pod cannot start, or starts without its data.",
			find: missingClaims,
		},
		{
			Code: "VOL-002", Severity: Error, Title: "Every volume claim is bound",
			Why:  "The storage class makes no volume, or the volume is gone; events of the claim say why.",
			find: unboundClaims,
		},
		spaceRule("VOL-003", Error, 0, fullDisk, "No disk is full",
			"FoundationDB slows writes down and then stops taking them. Add storage, or larger volumes."),
		spaceRule("VOL-004", Warning, fullDisk, nearlyFullDisk, "No disk is nearly full",
			"There is little room for data that moves. Add storage before it is urgent."),
	}
}

// The part of a disk that has to be free. Source: our own judgement.
const (
	fullDisk       = 0.1
	nearlyFullDisk = 0.2
)

func claim(name string) string { return "persistentvolumeclaim/" + name }

func missingClaims(f Facts) ([]Finding, string) {
	finding := Finding{Message: "its volume claim is not there", Fix: f.fix("plan")}
	for _, g := range f.Staying() {
		if g.ProcessClass.IsStateful() && f.Volumes[g.PVCName(f.Cluster)] == nil {
			finding.Subjects = append(finding.Subjects, group(g.ProcessGroupID))
		}
	}
	return finding.some(), ""
}

func unboundClaims(f Facts) ([]Finding, string) {
	var found []Finding
	for _, g := range f.Staying() {
		c := f.Volumes[g.PVCName(f.Cluster)]
		if c == nil || c.Status.Phase == "" || c.Status.Phase == corev1.ClaimBound {
			continue
		}
		found = append(found, Finding{
			Subjects: []string{claim(c.Name)}, Message: "the claim is " + string(c.Status.Phase), Since: c.CreationTimestamp.Time,
			Fix: []string{"describe", "pvc", c.Name},
		})
	}
	return found, ""
}

// spaceRule is about disks of which at least one part and less than another is free.
func spaceRule(code string, severity Severity, from, below float64, title, why string) Rule {
	return Rule{Code: code, Severity: severity, Title: title, Why: why, needs: listing, find: func(f Facts) ([]Finding, string) {
		finding := Finding{Message: fmt.Sprintf("less than %.0f%% of the disk is free", 100*below), Fix: f.listGroups("-o", "wide")}
		untold := 0
		for _, p := range f.Database.Status.ProcessList() {
			free, known := freePart(p)
			switch {
			case !holdsData(p):
			case !known:
				untold++
			case free >= from && free < below:
				finding.Subjects = append(finding.Subjects, process(p))
			}
		}
		if untold > 0 {
			return finding.some(), phrase.Count(untold, "process") + " with data did not tell the size of the disk"
		}
		return finding.some(), ""
	}}
}

func holdsData(p fdb.Process) bool { return p.HasRole(fdb.RoleStorage) || p.HasRole(fdb.RoleLog) }

// freePart is the free part of the fullest disk of a process, by what its storage and log
// roles say. A role that does not tell leaves it unknown.
func freePart(p fdb.Process) (part float64, known bool) {
	part = 1
	for _, r := range p.Roles {
		if r.Role != fdb.RoleStorage && r.Role != fdb.RoleLog {
			continue
		}
		if r.KVStoreAvailableBytes == nil || r.KVStoreTotalBytes == nil || *r.KVStoreTotalBytes <= 0 {
			return 0, false
		}
		part, known = min(part, float64(*r.KVStoreAvailableBytes)/float64(*r.KVStoreTotalBytes)), true
	}
	return part, known
}
