package readings

import (
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// Concerns reports whether an exclusion covers a group, or covered it when it last reported.
func Concerns(s plan.Snapshot, target string, g *v1beta2.ProcessGroupStatus) bool {
	return target == g.ExclusionString() || slices.Contains(g.Addresses, HostIn(target)) ||
		target == LocalityPrefix+fdb.LocalityZoneID+":"+string(g.FaultDomain) ||
		slices.ContainsFunc(s.Database.Status.ProcessesOf(string(g.ProcessGroupID)), func(p fdb.Process) bool { return Matches(target, p) })
}

// LocalityPrefix is the prefix of exclusions by locality.
const LocalityPrefix = "locality_"

// Matches reports whether an exclusion covers a process.
func Matches(target string, p fdb.Process) bool {
	if locality, is := strings.CutPrefix(target, LocalityPrefix); is {
		key, value, _ := strings.Cut(locality, ":")
		return value != "" && p.Locality[key] == value
	}
	return target == p.Address.Host || target == p.Address.HostPort()
}

// HostIn returns the address of an exclusion without its port; empty for a locality.
func HostIn(target string) string {
	if strings.HasPrefix(target, LocalityPrefix) {
		return ""
	}
	if a, err := fdb.ParseAddress(target); err == nil {
		return a.Host
	}
	return target
}
