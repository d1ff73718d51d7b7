package groups_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestTheFirstArgumentIsParsedAsClusterOrProcessGroup(t *testing.T) {
	tests := map[string]struct {
		args         []string
		flag         string
		cluster, ids []string
	}{
		"nothing":                          {},
		"a cluster":                        {args: []string{"sample"}, cluster: []string{"sample"}, ids: []string{}},
		"a cluster and IDs":                {args: []string{"sample", "a-1", "a-2"}, cluster: []string{"sample"}, ids: []string{"a-1", "a-2"}},
		"IDs beside -c":                    {args: []string{"a-1", "a-2"}, flag: "sample", ids: []string{"a-1", "a-2"}},
		"the cluster beside -c of it":      {args: []string{"fdb/sample", "a-1"}, flag: "sample", cluster: []string{"fdb/sample"}, ids: []string{"a-1"}},
		"a pod first":                      {args: []string{"pod/x", "a-1"}, ids: []string{"pod/x", "a-1"}},
		"an ID as -o name prints it first": {args: []string{"processgroup/a-1"}, ids: []string{"processgroup/a-1"}},
		"an address first":                 {args: []string{"10.1.0.1:4501"}, ids: []string{"10.1.0.1:4501"}},
		"stdin first":                      {args: []string{"-"}, ids: []string{"-"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster, ids := session.SplitIDs(tc.args, tc.flag)
			if diff := cmp.Diff([][]string{tc.cluster, tc.ids}, [][]string{cluster, ids}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// twoGroups had one address after the other: storage-2 reports from where storage-1 was.
func twoGroups() plan.Snapshot {
	c := &session.Cluster{}
	c.Name = "sample"
	c.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{
		{ProcessGroupID: "storage-1", ProcessClass: v1beta2.ProcessClassStorage, Addresses: []string{"10.1.0.1", "10.1.0.9"}},
		{ProcessGroupID: "storage-2", ProcessClass: v1beta2.ProcessClassStorage, Addresses: []string{"10.1.0.2", "10.1.0.1"}},
		{ProcessGroupID: "storage-3", ProcessClass: v1beta2.ProcessClassStorage, Addresses: []string{"fd00::3", "10.1.0.9"}},
	}
	status := &fdb.Status{}
	status.Cluster.Processes = map[string]fdb.Process{"x": {
		Address: fdb.Address{Host: "10.1.0.1", Port: 4501}, Locality: map[string]string{fdb.LocalityInstanceID: "storage-2"},
		CommandLine: "fdbserver", Version: "7.3.79",
	}}
	return plan.Snapshot{Cluster: c, Database: plan.DatabaseFacts{Status: status}}
}

func TestProcessGroupsAreSelectedByIDPodOrAddress(t *testing.T) {
	tests := map[string]struct {
		words []string
		mute  bool // the database does not answer
		want  []string
		says  string
	}{
		"an ID":                     {words: []string{"storage-1"}, want: []string{"storage-1"}},
		"as -o name prints it":      {words: []string{"processgroup/storage-1"}, want: []string{"storage-1"}},
		"a pod's name":              {words: []string{"sample-storage-2"}, want: []string{"storage-2"}},
		"pod/NAME":                  {words: []string{"pod/sample-storage-2"}, want: []string{"storage-2"}},
		"the same twice":            {words: []string{"storage-2", "sample-storage-2"}, want: []string{"storage-2"}},
		"in the order of the words": {words: []string{"storage-2", "storage-1"}, want: []string{"storage-2", "storage-1"}},
		"an address selects the group that reports from it": {words: []string{"10.1.0.1"}, want: []string{"storage-2"}},
		"and so does one with a port":                       {words: []string{"10.1.0.1:4501:tls"}, want: []string{"storage-2"}},
		"another port is of no process group":               {words: []string{"10.1.0.1:4999"}, says: "not found: 10.1.0.1:4999"},
		"an address that was recorded":                      {words: []string{"10.1.0.2:4501"}, want: []string{"storage-2"}},
		"an address of IPv6":                                {words: []string{"[fd00:0::3]:4501"}, want: []string{"storage-3"}},
		"the same without a port":                           {words: []string{"fd00::3"}, want: []string{"storage-3"}},
		"two had the address":                               {words: []string{"10.1.0.9"}, says: "matches storage-1 and storage-3"},
		"its present owner is unknown":                      {words: []string{"10.1.0.1"}, mute: true, says: "matches storage-1 and storage-2"},
		"a pod's name is no ID":                             {words: []string{"processgroup/sample-storage-2"}, says: "not found: processgroup/sample-storage-2"},
		"an ID is no pod":                                   {words: []string{"pod/storage-2"}, says: "not found: pod/storage-2"},
		"all unknown ones are named":                        {words: []string{"x", "storage-1", "y"}, says: "cluster sample not found: x, y"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := twoGroups()
			if tc.mute {
				s.Database = plan.DatabaseFacts{Unreachable: "timed out"}
			}
			groups, err := session.GroupsNamed(s, tc.words)
			var got []string
			for _, g := range groups {
				got = append(got, string(g.ProcessGroupID))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if (err != nil) != (tc.says != "") || (err != nil && (!strings.Contains(err.Error(), tc.says) || exit.Code(err) != exit.ExitUsage)) {
				t.Errorf("want %q, got %v", tc.says, err)
			}
		})
	}
}
