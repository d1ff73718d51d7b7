package recovery

import (
	"fmt"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/datadir"
)

const recorded = "sample:abc@10.0.0.1:4501,10.0.0.2:4501,10.0.0.3:4501"

// rebooted is a cluster of five process groups, the first three of them coordinators, whose pods
// all have other addresses.
func rebooted() Facts {
	f := Facts{UID: "1", Recorded: recorded, ConfigMap: recorded, Quorum: new(false), Available: new(false), Queried: []string{"10.0.0.1:4501", "10.0.0.2:4501", "10.0.0.3:4501"}}
	for n := 1; n <= 5; n++ {
		g := Group{
			ID: fmt.Sprintf("storage-%d", n), Class: "storage", Stateful: true, Addresses: []string{fmt.Sprintf("10.0.0.%d", n)},
			Pod: fmt.Sprintf("sample-storage-%d", n), PodUID: fmt.Sprintf("pod-%d", n), Phase: "Running", Now: []string{fmt.Sprintf("10.0.9.%d", n)},
			PVC: fmt.Sprintf("sample-storage-%d-data", n), Volume: fmt.Sprintf("pv-%d", n), PVCPhase: "Bound",
			Names: Names{Pod: fmt.Sprintf("sample-storage-%d", n), PVC: fmt.Sprintf("sample-storage-%d-data", n), DNS: fmt.Sprintf("sample-storage-%d.sample.fdb.svc.cluster.local", n)},
			Files: &datadir.Files{ClusterFile: recorded, Generation: "sample:abc", Processes: []int{100 + n}},
		}
		if n <= 3 {
			g.Files.Coordination = []datadir.File{{Path: "/var/fdb/data/1/coordination-0.fdq", Bytes: 4096, Current: true}}
			f.Coordinators = append(f.Coordinators, Coordinator{Address: fmt.Sprintf("10.0.0.%d:4501", n), Reachable: new(false)})
		}
		f.Groups = append(f.Groups, g)
	}
	return f
}

func command(words ...string) string { return "kubectl fdb " + strings.Join(words, " ") }
