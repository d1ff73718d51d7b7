package orphans

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
)

var created = stagestest.Noon.Add(-24 * time.Hour)

// beside is a healthy cluster, and an object with its labels and those of a process group that it lacks.
func beside(t *testing.T, kind Kind) Facts {
	t.Helper()
	s := stagestest.HealthyCluster(t)
	return Facts{
		Name: s.Cluster.Name, Now: s.Now, Stored: s.Cluster, Seen: s, Users: map[string][]string{}, Unread: map[Subject]string{}, Chosen: []string{"stray"},
		Objects: []Object{{Kind: kind, Name: "stray", UID: "9", ResourceVersion: "7", Created: created, Group: "storage-4711", Addresses: []string{"10.9.9.9"}}},
	}
}

// alone is an object of a cluster whose resource does not exist.
func alone(_ *testing.T, kind Kind) Facts {
	return Facts{
		Name: "gone", Now: stagestest.Noon, Users: map[string][]string{}, Unread: map[Subject]string{}, Chosen: []string{"stray"},
		Objects: []Object{{Kind: kind, Name: "stray", UID: "9", ResourceVersion: "7", Created: created}},
	}
}

// takeProcess gives a process of the database another ID, or address.
func takeProcess(f *Facts, id, host string) {
	for key, p := range f.Seen.Database.Status.Cluster.Processes {
		if id != "" {
			p.Locality = map[string]string{"instance_id": id}
		}
		if host != "" {
			p.Address.Host = host
		}
		f.Seen.Database.Status.Cluster.Processes[key] = p
		return
	}
}

// adopt makes the object one of a process group that only the status of the next pass has.
func adopt(f *Facts, name func(*v1beta2.ProcessGroupStatus) string) {
	f.Seen = plan.AddGroups{Groups: []plan.NewGroup{{ID: "storage-4711", Class: "storage"}}, At: f.Now}.Apply(f.Seen)
	for n := range f.Objects {
		f.Objects[n].Name = name(f.Seen.Cluster.ProcessGroup("storage-4711"))
	}
}

