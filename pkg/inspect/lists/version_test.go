package lists

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
)

func TestAnEarlierPluginOnThePATHIsReported(t *testing.T) {
	const self, other = "/usr/local/bin/kubectl-fdb", "/home/ada/.krew/store/fdb/v0.1.0/kubectl-fdb"
	warning := []string{"kubectl runs another plugin: " + other + " comes first on the PATH, this program is " + self}
	tests := map[string]struct {
		found []string
		want  []string
	}{
		"no plugin is on the PATH":         {},
		"only this program is on the PATH": {found: []string{self}},
		"this program comes first":         {found: []string{self, other}},
		"this program comes first, twice":  {found: []string{self, self}},
		"another one comes first":          {found: []string{other, self}, want: warning},
		"only another one is on the PATH":  {found: []string{other}, want: warning},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, FirstOnPath(self, tc.found)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func Versions(t *testing.T, f inspect.Facts) VersionView {
	t.Helper()
	v := NewVersionView(meta, ClientVersion{Version: "v0.1.0", Go: "go1.26", Platform: "linux/amd64"})
	v.Server, v.Served, v.Operators = "v1.36.3", []string{"apps.foundationdb.org/v1beta2"}, []OperatorVersion{}
	v.Clusters = []ClusterVersion{NewClusterVersion(f.Cluster).Observed(f)}
	return v
}

func TestVersionSkewIsReported(t *testing.T) {
	tests := map[string]struct {
		given func(*VersionView)
		want  []string
	}{
		"all fits": {given: func(*VersionView) {}},
		"resources of another version": {
			given: func(v *VersionView) { v.Served = []string{"apps.foundationdb.org/v1"} },
			want:  []string{"the API server does not serve apps.foundationdb.org/v1beta2, which this program reads and writes"},
		},
		"an upgrade that has not begun": {
			given: func(v *VersionView) { v.Clusters[0].Spec = "7.3.80" },
			want:  []string{"fdb/sample: its processes run 7.3.79, its spec has 7.3.80"},
		},
		"an upgrade under way": {
			given: func(v *VersionView) { v.Clusters[0].Processes = []VersionCount{{"7.3.79", 7}, {"7.3.80", 5}} },
			want:  []string{"fdb/sample: its processes run several versions: 7.3.79(7),7.3.80(5)"},
		},
		"tools of another protocol": {
			given: func(v *VersionView) { v.Clusters[0].Tools = []VersionCount{{"7.3.80", 1}, {"7.4.6", 2}, {"", 1}} },
			want:  []string{"fdb/sample: fdbcli 7.4.6, in 2 pods, is not protocol compatible with its processes"},
		},
		"a database that does not answer": {
			given: func(v *VersionView) { v.Clusters[0].Processes = nil },
			want:  []string{"fdb/sample: cannot determine the version of its processes: no answer from the database"},
		},
		"a FoundationDB of the future": {
			given: func(v *VersionView) {
				v.Clusters[0].Spec = "9.9.1"
				v.Clusters[0].Processes = []VersionCount{{"9.9.1", 12}}
				v.Clusters[0].Tools = []VersionCount{{"9.9.1", 12}}
			},
			want: []string{"fdb/sample: this program does not support FoundationDB 9.9"},
		},
		"an operator": {
			given: func(v *VersionView) { v.Operators = []OperatorVersion{{"fdb", "operator", "v2.33.0", 1}} },
			want:  []string{"operator fdb/operator is ready: it and this program undo each other's work if both act on one cluster"},
		},
		"an operator that was scaled down": {
			given: func(v *VersionView) { v.Operators = []OperatorVersion{{"fdb", "operator", "v2.33.0", 0}} },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := Versions(t, healthy(t))
			tc.given(&v)
			if diff := cmp.Diff(tc.want, v.Skew()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFactsOfRunningVersions(t *testing.T) {
	f := healthy(t)
	for id, p := range f.Database.Status.Cluster.Processes {
		p.Version = "7.4.6"
		f.Database.Status.Cluster.Processes[id] = p
		break
	}
	found := map[string]string{}
	for _, fact := range NewClusterVersion(f.Cluster).Observed(f).Facts {
		found[fact.ID] += fact.Version
	}
	want := map[string]string{
		"status-without-processes": "7.3.79", "data-distribution-admission-control": "7.3.79",
		"exclude-failed-corrupts": "7.4.6", "exclude-lists-failed-apart": "7.3.797.4.6", "exclude-lists-in-progress": "7.4.6",
		"status-of-no-database-never-ends": "7.4.6",
		"restore-status-differs":           "7.4.6", "configure-checks-storage-types": "7.4.6", "gray-failure-in-status": "7.4.6",
		"not-a-production-release": "7.4.6", "wiggle-pauses-on-full-disks": "7.3.797.4.6",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	f.Database.Status = nil
	if v := NewClusterVersion(f.Cluster).Observed(f); v.Facts != nil {
		t.Errorf("facts without an answer: %+v", v.Facts)
	}
}
