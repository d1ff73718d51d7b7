package diagnose_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/versionfacts"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/lists"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// withBackup adds a backup of the cluster to the API server.
func withBackup(keyPath string, parameters ...v1beta2.URLParameter) func(*commandstest.Given) {
	return func(g *commandstest.Given) {
		g.Objects = append(g.Objects, &v1beta2.FoundationDBBackup{
			ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: g.Cluster.Resource.Namespace},
			Spec: v1beta2.FoundationDBBackupSpec{
				ClusterName: g.Cluster.Resource.Name, EncryptionKeyPath: keyPath, BackupState: v1beta2.BackupStateStopped,
				BlobStoreConfiguration: &v1beta2.BlobStoreConfiguration{AccountName: "key@store.example", URLParameters: parameters},
			},
		})
	}
}

// Facts about a change of the version are fields, each with its source; those that lose the
// database or a backup refuse.
func TestCanUpgradeReportsVersionFacts(t *testing.T) {
	tests := map[string]struct {
		given   func(*commandstest.Given)
		to      string
		want    int
		facts   []string // named, of those that begin with the change
		unknown []string
		refuses []string
	}{
		"nothing is known":                 {to: "7.3.80", want: exit.ExitDone},
		"a change that loses the database": {to: "7.3.51", want: exit.ExitNo, facts: []string{"patch-protocol-7.3.52"}, refuses: []string{"patch-protocol-7.3.52"}},
		"a spec that skips checks": {
			given: func(g *commandstest.Given) { g.Cluster.Resource.Spec.IgnoreUpgradabilityChecks = true },
			to:    "7.3.51", want: exit.ExitDone, facts: []string{"patch-protocol-7.3.52"},
		},
		"a downgrade that corrupts moved shards": {
			given: func(g *commandstest.Given) {
				g.Cluster.Resource.Spec.DatabaseConfiguration.StorageEngine = "ssd-sharded-rocksdb"
			},
			to: "7.3.59", want: exit.ExitNo, facts: []string{"shard-location-metadata-downgrade"}, refuses: []string{"shard-location-metadata-downgrade"},
		},
		"no backup":            {to: "7.4.7", want: exit.ExitDone},
		"a backup over TLS":    {given: withBackup(""), to: "7.4.7", want: exit.ExitDone, facts: []string{"blob-store-host-name-checked"}},
		"a backup without TLS": {given: withBackup("", "secure_connection=0"), to: "7.4.7", want: exit.ExitDone},
		"an encrypted backup": {
			given: withBackup("/key", "sc=0"), to: "7.4.7", want: exit.ExitNo,
			facts: []string{"encrypted-backups-with-gcm-tags"}, refuses: []string{"encrypted-backups-with-gcm-tags"},
		},
		"backups that cannot be read": {
			given: func(g *commandstest.Given) { g.BackupsHidden = errors.New("forbidden") }, to: "7.4.7", want: exit.ExitNo,
			facts:   []string{"encrypted-backups-with-gcm-tags", "blob-store-host-name-checked"},
			unknown: []string{"encrypted-backups-with-gcm-tags", "blob-store-host-name-checked"}, refuses: []string{"encrypted-backups-with-gcm-tags"},
		},
		"removed features that the database does not report": {to: "8.0.0", want: exit.ExitDone, facts: []string{"skipped-release", "change-feeds-removed", "dynamic-knobs-removed", "fdbcli-commands-removed"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Healthy(t)
			if tc.given != nil {
				tc.given(g)
			}
			got := g.Run("can", "upgrade", "sample", "--to", tc.to, "-o", "json")
			var v lists.CanReport
			if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil {
				t.Fatalf("%v: %s %s", err, &g.Out, &g.Err)
			}
			var facts, unknown, refuses []string
			for _, f := range v.VersionFacts {
				if f.From == "" { // of the new version alone
					continue
				}
				facts = append(facts, f.ID)
				if f.Applies == versionfacts.Unknown {
					unknown = append(unknown, f.ID)
				}
				if len(f.Sources) == 0 || f.Advice == "" || f.Version != tc.to {
					t.Errorf("%+v", f)
				}
			}
			for _, c := range v.Items {
				if c.ID == plan.CheckVersionFact && !c.OK {
					refuses = append(refuses, c.Subject)
				}
			}
			if got != tc.want || !slices.Equal(refuses, tc.refuses) || !slices.Equal(unknown, tc.unknown) {
				t.Errorf("exit code %d, refused by %v, unknown %v: %s", got, refuses, unknown, v.Summary)
			}
			if diff := cmp.Diff(tc.facts, facts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCanUpgradeReportsOnlyFactsNewInTheTargetVersion(t *testing.T) {
	g := commandstest.Healthy(t)
	g.Run("can", "upgrade", "sample", "--to", "7.4.7")
	for _, want := range []string{"[bounce-impact-never-clean: status-wrong] https://github.com/apple/foundationdb/pull/13343\n", "[exclude-lists-in-progress: output-differs]"} {
		if !strings.Contains(g.Out.String(), want) {
			t.Errorf("no %q in %s", want, &g.Out)
		}
	}
	if strings.Contains(g.Out.String(), "status-without-processes") {
		t.Errorf("a fact of both versions is named: %s", &g.Out)
	}
}

// Two commands that answer the same question agree: the plan of the version, and whether it can be upgraded.
func TestCanUpgradeRefusesWhatThePlanOfTheVersionRefuses(t *testing.T) {
	tagged := func(g *commandstest.Given) {
		g.Cluster.Resource.Spec.MainContainer.ImageConfigs = []v1beta2.ImageConfig{{Tag: "7.3.79"}}
	}
	tests := map[string]struct {
		given func(*commandstest.Given)
		to    string
		yes   bool
	}{
		"a patch release":            {to: "7.3.80", yes: true},
		"a tag of the old version":   {given: tagged, to: "7.3.80"},
		"a minor version":            {to: "7.4.6", yes: true},
		"a downgrade of two numbers": {to: "7.1.57"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := commandstest.Healthy(t)
			g.Proposes = true
			if tc.given != nil {
				tc.given(g)
			}
			can := g.Run("can", "upgrade", "sample", "--to", tc.to)
			answer := g.Out.String()
			g.Run("plan", "sample", "--set", "version="+tc.to, "-o", "json")
			var of struct {
				Holds []struct{ ManualIntervention bool }
			}
			if err := json.Unmarshal(g.Out.Bytes(), &of); err != nil {
				t.Fatal(err)
			}
			blocked := slices.ContainsFunc(of.Holds, func(h struct{ ManualIntervention bool }) bool { return h.ManualIntervention })
			if (can == exit.ExitDone) != tc.yes || blocked == tc.yes {
				t.Errorf("can: exit code %d, the plan is blocked: %t\n%s\n%s%s", can, blocked, answer, &g.Out, &g.Err)
			}
			if tc.yes && !strings.Contains(answer, "kubectl fdb plan sample --set version="+tc.to) {
				t.Errorf("no plan is suggested: %s", answer)
			}
		})
	}
}