func TestGCRemovesOnlyObjectsProvenToHaveNoOwner(t *testing.T) {
	tests := map[string]struct {
		given func(*testing.T, Kind) Facts
		kind  Kind
		edit  func(*Facts)
		// want is the verdict, code why it is none to remove; both empty for an object with an owner.
		want Verdict
		code Code
	}{
		"a pod of no process group":                {given: beside, kind: Pod, want: Remove},
		"a pod of a process group":                 {given: beside, kind: Pod, edit: func(f *Facts) { f.Objects[0].Name = f.Stored.Status.ProcessGroups[0].PodName(f.Stored) }},
		"a pod of a Deployment":                    {given: beside, kind: Pod, edit: func(f *Facts) { f.Objects[0].Controller = &Controller{Kind: "ReplicaSet"} }},
		"a pod of a former resource":               {given: beside, kind: Pod, edit: func(f *Facts) { f.Objects[0].Controller = &Controller{Kind: "FoundationDBCluster", UID: "0"} }, want: Remove},
		"a pod that is being deleted":              {given: beside, kind: Pod, edit: func(f *Facts) { f.Objects[0].Terminating = true }, want: Keep, code: CodeTerminating},
		"a pod that the next pass adopts":          {given: beside, kind: Pod, edit: func(f *Facts) { adopt(f, func(g *v1beta2.ProcessGroupStatus) string { return g.PodName(f.Stored) }) }, want: Keep, code: CodeAdopted},
		"a pod beside an empty status":             {given: beside, kind: Pod, edit: func(f *Facts) { f.Stored = f.Stored.DeepCopy(); f.Stored.Status.ProcessGroups = nil }, want: Unknown, code: CodeUnknownOwner},
		"a pod whose process reports":              {given: beside, kind: Pod, edit: func(f *Facts) { takeProcess(f, "storage-4711", "") }, want: Keep, code: CodeInUse},
		"a pod at whose address a process reports": {given: beside, kind: Pod, edit: func(f *Facts) { takeProcess(f, "", "10.9.9.9") }, want: Keep, code: CodeInUse},
		"a pod while the database does not answer": {given: beside, kind: Pod, edit: func(f *Facts) { f.Seen.Database = plan.DatabaseFacts{Unreachable: "timeout"} }, want: Unknown, code: CodeNotRead},
		"a service of no process group":            {given: beside, kind: Service, want: Remove},
		"the headless service":                     {given: beside, kind: Service, edit: func(f *Facts) { f.Objects[0].Name = f.Stored.HeadlessServiceName() }},
		"a service that a process uses":            {given: beside, kind: Service, edit: func(f *Facts) { takeProcess(f, "", "10.9.9.9") }, want: Keep, code: CodeInUse},
		"the ConfigMap of the cluster":             {given: beside, kind: ConfigMap, edit: func(f *Facts) { f.Objects[0].Name = f.Stored.ConfigMapName() }},
		"another ConfigMap with the labels":        {given: beside, kind: ConfigMap, want: Unknown, code: CodeUnknownOwner},
		"a ConfigMap of a former resource":         {given: beside, kind: ConfigMap, edit: func(f *Facts) { f.Objects[0].Controller = &Controller{Kind: "FoundationDBCluster", UID: "0"} }, want: Remove},
		"the Lease of an existing cluster":         {given: beside, kind: Lease},
		"a PVC that was named":                     {given: beside, kind: PVC, want: Remove},
		"a PVC that was not named":                 {given: beside, kind: PVC, edit: func(f *Facts) { f.Chosen = nil }, want: Keep, code: CodeNotNamed},
		"a PVC that the next pass adopts":          {given: beside, kind: PVC, edit: func(f *Facts) { adopt(f, func(g *v1beta2.ProcessGroupStatus) string { return g.PVCName(f.Stored) }) }, want: Keep, code: CodeAdopted},
		"a PVC that a pod mounts":                  {given: beside, kind: PVC, edit: func(f *Facts) { f.Users["stray"] = []string{"debug"} }, want: Keep, code: CodeInUse},
		"a PVC while its pods are unknown":         {given: beside, kind: PVC, edit: func(f *Facts) { f.Unread[SubjectUsers] = "forbidden" }, want: Unknown, code: CodeNotRead},
		"a PVC while some data lacks a copy": {given: beside, kind: PVC, edit: func(f *Facts) {
			f.Seen.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = new(1)
		}, want: Unknown, code: CodeMayHoldData},
		"a PVC while the database does not answer":      {given: beside, kind: PVC, edit: func(f *Facts) { f.Seen.Database = plan.DatabaseFacts{Unreachable: "timeout"} }, want: Unknown, code: CodeMayHoldData},
		"a PVC of a database that was never configured": {given: beside, kind: PVC, edit: func(f *Facts) { f.Stored = f.Stored.DeepCopy(); f.Stored.Status.Configured = false }, want: Unknown, code: CodeMayHoldData},
		"a PVC beside another database":                 {given: beside, kind: PVC, edit: func(f *Facts) { f.Seen.Pods = nil }, want: Unknown, code: CodeMayHoldData},

		"a pod without a resource that runs":                     {given: alone, kind: Pod, want: Unknown, code: CodeInUse},
		"a pod without a resource that has ended":                {given: alone, kind: Pod, edit: func(f *Facts) { f.Objects[0].Ended = true }, want: Remove},
		"a PVC without a resource, although named":               {given: alone, kind: PVC, want: Unknown, code: CodeMayHoldData},
		"a service without a resource":                           {given: alone, kind: Service, want: Remove},
		"a ConfigMap without a resource":                         {given: alone, kind: ConfigMap, want: Remove},
		"a ConfigMap beside a PVC":                               {given: alone, kind: ConfigMap, edit: func(f *Facts) { f.Objects = append(f.Objects, Object{Kind: PVC, Name: "data"}) }, want: Keep, code: CodeInUse},
		"a ConfigMap beside a released volume":                   {given: alone, kind: ConfigMap, edit: func(f *Facts) { f.Volumes = []string{"volume/pv-1"} }, want: Keep, code: CodeInUse},
		"a ConfigMap while volumes are unknown":                  {given: alone, kind: ConfigMap, edit: func(f *Facts) { f.Unread[SubjectVolumes] = "forbidden" }, want: Unknown, code: CodeNotRead},
		"a ConfigMap while PVCs are unknown":                     {given: alone, kind: ConfigMap, edit: func(f *Facts) { f.Unread[Subject(PVC)] = "forbidden" }, want: Unknown, code: CodeNotRead},
		"a Lease that no run holds":                              {given: alone, kind: Lease, want: Remove},
		"a Lease of a run that may go on":                        {given: alone, kind: Lease, edit: func(f *Facts) { f.Objects[0].Holder, f.Objects[0].Until = "run", f.Now.Add(-9*time.Minute) }, want: Keep, code: CodeHeld},
		"a Lease whose end is unknown":                           {given: alone, kind: Lease, edit: func(f *Facts) { f.Objects[0].Holder = "run" }, want: Keep, code: CodeHeld},
		"a Lease that expired more than ten minutes ago":         {given: alone, kind: Lease, edit: func(f *Facts) { f.Objects[0].Holder, f.Objects[0].Until = "run", f.Now.Add(-10*time.Minute) }, want: Remove},
		"an object of another controller, without its cluster":   {given: alone, kind: ConfigMap, edit: func(f *Facts) { f.Objects[0].Controller = &Controller{Kind: "Job"} }},
		"an object of the cluster that is already being deleted": {given: alone, kind: ConfigMap, edit: func(f *Facts) { f.Objects[0].Terminating = true }, want: Keep, code: CodeTerminating},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := tc.given(t, tc.kind)
			if tc.edit != nil {
				tc.edit(&f)
			}
			var got Item
			for _, i := range NewView(inspect.Metadata{}, f).Items {
				if i.Kind == tc.kind && i.UID == "9" {
					got = i
				}
			}
			if got.Verdict != tc.want || got.Code != tc.code || (got.Reason == "") != (tc.code == "") {
				t.Errorf("%+v", got)
			}
			if got.Verdict != "" && (len(got.Proof) == 0 || got.Since == nil || !got.Since.Equal(created) || got.ResourceVersion != "7") {
				t.Errorf("without proof: %+v", got)
			}
		})
	}
}

