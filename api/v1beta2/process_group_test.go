package v1beta2

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func group(id ProcessGroupID, class ProcessClass) *ProcessGroupStatus {
	return &ProcessGroupStatus{ProcessGroupID: id, ProcessClass: class}
}

func TestProcessGroupIDsAreParsedToPrefixClassAndNumber(t *testing.T) {
	tests := map[ProcessGroupID]struct {
		prefix string
		class  ProcessClass
		number int
		err    bool
	}{
		"storage-1":                       {"", "storage", 1, false},
		"cluster_controller-12":           {"", "cluster_controller", 12, false},
		"east-1-log-99999":                {"east-1", "log", 99999, false},
		"storage":                         {err: true},
		"storage-":                        {err: true},
		"storage-x":                       {err: true},
		"a.b-storage-1":                   {err: true},
		"storage-1\n":                     {err: true},
		"*":                               {err: true},
		"storage-99999999999999999999999": {err: true},
	}
	for id, want := range tests {
		t.Run(string(id), func(t *testing.T) {
			prefix, class, number, err := id.Split()
			if prefix != want.prefix || class != want.class || number != want.number || (err != nil) != want.err {
				t.Errorf("got %q %q %d %v, want %+v", prefix, class, number, err, want)
			}
		})
	}
}

func TestProcessGroupIDsAreBuiltFromPrefixClassAndNumber(t *testing.T) {
	c := cluster()
	if got := c.ProcessGroupIDFor(ProcessClassGrvProxy, 7); got != "grv_proxy-7" {
		t.Errorf("got %s", got)
	}
	c.Spec.ProcessGroupIDPrefix = "east"
	id := c.ProcessGroupIDFor(ProcessClassStorage, 7)
	if id != "east-storage-7" || id.ExclusionString() != "locality_instance_id:east-storage-7" {
		t.Errorf("got %s, %s", id, id.ExclusionString())
	}
	if id.ProcessID(2) != "east-storage-7-2" {
		t.Errorf("got process ID %s", id.ProcessID(2))
	}
	if !id.HasPrefix("east", ProcessClassStorage) || id.HasPrefix("", ProcessClassStorage) || id.HasPrefix("west", ProcessClassStorage) {
		t.Error("the prefix of the ID is east")
	}
}

