package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// volumes returns the rules about PVCs and disks.
func volumes() []Rule {
	return []Rule{
		{
			Code: "VOL-001", Severity: Error, Title: "Every stateful process group has its PVC",
			Why:  "Its pod cannot start, or starts without its data.",
			Find: missingClaims,
		},
		{
			Code: "VOL-002", Severity: Error, Title: "Every PVC is bound",
			Why:  "The storage class provisions no volume, or the volume no longer exists; the events of the PVC have the reason.",
			Find: unboundClaims,
		},
		spaceRule("VOL-003", Error, 0, fullDisk, "No disk is full",
			"FoundationDB slows down writes and then rejects them. Add storage, or larger volumes."),
		spaceRule("VOL-004", Warning, fullDisk, nearlyFullDisk, "No disk is nearly full",
			"There is little room for data movement. Add storage before it is urgent."),
	}
}

// The share of a disk that has to be free. Source: a default of kubectl fdb.
const (
	fullDisk       = 0.1
	nearlyFullDisk = 0.2
)

func missingClaims(f Facts) ([]Finding, string) {
	finding := Finding{Message: "its PVC is missing", Fix: f.fix("plan")}
	for _, g := range f.Remaining() {
		if g.ProcessClass.IsStateful() && f.Volumes[g.PVCName(f.Cluster)] == nil {
			finding.Subjects = append(finding.Subjects, findings.ProcessGroup(g.ProcessGroupID))
		}
	}
	return finding.IfAny(), ""
}

func unboundClaims(f Facts) ([]Finding, string) {
	var found []Finding
	for _, g := range f.Remaining() {
		c := f.Volumes[g.PVCName(f.Cluster)]
		if c == nil || c.Status.Phase == "" || c.Status.Phase == corev1.ClaimBound {
			continue
		}
		found = append(found, Finding{
			Subjects: []string{findings.Claim(c.Name)}, Message: "the PVC is " + string(c.Status.Phase), Since: c.CreationTimestamp.Time,
			Fix: []string{"describe", "pvc", c.Name},
		})
	}
	return found, ""
}

// spaceRule returns a rule about disks whose free share is at least from and less than below.
func spaceRule(code string, severity Severity, from, below float64, title, why string) Rule {
	return Rule{Code: code, Severity: severity, Title: title, Why: why, Needs: findings.NeedsProcessList, Find: func(f Facts) ([]Finding, string) {
		finding := Finding{Message: fmt.Sprintf("less than %.0f%% of the disk is free", 100*below), Fix: f.listGroups("-o", "wide")}
		unknown := 0
		for _, p := range f.Database.Status.ProcessList() {
			free, known := freePart(p)
			switch {
			case !holdsData(p):
			case !known:
				unknown++
			case free >= from && free < below:
				finding.Subjects = append(finding.Subjects, process(p))
			}
		}
		if unknown > 0 {
			return finding.IfAny(), "the disk size is unknown for " + phrase.Count(unknown, "process") + " with data"
		}
		return finding.IfAny(), ""
	}}
}

func holdsData(p fdb.Process) bool { return p.HasRole(fdb.RoleStorage) || p.HasRole(fdb.RoleLog) }

// freePart returns the free share of the fullest disk of a process, as its storage and log
// roles report it. It is unknown if one of them does not.
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