func TestAnOrphanedExclusionIsRemovedOnlyIfNothingMatchesIt(t *testing.T) {
	tests := map[string]struct {
		target string
		edit   func(*Facts)
		want   Verdict
		code   Code
	}{
		"an address that nothing has":                             {target: "10.9.9.9", want: Remove},
		"an address with a port":                                  {target: "10.9.9.9:4501", want: Remove},
		"an ID that nothing has":                                  {target: "locality_instance_id:storage-4711", want: Remove},
		"a zone that nothing has":                                 {target: "locality_zoneid:rack-9", want: Remove},
		"an ID of a process group":                                {target: "locality_instance_id:storage-114"},
		"an ID of a process that reports":                         {target: "locality_instance_id:storage-4711", edit: func(f *Facts) { takeProcess(f, "storage-4711", "") }},
		"an address of a process that reports":                    {target: "10.9.9.9", edit: func(f *Facts) { takeProcess(f, "", "10.9.9.9") }},
		"an ID of a group that the next pass adopts":              {target: "locality_instance_id:storage-4711", edit: func(f *Facts) { adopt(f, func(*v1beta2.ProcessGroupStatus) string { return "x" }) }},
		"an ID of another control-plane instance":                 {target: "locality_instance_id:east-storage-1", edit: func(f *Facts) { f.Stored.Spec.ProcessGroupIDPrefix = "west" }, want: Keep, code: CodeOtherOwner},
		"an own ID beside other control-plane instances":          {target: "locality_instance_id:west-storage-1", edit: func(f *Facts) { f.Stored.Spec.ProcessGroupIDPrefix = "west" }, want: Remove},
		"an address beside other control-plane instances":         {target: "10.9.9.9", edit: func(f *Facts) { f.Stored.Spec.ProcessGroupIDPrefix = "west" }, want: Unknown, code: CodeOtherOwner},
		"an ID with a prefix beside IDs without one":              {target: "locality_instance_id:east-storage-1", want: Keep, code: CodeOtherOwner},
		"an ID with a longer prefix than the own one":             {target: "locality_instance_id:west-2-storage-1", edit: func(f *Facts) { f.Stored.Spec.ProcessGroupIDPrefix = "west" }, want: Keep, code: CodeOtherOwner},
		"an ID without a prefix in a database of several regions": {target: "locality_instance_id:storage-4711", edit: func(f *Facts) { f.Stored.Spec.DatabaseConfiguration.UsableRegions = 2 }, want: Unknown, code: CodeOtherOwner},
		"an ID of no known form":                                  {target: "locality_instance_id:x", want: Unknown, code: CodeOtherOwner},
		"an address in a database of several regions":             {target: "10.9.9.9", edit: func(f *Facts) { f.Stored.Spec.DatabaseConfiguration.UsableRegions = 2 }, want: Unknown, code: CodeOtherOwner},
		"an address while the database is unavailable":            {target: "10.9.9.9", edit: func(f *Facts) { f.Seen.Database.Status.Client.DatabaseStatus.Available = false }, want: Unknown, code: CodeNotRead},
		"an address in another database":                          {target: "10.9.9.9", edit: func(f *Facts) { f.Seen.Pods = nil }, want: Unknown, code: CodeNotRead},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := beside(t, Pod)
			f.Objects = nil
			f.Stored = f.Stored.DeepCopy()
			exclude(&f, tc.target)
			if tc.edit != nil {
				tc.edit(&f)
			}
			items := NewView(inspect.Metadata{}, f).Items
			if tc.want == "" {
				if len(items) > 0 {
					t.Errorf("%+v", items)
				}
				return
			}
			if len(items) != 1 || items[0].Verdict != tc.want || items[0].Code != tc.code || items[0].Name != tc.target || len(items[0].Proof) == 0 {
				t.Errorf("%+v", items)
			}
		})
	}
}

func TestGCWarnsOfObjectKindsThatCannotBeRead(t *testing.T) {
	f := alone(t, ConfigMap)
	f.Unread[Subject(Pod)] = "forbidden"
	v := NewView(inspect.Metadata{}, f)
	if len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0], "Pod could not be read: forbidden") || len(v.Removable()) > 0 || v.Exists {
		t.Errorf("%+v", v)
	}
	if got := v.Unnamed([]string{"stray"}); len(got) != 1 { // it is a ConfigMap
		t.Errorf("%v", got)
	}
}

// exclude adds an exclusion to the configuration that the database reports.
func exclude(f *Facts, target string) {
	e := fdb.ExcludedServer{Address: target}
	if strings.HasPrefix(target, "locality_") {
		e = fdb.ExcludedServer{Locality: target}
	}
	f.Seen.Database.Status.Cluster.Configuration.ExcludedServers = []fdb.ExcludedServer{e}
}