func TestPodNamesOfProcessGroups(t *testing.T) {
	tests := map[string]struct {
		group *ProcessGroupStatus
		pod   string
	}{
		"underscores become dashes":                   {group("cluster_controller-12", ProcessClassClusterController), "sample-cluster-controller-12"},
		"the prefix is no part of it":                 {group("east-storage-3", ProcessClassStorage), "sample-storage-3"},
		"a prefix that contains the class leaks in":   {group("storage-west-storage-3", ProcessClassStorage), "sample-storage-west-storage-3"},
		"a prefix that ends in the class leaks too":   {group("catalog-log-3", ProcessClassLog), "sample-log-log-3"},
		"an ID without its class is taken as a whole": {group("other-3", ProcessClassLog), "sample-other-3"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster()
			if got := tt.group.PodName(c); got != tt.pod {
				t.Errorf("got %s, want %s", got, tt.pod)
			}
			got := []string{tt.group.PVCName(c), tt.group.ServiceName(c), tt.group.DNSName(c)}
			want := []string{tt.pod + "-data", tt.pod, tt.pod + ".sample.default.svc.cluster.local"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
	c := cluster(func(c *FoundationDBCluster) { c.Name = "my-db.v2" })
	if c.ConfigMapName() != "my-db.v2-config" || c.DatabaseName() != "my_db_v2" {
		t.Errorf("got %s and %s", c.ConfigMapName(), c.DatabaseName())
	}
}

func TestARepeatedRemovalMarkKeepsTheFirstTimestamp(t *testing.T) {
	g := group("storage-1", ProcessClassStorage)
	g.MarkForRemoval(noon)
	g.MarkForRemoval(noon.Add(time.Hour))
	if !g.IsMarkedForRemoval() || !g.RemovalTimestamp.Time.Equal(noon) {
		t.Errorf("marked at %v, want %v", g.RemovalTimestamp, noon)
	}
}

func TestExclusionClearsAllConditionsButResourcesTerminating(t *testing.T) {
	g := group("storage-1", ProcessClassStorage)
	g.SetCondition(ConditionMissingProcesses, noon)
	g.SetCondition(ConditionResourcesTerminating, noon)
	g.SetExcluded(noon)
	g.SetExcluded(noon.Add(time.Hour))
	if !g.ExclusionTimestamp.Time.Equal(noon) {
		t.Errorf("excluded at %v, want %v", g.ExclusionTimestamp, noon)
	}
	if len(g.ProcessGroupConditions) != 1 || !g.HasCondition(ConditionResourcesTerminating) {
		t.Errorf("got conditions %v", g.ProcessGroupConditions)
	}
}

func TestConditions(t *testing.T) {
	removed := func(g *ProcessGroupStatus) { g.MarkForRemoval(noon); g.ExclusionSkipped = true }
	excluded := func(g *ProcessGroupStatus) { g.SetExcluded(noon) }
	tests := map[string]struct {
		given func(*ProcessGroupStatus)
		set   ProcessGroupConditionType
		taken bool
	}{
		"any condition is taken":                              {func(*ProcessGroupStatus) {}, ConditionMissingPod, true},
		"excluded alone, any condition is taken":              {excluded, ConditionMissingPod, true},
		"removed and excluded, none is":                       {removed, ConditionMissingPod, false},
		"removed and excluded, but for terminating resources": {removed, ConditionResourcesTerminating, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := group("storage-1", ProcessClassStorage)
			tt.given(g)
			g.SetCondition(tt.set, noon)
			g.SetCondition(tt.set, noon.Add(time.Hour))
			since, ok := g.Condition(tt.set)
			if ok != tt.taken || (ok && !since.Equal(noon)) {
				t.Errorf("got %v %v, want %v since noon", since, ok, tt.taken)
			}
			g.ClearCondition(tt.set)
			if g.HasCondition(tt.set) {
				t.Error("the condition was not cleared")
			}
		})
	}
}

func TestAddresses(t *testing.T) {
	removed := func(g *ProcessGroupStatus) { g.MarkForRemoval(noon) }
	tests := map[string]struct {
		given func(*ProcessGroupStatus)
		seen  []string
		merge AddressMerge
		want  []string
	}{
		"new addresses replace former ones":   {seen: []string{"10.1.0.2"}, want: []string{"10.1.0.2"}},
		"no address yet changes nothing":      {seen: []string{""}, want: []string{"10.1.0.1"}},
		"without a database former ones stay": {seen: []string{"10.1.0.2"}, merge: KeepFormerAddresses, want: []string{"10.1.0.1", "10.1.0.2"}},
		"marked for removal former ones stay": {given: removed, seen: []string{"10.1.0.2", "", "10.1.0.1"}, want: []string{"10.1.0.1", "10.1.0.2"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := group("storage-1", ProcessClassStorage)
			g.Addresses = []string{"10.1.0.1"}
			if tt.given != nil {
				tt.given(g)
			}
			g.MergeAddresses(tt.seen, tt.merge)
			if diff := cmp.Diff(tt.want, g.Addresses); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAllAddressesExcluded(t *testing.T) {
	const left, drained = true, false
	locality := "locality_instance_id:storage-1"
	tests := map[string]struct {
		given     func(*ProcessGroupStatus)
		remaining map[string]bool
		want      bool
		err       bool
	}{
		"nothing known of two addresses": {want: false},
		"one of two addresses clear":     {remaining: map[string]bool{"10.1.0.1": drained}, want: false},
		"both addresses clear":           {remaining: map[string]bool{"10.1.0.1": drained, "10.1.0.2": drained}, want: true},
		"an address with data left":      {remaining: map[string]bool{"10.1.0.1": drained, "10.1.0.2": left}, want: false},
		"the locality clear":             {remaining: map[string]bool{locality: drained}, want: true},
		"the locality with data left":    {remaining: map[string]bool{locality: left, "10.1.0.1": drained, "10.1.0.2": drained}, want: false},
		"the locality clear but an address with data left": {
			remaining: map[string]bool{locality: drained, "10.1.0.2": left}, want: false,
		},
		"noted as excluded": {given: func(g *ProcessGroupStatus) { g.SetExcluded(noon) }, remaining: map[string]bool{locality: left}, want: true},
		"exclusion skipped": {given: func(g *ProcessGroupStatus) { g.ExclusionSkipped = true }, want: true},
		"no address":        {given: func(g *ProcessGroupStatus) { g.Addresses = nil }, err: true},
		"no address and pending for an hour": {
			given: func(g *ProcessGroupStatus) {
				g.Addresses = nil
				g.SetCondition(ConditionPodPending, noon.Add(-time.Hour))
			}, err: true,
		},
		"no address and pending for more than an hour": {
			given: func(g *ProcessGroupStatus) {
				g.Addresses = nil
				g.SetCondition(ConditionPodPending, noon.Add(-time.Hour-time.Second))
			}, want: true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := group("storage-1", ProcessClassStorage)
			g.Addresses = []string{"10.1.0.1", "10.1.0.2"}
			if tt.given != nil {
				tt.given(g)
			}
			got, err := g.AllAddressesExcluded(tt.remaining, noon)
			if got != tt.want || (err != nil) != tt.err {
				t.Errorf("got %v %v, want %v, error %v", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestProcessGroupsAreFoundAndSorted(t *testing.T) {
	c := cluster()
	c.Status.ProcessGroups = []*ProcessGroupStatus{group("storage-2", "storage"), group("log-10", "log"), group("storage-10", "storage")}
	SortProcessGroups(c.Status.ProcessGroups)
	var got []ProcessGroupID
	for _, g := range c.Status.ProcessGroups {
		got = append(got, g.ProcessGroupID)
	}
	if diff := cmp.Diff([]ProcessGroupID{"log-10", "storage-10", "storage-2"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if c.ProcessGroup("storage-10") != c.Status.ProcessGroups[1] || c.ProcessGroup("storage-3") != nil {
		t.Error("looking up a process group by ID")
	}
}

func TestBackdateConditionOnlyMovesAnExistingConditionEarlier(t *testing.T) {
	var g ProcessGroupStatus
	g.BackdateCondition(ConditionNodeTaintDetected, noon)
	if g.HasCondition(ConditionNodeTaintDetected) {
		t.Error("backdating sets a condition")
	}
	g.SetCondition(ConditionNodeTaintDetected, noon)
	for _, ago := range []time.Duration{time.Hour, time.Minute} {
		g.BackdateCondition(ConditionNodeTaintDetected, noon.Add(-ago))
		if since, _ := g.Condition(ConditionNodeTaintDetected); !since.Equal(noon.Add(-time.Hour)) {
			t.Errorf("backdated by %s it begins at %s, want an hour before noon", ago, since)
		}
	}
}
