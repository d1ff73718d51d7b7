package operations

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// SyncConnectionString returns a stage that writes the connection string in force to the status
// and the ConfigMap, and changes nothing else of them. It was read from the database in a
// transaction, and counts only while the status document reports the same: an unconfirmed
// connection string is never written, and a quorum of its coordinators confirms both.
func SyncConnectionString(inForce fdb.ConnectionString) plan.Stage {
	return plan.Stage{
		Name:  plan.StageSyncConnectionString,
		Reads: plan.ClusterResource | plan.Pods | plan.ConfigMap | plan.Database,
		Decide: func(s plan.Snapshot) plan.Decision {
			d := plan.Decision{Checks: []plan.Check{safety.Available(s.Database), safety.OwnDatabase(s), stillInForce(s, inForce)}}
			if refused, ok := d.Refused(); ok {
				d.Hold = &plan.Hold{Code: plan.HoldConnectionStringUnproven, Reason: "no connection string is proven to be in force", Detail: refused.Evidence, RetryAfter: plan.PodDelay}
				return d
			}
			var replaced []string
			if recorded := s.Cluster.Status.ConnectionString; !sameDatabase(recorded, inForce) {
				replaced = append(replaced, "the status has "+stringOrNone(recorded))
				d.Actions = append(d.Actions, plan.SetConnectionString{ConnectionString: inForce.String()})
			}
			if a, old := correctedConfigMap(s, inForce); a != nil {
				replaced = append(replaced, fmt.Sprintf("ConfigMap %s has %s", a.Name, stringOrNone(old)))
				d.Actions = append(d.Actions, *a)
			}
			d.Why = strings.Join(replaced, "; ")
			return d
		},
	}
}

// stillInForce checks whether the status document has the connection string that was read in a
// transaction before.
func stillInForce(s plan.Snapshot, inForce fdb.ConnectionString) plan.Check {
	c := plan.Check{ID: plan.CheckSameCoordinators, Question: "do the database's key and its status document have the same coordinators?", Gate: plan.GateCoord}
	switch status := s.Database.Status; {
	case status == nil:
		c.Evidence = s.Database.Why()
	case !status.Client.Coordinators.QuorumReachable:
		c.Evidence = "no quorum of coordinators is reachable"
	default:
		c.OK = sameDatabase(status.Cluster.ConnectionString, inForce)
		c.Evidence = fmt.Sprintf("status document: %s; key: %s", stringOrNone(status.Cluster.ConnectionString), inForce)
	}
	return c
}

// sameDatabase reports whether a text is a connection string, in any order of coordinators.
func sameDatabase(text string, inForce fdb.ConnectionString) bool {
	found, err := fdb.ParseClusterFile(text)
	return err == nil && found.Description == inForce.Description && found.ID == inForce.ID && found.SameCoordinators(inForce.Coordinators)
}

// correctedConfigMap returns the ConfigMap with the connection string in force and all else
// unchanged, and the former string; nil if there is no ConfigMap, which a pass creates, or if it
// has that string already.
func correctedConfigMap(s plan.Snapshot, inForce fdb.ConnectionString) (a *plan.ApplyConfigMap, old string) {
	if s.ConfigMap == nil || sameDatabase(s.ConfigMap.Data[objects.KeyClusterFile], inForce) {
		return nil, ""
	}
	corrected := s.ConfigMap.DeepCopy()
	if corrected.Data == nil {
		corrected.Data = map[string]string{}
	}
	corrected.Data[objects.KeyClusterFile] = inForce.String()
	return &plan.ApplyConfigMap{Name: corrected.Name, Keys: []string{objects.KeyClusterFile}, Object: corrected}, s.ConfigMap.Data[objects.KeyClusterFile]
}

func stringOrNone(connectionString string) string {
	if connectionString == "" {
		return "none"
	}
	return strings.TrimSpace(connectionString)
}
