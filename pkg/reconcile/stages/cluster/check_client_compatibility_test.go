package cluster

import (
	"strings"
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
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

// changing sets the running version, with its images, and the desired one; all clients have the
// newest version.
func changing(from, to string) func(*plan.Snapshot) {
	return stagestest.Combined(changingTo(to, "9.9.9"), func(s *plan.Snapshot) {
		s.Cluster.Status.RunningVersion = from
		for _, pod := range s.Pods {
			for i := range pod.Spec.Containers {
				pod.Spec.Containers[i].Image = strings.Replace(pod.Spec.Containers[i].Image, ":7.3.79", ":"+from, 1)
			}
		}
	})
}

// withEngine sets the storage engine that the database reports.
func withEngine(engine string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration.StorageEngine = engine }
}

// withFeatures edits the configuration that the database reports.
func withFeatures(edit func(*fdb.Configuration)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { edit(s.Database.Status.Cluster.Configuration) }
}

func withoutAnswer(s *plan.Snapshot) { s.Database = plan.DatabaseFacts{Unreachable: "timed out"} }

// withOneNewPod gives one pod the image of a version.
func withOneNewPod(version string) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		containers := s.Pod(s.Groups()[0]).Spec.Containers
		for i := range containers {
			if containers[i].Name == v1beta2.ContainerMain {
				containers[i].Image = "registry.example:5000/fdb-kubernetes-monitor:" + version
			}
		}
	}
}

func TestVersionChangesThatLoseTheDatabaseAreRefused(t *testing.T) {
	rocksdb := withEngine("ssd-rocksdb-v1")
	stagestest.Decides(t, CheckClientCompatibility, map[string]stagestest.Decision{
		"refuses a patch release with other messages of log servers": {
			Given: changing("7.3.43", "7.3.51"), Holds: "patch-protocol-7.3.50, https://github.com/apple/foundationdb/pull/11697): use 7.3.54 or newer", Manual: true, Then: plan.EndPass,
		},
		"refuses to leave it without an outage":            {Given: changing("7.3.51", "7.3.79"), Holds: "patch-protocol-7.3.52", Manual: true, Then: plan.EndPass},
		"refuses a patch release with an assertion":        {Given: changing("7.3.43", "7.3.53"), Holds: "patch-assertion-7.3.52", Manual: true, Then: plan.EndPass},
		"refuses a patch downgrade to it":                  {Given: changing("7.3.79", "7.3.50"), Holds: "patch-protocol-7.3.52", Manual: true, Then: plan.EndPass},
		"lets the patch release with the fixes go on":      {Given: changing("7.3.43", "7.3.54")},
		"refuses an older RocksDB":                         {Given: stagestest.Combined(changing("7.3.75", "7.3.79"), rocksdb), Holds: "rocksdb-8.11.5-opened-by-8.11.4", Manual: true, Then: plan.EndPass},
		"refuses an older RocksDB in 7.4":                  {Given: stagestest.Combined(changing("7.4.5", "7.4.7"), rocksdb), Holds: "rocksdb-9-opened-by-8.11.4", Manual: true, Then: plan.EndPass},
		"refuses a downgrade that corrupts moved shards":   {Given: stagestest.Combined(changing("7.3.79", "7.3.59"), withEngine("ssd-sharded-rocksdb")), Holds: "shard-location-metadata-downgrade", Manual: true, Then: plan.EndPass},
		"lets that downgrade go on with other engines":     {Given: stagestest.Combined(changing("7.3.79", "7.3.59"), rocksdb)},
		"lets other engines go on":                         {Given: changing("7.3.75", "7.3.79")},
		"lets a newer RocksDB go on":                       {Given: stagestest.Combined(changing("7.3.79", "7.4.6"), rocksdb)},
		"refuses tenants in 8.0":                           {Given: stagestest.Combined(changing("7.4.6", "8.0.0"), withFeatures(func(c *fdb.Configuration) { c.TenantMode = "required_experimental" })), Holds: "tenants-removed", Manual: true, Then: plan.EndPass},
		"refuses encryption at rest in 8.0":                {Given: stagestest.Combined(changing("7.4.6", "8.0.0"), withFeatures(func(c *fdb.Configuration) { c.EncryptionAtRestMode = "cluster_aware" })), Holds: "encryption-at-rest-removed", Manual: true, Then: plan.EndPass},
		"refuses blob granules in 8.0":                     {Given: stagestest.Combined(changing("7.4.6", "8.0.0"), withFeatures(func(c *fdb.Configuration) { c.BlobGranulesEnabled = 1 })), Holds: "blob-granules-removed", Manual: true, Then: plan.EndPass},
		"lets a database without them go on to 8.0":        {Given: changing("7.4.6", "8.0.0")},
		"refuses when the spec has the engine, unanswered": {Given: stagestest.Combined(changing("7.3.75", "7.3.79"), withoutAnswer, func(s *plan.Snapshot) { s.Cluster.Spec.DatabaseConfiguration.StorageEngine = "ssd-rocksdb-v1" }), Holds: "8.11.4", Manual: true, Then: plan.EndPass},
		"waits for an answer before it begins":             {Given: stagestest.Combined(changing("7.3.75", "7.3.79"), withoutAnswer), Holds: "does not report whether it uses rocksdb", Then: plan.EndPass},
		"waits for the configuration before it begins":     {Given: stagestest.Combined(changing("7.3.75", "7.3.79"), func(s *plan.Snapshot) { s.Database.Status.Cluster.Configuration = nil }), Holds: "does not report whether it uses rocksdb", Then: plan.EndPass},
		"continues unanswered once it has begun":           {Given: stagestest.Combined(changing("7.3.75", "7.3.79"), withoutAnswer, withOneNewPod("7.3.79"))},
		"takes no pod of another version for a beginning":  {Given: stagestest.Combined(changing("7.3.75", "7.3.79"), withoutAnswer, withOneNewPod("7.3.80")), Holds: "does not report", Then: plan.EndPass},
		"stops one that has begun as well":                 {Given: stagestest.Combined(changing("7.3.75", "7.3.79"), rocksdb, withOneNewPod("7.3.79")), Holds: "rocksdb-8.11.5", Manual: true, Then: plan.EndPass},
		"asks nothing when the spec insists":               {Given: stagestest.Combined(changing("7.3.43", "7.3.51"), func(s *plan.Snapshot) { s.Cluster.Spec.IgnoreUpgradabilityChecks = true })},
	})
}

