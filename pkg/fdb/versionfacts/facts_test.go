package versionfacts

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func version(t *testing.T, text string) fdb.Version {
	t.Helper()
	v, err := fdb.ParseExactVersion(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func ids(facts []Applying) []string {
	names := []string{}
	for _, f := range facts {
		names = append(names, f.ID)
	}
	return names
}

// everythingUsed is a database that uses every feature of a condition.
func everythingUsed() Use {
	return Use{
		Status: &fdb.Status{Cluster: fdb.ClusterStatus{
			Configuration: &fdb.Configuration{
				StorageEngine: fdb.EngineShardedRocksDB, PerpetualStorageWiggleEngine: new("memory-radixtree-beta"),
				TenantMode: "required_experimental", EncryptionAtRestMode: "cluster_aware", BlobGranulesEnabled: 1,
			},
			Processes: map[string]fdb.Process{"a": {ClassType: "storage_cache"}},
		}},
		Backups: BackupUse{Read: true, Encrypted: true, OverTLS: true},
	}
}

// nothingUsed is a database that uses none of them.
func nothingUsed() Use {
	return Use{
		Status: &fdb.Status{Cluster: fdb.ClusterStatus{
			Configuration: &fdb.Configuration{StorageEngine: fdb.EngineSSD, TenantMode: "disabled", EncryptionAtRestMode: "disabled"},
			Processes:     map[string]fdb.Process{"a": {ClassType: "storage", Roles: []fdb.Role{{Role: fdb.RoleStorage}}}},
		}},
		Backups: BackupUse{Read: true},
	}
}

// rows are, for each fact, versions that it is about and versions next to them that it is not
// about. A change is "FROM>TO".
var rows = map[string]struct{ about, not []string }{
	"bounce-impact-never-clean":             {[]string{"7.4.7", "7.4.8"}, []string{"7.4.6", "7.3.79", "7.5.0", "8.0.0"}},
	"exclude-failed-corrupts":               {[]string{"7.1.67", "7.3.77", "7.4.6", "7.4.0"}, []string{"7.3.78", "7.3.79", "7.4.7", "8.0.0"}},
	"shard-location-metadata-corrupts":      {[]string{"7.3.0", "7.3.59"}, []string{"7.3.60", "7.4.0", "7.1.67"}},
	"backup-modify-drops-key":               {[]string{"7.3.71", "7.4.5"}, []string{"7.3.72", "7.4.6"}},
	"regions-unknown-error":                 {[]string{"7.3.69", "7.4.3"}, []string{"7.3.70", "7.4.4"}},
	"exclude-lists-failed-apart":            {[]string{"7.3.79", "7.4.6"}, []string{"7.1.67"}},
	"exclude-lists-in-progress":             {[]string{"7.4.0"}, []string{"7.3.79"}},
	"restore-status-differs":                {[]string{"7.4.0", "7.4.6", "8.0.0"}, []string{"7.3.79", "7.1.67"}},
	"configure-checks-storage-types":        {[]string{"7.4.0", "7.4.6", "8.0.0"}, []string{"7.3.79", "7.1.67"}},
	"configure-refuses-backup-worker":       {[]string{"7.4.7", "7.4.8", "8.0.0"}, []string{"7.4.6", "7.3.79"}},
	"gray-failure-in-status":                {[]string{"7.4.0", "7.4.6", "8.0.0"}, []string{"7.3.79", "7.1.67"}},
	"status-without-processes":              {[]string{"7.3.78", "7.3.79", "7.4.7", "8.0.0"}, []string{"7.3.77", "7.4.6"}},
	"status-of-no-database-never-ends":      {[]string{"7.3.0", "7.3.63", "7.3.77", "7.4.0", "7.4.6"}, []string{"7.1.67", "7.3.78", "7.3.79", "7.4.7", "8.0.0"}},
	"data-distribution-admission-control":   {[]string{"7.3.78", "7.3.79"}, []string{"7.3.77", "7.4.6", "7.4.7"}},
	"wiggle-pauses-on-full-disks":           {[]string{"7.3.60", "7.3.79", "7.4.0", "8.0.0"}, []string{"7.1.67", "7.3.59"}},
	"locality-exclusions-incomplete":        {[]string{"7.1.0", "7.1.41", "7.2.9", "7.3.25"}, []string{"7.1.42", "7.1.67", "7.3.26", "7.4.0"}},
	"recovery-age-missing":                  {[]string{"7.1.0", "7.1.21"}, []string{"7.1.22", "7.2.0", "7.3.0"}},
	"experimental-branch":                   {[]string{"7.2.0", "7.2.9"}, []string{"7.1.67", "7.3.0"}},
	"not-a-production-release":              {[]string{"7.4.0", "7.4.6", "8.0.0"}, []string{"7.3.79", "7.1.67"}},
	"rocksdb-9-opened-by-8.11.4":            {[]string{"7.4.5>7.4.7", "7.4.0>7.3.79", "7.4.0>7.3.73"}, []string{"7.4.5>7.4.6", "7.4.6>7.4.7", "7.4.5>7.3.75", "7.4.5>7.4.8", "7.4.0>7.4.5"}},
	"rocksdb-8.11.5-opened-by-8.11.4":       {[]string{"7.3.74>7.3.76", "7.3.75>7.3.79", "7.3.75>7.3.73", "7.4.6>7.4.7"}, []string{"7.3.73>7.3.79", "7.3.74>7.3.75", "7.3.75>7.4.6", "7.4.6>7.4.8", "7.4.5>7.4.7"}},
	"rocksdb-one-way":                       {[]string{"7.3.73>7.3.74", "7.3.79>7.4.6", "7.3.75>7.4.0", "7.4.5>7.4.6", "7.3.79>8.0.0", "7.3.75>8.0.0", "7.4.6>8.0.0", "7.4.7>8.0.0"}, []string{"7.3.73>7.3.79", "7.3.74>7.4.6", "7.3.79>7.4.7", "7.4.0>7.4.5", "7.4.5>8.0.0", "8.0.0>8.0.1"}},
	"shard-location-metadata-downgrade":     {[]string{"7.3.79>7.3.59", "7.3.60>7.3.0"}, []string{"7.3.79>7.3.60", "7.3.43>7.3.59", "7.3.59>7.3.60", "7.3.79>7.4.0"}},
	"patch-protocol-7.3.50":                 {[]string{"7.3.49>7.3.50", "7.3.43>7.3.51", "7.3.50>7.3.49"}, []string{"7.3.48>7.3.49", "7.3.50>7.3.51", "7.1.67>7.3.50"}},
	"patch-protocol-7.3.52":                 {[]string{"7.3.51>7.3.52", "7.3.50>7.3.79", "7.3.79>7.3.51"}, []string{"7.3.49>7.3.79", "7.3.50>7.3.51", "7.3.51>7.4.6"}},
	"patch-assertion-7.3.52":                {[]string{"7.3.49>7.3.52", "7.3.43>7.3.53", "7.3.53>7.3.43"}, []string{"7.3.49>7.3.54", "7.3.50>7.3.53", "7.3.53>7.3.54", "7.1.67>7.3.53"}},
	"encrypted-backups-without-metadata":    {[]string{"7.3.71>7.3.72", "7.3.63>7.4.6", "7.4.5>7.4.6"}, []string{"7.3.72>7.3.79", "7.3.71>7.4.5", "7.4.6>7.4.7"}},
	"encrypted-backups-with-other-metadata": {[]string{"7.3.72>7.3.78", "7.3.77>7.4.7", "7.4.6>7.4.7"}, []string{"7.3.71>7.3.79", "7.3.78>7.3.79", "7.3.77>7.4.6"}},
	"encrypted-backups-with-gcm-tags":       {[]string{"7.3.79>7.4.7", "7.4.6>7.4.7", "7.4.6>8.0.0"}, []string{"7.3.79>7.4.6", "7.4.7>7.4.8"}},
	"blob-store-host-name-checked":          {[]string{"7.3.79>7.4.7", "7.4.6>8.0.0"}, []string{"7.3.79>7.4.6", "7.4.7>8.0.0"}},
	"avx-required":                          {[]string{"7.3.78>7.3.79", "7.3.78>7.3.77", "7.1.66>7.3.79", "7.3.78>7.4.6", "7.4.4>7.4.5", "7.4.4>7.4.7"}, []string{"7.3.77>7.3.78", "7.3.76>7.3.78", "7.3.77>7.3.79", "7.3.79>7.4.6", "7.4.5>7.4.6", "7.3.78>7.4.4"}},
	"skipped-release":                       {[]string{"7.1.67>7.4.6", "7.1.67>8.0.0", "7.3.79>8.0.0"}, []string{"7.1.67>7.3.79", "7.1.67>7.2.9", "7.3.79>7.4.6", "7.4.6>8.0.0"}},
	"memory-radixtree-renamed":              {[]string{"7.3.79>7.4.0", "7.1.67>8.0.0"}, []string{"7.3.73>7.3.79", "7.4.0>7.4.6"}},
	"tenants-removed":                       {[]string{"7.4.6>8.0.0", "7.4.6>8.0.0-rc1"}, []string{"7.3.79>7.4.6", "8.0.0>8.0.1"}},
	"encryption-at-rest-removed":            {[]string{"7.4.6>8.0.0"}, []string{"7.3.79>7.4.6"}},
	"blob-granules-removed":                 {[]string{"7.4.6>8.0.0"}, []string{"7.3.79>7.4.6"}},
	"storage-cache-removed":                 {[]string{"7.4.6>8.0.0"}, []string{"7.3.79>7.4.6"}},
	"change-feeds-removed":                  {[]string{"7.4.6>8.0.0"}, []string{"7.3.79>7.4.6"}},
	"dynamic-knobs-removed":                 {[]string{"7.4.6>8.0.0"}, []string{"7.3.79>7.4.6"}},
	"fdbcli-commands-removed":               {[]string{"7.4.6>8.0.0", "7.3.79>8.0.0"}, []string{"7.3.79>7.4.6", "8.0.0>8.0.1"}},
}

func about(t *testing.T, versions string, u Use) []Applying {
	t.Helper()
	if from, to, is := strings.Cut(versions, ">"); is {
		return OfChange(version(t, from), version(t, to), u)
	}
	return Running(version(t, versions), u)
}

func TestEachVersionFactAppliesOnlyToItsVersions(t *testing.T) {
	for _, f := range All() {
		t.Run(f.ID, func(t *testing.T) {
			row, has := rows[f.ID]
			if !has || len(row.about) == 0 || len(row.not) == 0 {
				t.Fatal("no row, or one without versions on both sides")
			}
			for _, versions := range row.about {
				if got := ids(about(t, versions, everythingUsed())); !slices.Contains(got, f.ID) {
					t.Errorf("%s: only %v", versions, got)
				}
			}
			for _, versions := range row.not {
				if got := ids(about(t, versions, everythingUsed())); slices.Contains(got, f.ID) {
					t.Errorf("%s: %v", versions, got)
				}
			}
			// The condition decides: no without the feature, unknown without an answer.
			wantIdle, wantUnknown := []Truth{}, []Truth{Unknown}
			if f.When == "" {
				wantIdle, wantUnknown = []Truth{Yes}, []Truth{Yes}
			}
			for u, want := range map[*Use][]Truth{new(nothingUsed()): wantIdle, {}: wantUnknown} {
				got := []Truth{}
				for _, a := range about(t, row.about[0], *u) {
					if a.ID == f.ID {
						got = append(got, a.Applies)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	if len(rows) != len(All()) {
		t.Errorf("%d rows for %d facts", len(rows), len(All()))
	}
}

func TestEveryVersionFactConditionIsUsed(t *testing.T) {
	used := map[Condition]bool{}
	for _, f := range All() {
		used[f.When] = true
	}
	for c := range maps.Keys(conditions) {
		if !used[c] {
			t.Errorf("no fact has the condition %s", c)
		}
	}
}

func TestConditions(t *testing.T) {
	tests := map[string]struct {
		condition Condition
		given     func(*Use)
		want      Truth
	}{
		"an engine of the spec alone":                                 {WhenRocksDB, func(u *Use) { u.Desired.StorageEngine = "ssd-rocksdb-v1" }, Yes},
		"the engine of the spec without an answer":                    {WhenRocksDB, func(u *Use) { *u = Use{Desired: fdb.Configuration{StorageEngine: "ssd-rocksdb-v1"}} }, Yes},
		"another engine in the spec proves nothing without an answer": {WhenRocksDB, func(u *Use) { *u = Use{Desired: fdb.Configuration{StorageEngine: "ssd-2"}} }, Unknown},
		"the configured engine":                                       {WhenRocksDB, func(u *Use) { u.Status.Cluster.Configuration.StorageEngine = "ssd-rocksdb-v1" }, Yes},
		"a storage server that was not migrated yet": {WhenRocksDB, func(u *Use) {
			u.Status.Cluster.Processes["b"] = fdb.Process{Roles: []fdb.Role{{Role: fdb.RoleStorage, StorageMetadata: &fdb.StorageMetadata{StorageEngine: "ssd-rocksdb-v1"}}}}
		}, Yes},
		"the engine of the wiggle":                {WhenRocksDB, func(u *Use) { u.Status.Cluster.Configuration.PerpetualStorageWiggleEngine = new("ssd-sharded-rocksdb") }, Yes},
		"a document without a configuration":      {WhenRocksDB, func(u *Use) { u.Status.Cluster.Configuration = nil }, Unknown},
		"a document without processes":            {WhenRocksDB, func(u *Use) { u.Status.Cluster.Processes = nil }, Unknown},
		"a document without roles":                {WhenRocksDB, func(u *Use) { u.Status.Cluster.Processes["a"] = fdb.Process{ClassType: "storage"} }, Unknown},
		"rocksdb is not sharded":                  {WhenShardedRocksDB, func(u *Use) { u.Status.Cluster.Configuration.StorageEngine = "ssd-rocksdb-v1" }, No},
		"the new name of radixtree":               {WhenMemoryRadixTree, func(u *Use) { u.Status.Cluster.Configuration.StorageEngine = "memory-radixtree" }, Yes},
		"memory is no radixtree":                  {WhenMemoryRadixTree, func(u *Use) { u.Status.Cluster.Configuration.StorageEngine = "memory-2" }, No},
		"optional tenants":                        {WhenTenants, func(u *Use) { u.Status.Cluster.Configuration.TenantMode = "optional_experimental" }, Yes},
		"tenants that are not reported":           {WhenTenants, func(u *Use) { u.Status.Cluster.Configuration.TenantMode = "" }, No},
		"tenants without a configuration":         {WhenTenants, func(u *Use) { u.Status.Cluster.Configuration = nil }, Unknown},
		"storage cache in a document without any": {WhenStorageCache, func(u *Use) { u.Status.Cluster.Processes = nil }, Unknown},
		"backups that were not read":              {WhenEncryptedBackup, func(u *Use) { u.Backups.Read = false }, Unknown},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			u := nothingUsed()
			tc.given(&u)
			if got := conditions[tc.condition](u); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestVersionFactsAreValid(t *testing.T) {
	facts, err := parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(facts) < 20 {
		t.Errorf("only %d facts", len(facts))
	}
	for _, f := range facts {
		for _, text := range []string{f.Summary, f.Advice, f.Verified} {
			if strings.HasSuffix(text, ".") || strings.ContainsAny(text, "\n|") {
				t.Errorf("%s: %q is not one clause", f.ID, text)
			}
		}
	}
}

func TestInvalidVersionFactsAreRejected(t *testing.T) {
	valid := `{"id": "a", "running": [{"from": "7.4.7"}], "consequence": "slower", "summary": "s", "advice": "a", "evidence": "read", "verified": "v", "sources": ["https://github.com/apple/foundationdb/pull/1"]}`
	if _, err := parse([]byte("[" + valid + "]")); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string][2]string{
		"duplicate ID":                 {valid, valid + "," + valid},
		"unknown field":                {`"id"`, `"ids": 1, "id"`},
		"no versions":                  {`"running": [{"from": "7.4.7"}], `, ``},
		"running versions and changes": {`"running"`, `"changes": [{"from": [{"from": "7.1.0"}], "to": [{"from": "7.3.0"}]}], "running"`},
		"change to nothing":            {`"running": [{"from": "7.4.7"}]`, `"changes": [{"from": [{"from": "7.1.0"}], "to": []}]`},
		"version that does not parse":  {`"7.4.7"`, `"7.4"`},
		"empty range":                  {`{"from": "7.4.7"}`, `{"from": "7.4.7", "before": "7.4.7"}`},
		"unknown field of a range":     {`{"from": "7.4.7"}`, `{"from": "7.4.7", "through": "7.4.8"}`},
		"unknown patches of a range":   {`{"from": "7.4.7"}`, `{"from": "7.4.7", "patches": "some"}`},
		"unknown consequence":          {`slower`, `bad`},
		"unknown evidence":             {`"read"`, `"guessed"`},
		"unknown condition":            {`"id"`, `"when": "moon", "id"`},
		"no source":                    {`["https://github.com/apple/foundationdb/pull/1"]`, `[]`},
		"source that is no URL":        {`https://github.com/apple/foundationdb/pull/1`, `fdb#1`},
		"no advice":                    {`"advice": "a"`, `"advice": ""`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(valid, edit[0], edit[1], 1)
			if text == valid {
				t.Fatal("nothing was edited")
			}
			if _, err := parse([]byte("[" + text + "]")); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestAboutReturnsAVersionFactIfItApplies(t *testing.T) {
	for id, want := range map[string]map[string]bool{
		BounceImpactNeverClean: {"7.4.7": true, "7.4.6": false},
		"no-such-fact":         {"7.4.7": false},
	} {
		for v, want := range want {
			if f, is := About(id, version(t, v)); is != want || (is && f.ID != id) {
				t.Errorf("%s in %s: %v", id, v, is)
			}
		}
	}
	if _, is := About(BounceImpactNeverClean, fdb.Version{}); is {
		t.Error("an unknown version has a defect")
	}
}

func TestNeedBackupsOnlyIfAVersionFactDependsOnThem(t *testing.T) {
	for versions, want := range map[string]bool{"7.3.79>7.3.80": false, "7.3.79>7.4.6": false, "7.3.71>7.3.72": true, "7.3.79>7.4.7": true} {
		if got := NeedBackups(about(t, versions, Use{})); got != want {
			t.Errorf("%s: %v", versions, got)
		}
		if NeedBackups(about(t, versions, nothingUsed())) {
			t.Errorf("%s: needed although they were read", versions)
		}
	}
}
