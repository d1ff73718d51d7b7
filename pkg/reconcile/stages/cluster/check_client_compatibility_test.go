package cluster

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

// changingTo sets another version than the running 7.3.79, and has clients that know no newer
// version than the given one.
func changingTo(to, clients string, samples ...fdb.ConnectedClient) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Cluster.Spec.Version = to
		s.Database.Status.Cluster.Clients = &fdb.ClientsStatus{SupportedVersions: []fdb.SupportedVersion{
			{ClientVersion: clients, ProtocolVersion: "fdb00b073000000", MaxProtocol: new(len(samples)), MaxProtocolClients: samples},
		}}
	}
}

// withNewSidecar gives one pod the sidecar that the spec's version needs.
func withNewSidecar(s *plan.Snapshot) {
	g := s.Groups()[0]
	image, err := objects.SidecarImage(s.Cluster, g.ProcessClass)
	if err != nil {
		panic(err) // a normalized sample
	}
	containers := s.Pod(g).Spec.Containers
	for i := range containers {
		if containers[i].Name == v1beta2.ContainerSidecar {
			containers[i].Image = image
		}
	}
}

func TestCheckClientCompatibility(t *testing.T) {
	app := fdb.ConnectedClient{Address: "192.0.2.7:33656", LogGroup: "app"}
	unavailable := func(s *plan.Snapshot) { s.Database.Status.Client.DatabaseStatus.Available = false }
	unresponsive := func(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }
	clients := func(edit func(*fdb.SupportedVersion)) func(*plan.Snapshot) {
		return func(s *plan.Snapshot) { edit(&s.Database.Status.Cluster.Clients.SupportedVersions[0]) }
	}
	never := func(s *plan.Snapshot) {
		s.Cluster.Status.Configured = false
		s.Database.Status.Client.DatabaseStatus.Available = false
		s.Database.Status.Cluster.RecoveryState.Name = fdb.RecoveryNeverCreated
	}
	stagestest.Decides(t, CheckClientCompatibility, map[string]stagestest.Decision{
		"asks nothing without an upgrade":                {Given: changingTo("7.3.79", "7.3.79", app)},
		"lets a patch upgrade go on":                     {Given: changingTo("7.3.90", "7.3.79", app)},
		"lets a patch downgrade go on":                   {Given: changingTo("7.3.63", "7.3.79", app)},
		"lets an upgrade go on that no client minds":     {Given: changingTo("7.4.6", "7.4.6", app)},
		"accepts clients that are newer than the target": {Given: changingTo("7.4.6", "8.0.0", app)},
		"refuses a downgrade to another protocol": {
			Given: changingTo("7.1.67", "7.3.79", app), Holds: "cannot be downgraded from 7.3.79 to 7.1.67", Manual: true, Then: plan.EndPass,
		},
		"names a client that is too old": {
			Given: changingTo("7.4.6", "7.3.79", app), Holds: "192.0.2.7:33656 (version 7.3.79, log group app)", Manual: true, Then: plan.EndPass,
		},
		"asks nothing when the spec insists": {
			Given: stagestest.Combined(changingTo("7.1.67", "7.3.79", app), func(s *plan.Snapshot) { s.Cluster.Spec.IgnoreUpgradabilityChecks = true }),
		},
		"ignores the log group of the operator": {
			Given: changingTo("7.4.6", "7.3.79", fdb.ConnectedClient{Address: "192.0.2.7:1", LogGroup: "fdb-kubernetes-operator"}),
		},
		"ignores the log groups that the spec names": {
			Given: stagestest.Combined(changingTo("7.4.6", "7.3.79", app), func(s *plan.Snapshot) {
				s.Cluster.Spec.AutomationOptions.IgnoreLogGroupsForUpgrade = []v1beta2.LogGroup{"app"}
			}),
		},
		"ignores clients that run beside a server": {
			Given: changingTo("7.4.6", "7.3.79", fdb.ConnectedClient{Address: "10.1.0.3:33656", LogGroup: "default"}),
		},
		"ignores clients in a pod whose server announces another address": {
			Given: stagestest.Combined(changingTo("7.4.6", "7.3.79", fdb.ConnectedClient{Address: "10.1.0.3:33656", LogGroup: "default"}), func(s *plan.Snapshot) {
				stagestest.EditProcess(s, s.Groups()[2], func(p *fdb.Process) { p.Address.Host = "10.96.0.3" })
			}),
		},
		"takes a client whose address cannot be read for a stranger": {
			Given: changingTo("7.4.6", "7.3.79", fdb.ConnectedClient{Address: "?", LogGroup: "default"}), Holds: "? (version 7.3.79", Manual: true, Then: plan.EndPass,
		},
		"ignores clients that have not reported their protocol": {
			Given: stagestest.Combined(changingTo("7.4.6", "Unknown", app), clients(func(v *fdb.SupportedVersion) { v.ProtocolVersion = "Unknown" })),
		},
		"counts a version that cannot be read as too old": {
			Given: changingTo("7.4.6", "seven", app), Holds: "(version seven", Manual: true, Then: plan.EndPass,
		},
		"counts clients that the document does not name as too old": {
			Given: stagestest.Combined(changingTo("7.4.6", "7.3.79"), clients(func(v *fdb.SupportedVersion) { v.MaxProtocol = new(3) })),
			Holds: "3 more of version 7.3.79", Manual: true, Then: plan.EndPass,
		},
		"ends the pass while the database cannot be asked": {
			Given: stagestest.Combined(changingTo("7.4.6", "7.4.6"), unresponsive), Holds: "timed out", Then: plan.EndPass,
		},
		"ends the pass while the database is unavailable": {
			Given: stagestest.Combined(changingTo("7.4.6", "7.4.6"), unavailable), Holds: "set spec.version to 7.3.79 or set spec.ignoreUpgradabilityChecks", Then: plan.EndPass,
		},
		"ends the pass while clients may still be finding the database again": {
			Given: stagestest.Combined(changingTo("7.4.6", "7.4.6"), func(s *plan.Snapshot) { s.Database.Status.Cluster.RecoveryState.SecondsSinceLastRecovered = new(29.0) }),
			Holds: "29s ago", Then: plan.EndPass,
		},
		"ends the pass when the document has no clients": {
			Given: stagestest.Combined(changingTo("7.4.6", "7.4.6"), func(s *plan.Snapshot) { s.Database.Status.Cluster.Clients = nil }),
			Holds: "it does not", Then: plan.EndPass,
		},
		"continues without an answer of the database once the upgrade has begun": {Given: stagestest.Combined(changingTo("7.4.6", "7.4.6"), unresponsive, withNewSidecar)},
		"judges clients of an upgrade that has begun again": {
			Given: stagestest.Combined(changingTo("7.4.6", "7.3.79", app), withNewSidecar), Holds: "192.0.2.7", Manual: true, Then: plan.EndPass,
		},
		"takes no image that is the same in all versions for a beginning": {
			Given: stagestest.Combined(changingTo("7.4.6", "7.4.6"), unresponsive, func(s *plan.Snapshot) {
				s.Cluster.Spec.MainContainer.ImageConfigs = []v1beta2.ImageConfig{{BaseImage: "own", Tag: "1"}}
				withNewSidecar(s)
			}), Holds: "timed out", Then: plan.EndPass,
		},
		"asks nothing before the first database exists": {Given: stagestest.Combined(changingTo("7.1.67", "7.3.79", app), never)},
		"does not take a lost record's word that there is no database": {
			Given: stagestest.Combined(changingTo("7.1.67", "7.3.79", app), unresponsive, func(s *plan.Snapshot) { s.Cluster.Status.Configured = false }),
			Holds: "cannot be downgraded from 7.3.79", Manual: true, Then: plan.EndPass,
		},
	})
}

func TestIncompatibleClientsAreCheckedAgainAfterAMinute(t *testing.T) {
	s := stagestest.HealthyCluster(t)
	changingTo("7.4.6", "7.3.79", fdb.ConnectedClient{Address: "192.0.2.7:1"})(&s)
	d := CheckClientCompatibility.Decide(s)
	if d.Hold == nil || d.Hold.RetryAfter != clientRetry || !strings.Contains(d.Hold.Text(), "log group none") {
		t.Errorf("holds with %+v", d.Hold)
	}
}