// Each fact that loses a database refuses the change it is about, by its ID.
func TestEachVersionFactThatLosesADatabaseRefusesItsChange(t *testing.T) {
	seen := 0
	for _, f := range versionfacts.All() {
		if !f.Consequence.LosesDatabase() || len(f.Changes) == 0 {
			continue
		}
		seen++
		t.Run(f.ID, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			changing(f.Changes[0].From[0].From.String(), f.Changes[0].To[len(f.Changes[0].To)-1].From.String())(&s)
			s.Cluster.Spec.IgnoreUpgradabilityChecks = false
			usesEverything(&s)
			checks := UpgradeChecks(s, s.Cluster.Spec.Version)
			refused := false
			for _, c := range checks {
				refused = refused || (!c.OK && c.ID == plan.CheckVersionFact && c.Subject == f.ID && strings.Contains(c.Evidence, f.Sources[0]))
			}
			if !refused {
				t.Errorf("%+v", checks)
			}
		})
	}
	if seen < 8 {
		t.Errorf("only %d facts", seen)
	}
}

func usesEverything(s *plan.Snapshot) {
	c := s.Database.Status.Cluster.Configuration
	c.StorageEngine, c.TenantMode, c.EncryptionAtRestMode, c.BlobGranulesEnabled = "ssd-sharded-rocksdb", "required_experimental", "cluster_aware", 1
	s.Database.Status.Cluster.Processes["cache"] = fdb.Process{ClassType: "storage_cache"}
}
