package clusters_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// commandLine is one run of the program, and what it has to print.
type commandLine struct {
	given    func(*commandstest.Given)
	args     string
	code     int
	out, err []string
	notOut   string
}

// run runs it on a cluster of its own, or on the healthy one when it needs nothing else.
func (tc commandLine) run(t *testing.T, healthy *commandstest.Given) {
	t.Helper()
	g := &commandstest.Given{T: t, Cluster: healthy.Cluster, Env: map[string]string{}, Clock: healthy.Clock}
	if tc.given != nil {
		g = commandstest.Up(t)
		tc.given(g)
	}
	if code := g.Run(strings.Fields(tc.args)...); code != tc.code {
		t.Errorf("exit code %d, want %d", code, tc.code)
	}
	for _, want := range tc.out {
		if !strings.Contains(g.Out.String(), want) {
			t.Errorf("stdout has no %q", want)
		}
	}
	for _, want := range tc.err {
		if !strings.Contains(g.Err.String(), want) {
			t.Errorf("stderr has no %q", want)
		}
	}
	if tc.notOut != "" && strings.Contains(g.Out.String(), tc.notOut) {
		t.Errorf("stdout has %q", tc.notOut)
	}
	if t.Failed() {
		t.Logf("stdout:\n%s\nstderr:\n%s", &g.Out, &g.Err)
	}
}

// aMinuteLater lets clients report themselves again after the recovery that created the database.
func aMinuteLater(g *commandstest.Given) { g.Cluster.Tick(time.Minute) }

func TestGetListsProcessesCoordinatorsNodesAndClients(t *testing.T) {
	tests := map[string]commandLine{
		"processes":                                    {args: "get processes sample", out: []string{"ADDRESS", "10.1.0.7:4501", "7.3.79", "storage"}},
		"processes with more columns":                  {args: "get processes sample -o wide", out: []string{"DISK-FREE", "MESSAGES"}},
		"processes of a class":                         {args: "get processes sample --class log -o name", out: []string{"process/"}, notOut: "10.1.0.7:4501"},
		"processes of a group":                         {args: "get processes sample --process-group 10.1.0.7", out: []string{"10.1.0.7:4501"}, notOut: "log"},
		"processes of a condition that none has":       {args: "get processes sample --condition PodFailing", err: []string{"the database of sample reports no matching process"}},
		"processes of a class that is none":            {args: "get processes sample --class x", code: exit.ExitUsage, err: []string{"unknown process class"}},
		"processes by name":                            {args: "get processes sample -o name", out: []string{"process/10.1.0.7:4501\n"}},
		"processes of a database that does not report": {given: commandstest.WithSilentStorage, args: "get processes sample", code: exit.ExitUnreachable, err: []string{"cannot determine the processes: timed out"}},
		"coordinators":                                 {args: "get coordinators sample", out: []string{"REMOVAL", "3 of 3 reachable, 3 desired; quorum reachable: yes"}, notOut: "?"},
		"coordinators that leave":                      {given: coordinatorsLeave, args: "get coordinators sample -o jsonpath={.items[*].removing}", out: []string{"true "}},
		"coordinators without an answer":               {given: commandstest.WithSilentStorage, args: "get coordinators sample", out: []string{"? of 3 reachable"}, err: []string{"the coordinators are those in the status: timed out"}},
		"the connection string":                        {args: "connection-string show sample", out: []string{"sample:", "@"}},
		"its generation":                               {args: "connection-string show sample -o name", out: []string{"connectionstring/"}},
		"drift where there is none":                    {args: "connection-string drift sample", out: []string{"all have the connection string in force", "configmap/sample-config", "cr-status", "live"}, notOut: "?"},
		"drift of the record":                          {given: otherResource, args: "connection-string drift sample", code: exit.ExitNo, out: []string{"cr-status has other:abc@10.0.0.1:4501", "not all have the connection string in force"}},
		"drift of a pod":                               {given: commandstest.OtherPod, args: "connection-string drift sample -o custom-columns=M:.matches,S:.source", code: exit.ExitNo, out: []string{"false   pod/sample-storage-"}},
		"a pod whose file is no such file":             {given: brokenPod, args: "connection-string drift sample", code: exit.ExitNo, out: []string{" has rubbish\n"}},
		"the configuration":                            {args: "get configuration sample", out: []string{"redundancy_mode", "double", "no\n"}, notOut: "yes"},
		"a configuration that differs":                 {given: func(g *commandstest.Given) { g.Cluster.Resource.Spec.DatabaseConfiguration.Logs = 2 }, args: "get configuration sample", out: []string{"logs              3        2        yes"}},
		"does it match?":                               {args: "get configuration sample -o jsonpath={.kind}:{.matches}", out: []string{"Configuration:true"}},
		"the configure line":                           {given: commandstest.WithSilentStorage, args: "get configuration sample --string", out: []string{"configure double ssd-2 usable_regions=1 logs=3"}},
		"the configure line of regions":                {given: regions, args: "get configuration sample --string", out: []string{`regions=\x5b\x7b\x22datacenters\x22:`}},
		"the configure line in JSON":                   {args: "get configuration sample --string -o json", code: exit.ExitUsage},
		"an unknown configuration":                     {given: commandstest.WithSilentStorage, args: "get configuration sample", out: []string{"?"}, err: []string{"cannot determine the live configuration: timed out"}},
		"nodes":                                        {args: "get nodes sample", out: []string{"MATCHED-RULE", "node-1", "storage:1"}, notOut: "not-checked"},
		"nodes that may not be read":                   {given: func(g *commandstest.Given) { g.Cluster.NodesHidden = "listing nodes is forbidden" }, args: "get nodes sample", out: []string{"not-checked", "node-1"}, err: []string{"warning: taints and rules were not evaluated: listing nodes is forbidden"}},
		"nodes without pods":                           {given: func(g *commandstest.Given) { g.Cluster.Nodes = append(g.Cluster.Nodes, "spare") }, args: "get nodes sample -o name", notOut: "spare"},
		"all nodes":                                    {given: func(g *commandstest.Given) { g.Cluster.Nodes = append(g.Cluster.Nodes, "spare") }, args: "get nodes sample -o name --all", out: []string{"node/spare\n"}},
		"a node that is tainted":                       {given: taint, args: "get nodes sample", out: []string{"example.com/maintenance:NoSchedule", "example.com/maintenance>300s", "node-1: no pass has recorded the taint yet"}},
		"a taint that a pass has noted": {given: func(g *commandstest.Given) {
			taint(g)
			g.Run("reconcile", "sample", "--yes")
			g.Cluster.Tick(time.Minute)
		}, args: "get nodes sample -o jsonpath={.items[0].name}:{.items[0].note}:{.items[0].matchedRules[0].seconds}", out: []string{"node-1::300"}},
		"clients":                                    {given: aMinuteLater, args: "get clients sample", out: []string{"LOG-GROUP", "7.3.79"}},
		"clients that would lose the database":       {given: aMinuteLater, args: "get clients sample --blocking 7.4.6", err: []string{"all clients of sample can connect to version 7.4.6"}},
		"a version that is none":                     {args: "get clients sample --blocking soon", code: exit.ExitUsage},
		"clients of a database that does not report": {given: commandstest.WithSilentStorage, args: "get clients sample", code: exit.ExitUnreachable, err: []string{"cannot determine the clients: timed out"}},
		"a command that is none":                     {args: "connection-string dirft", code: exit.ExitUsage, err: []string{"must be one of drift, show, sync"}},
		"a kind that is none":                        {args: "get everything", code: exit.ExitUsage, err: []string{`unknown resource type "everything": must be one of clients, clusters, configuration, coordinators`}},
		"no kind":                                    {args: "get", code: exit.ExitUsage, err: []string{"resource type is required"}},
	}
	healthy := commandstest.Up(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { tc.run(t, healthy) })
	}
}

// taint taints the first node with a taint that the spec allows for five minutes.
func taint(g *commandstest.Given) {
	g.Cluster.Taints = map[string][]corev1.Taint{"node-1": {{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoSchedule}}}
	g.Cluster.Resource.Spec.AutomationOptions.Replacements.TaintReplacementOptions = []v1beta2.TaintReplacementOption{
		{Key: new("example.com/maintenance"), DurationInSeconds: new(int64(300))},
	}
}

func regions(g *commandstest.Given) {
	g.Cluster.Resource.Spec.DatabaseConfiguration.Regions = []v1beta2.Region{{Datacenters: []v1beta2.DataCenter{{ID: "dc1", Priority: 1}}}}
}

func coordinatorsLeave(g *commandstest.Given) {
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		group.MarkForRemoval(g.Cluster.Now())
	}
}

func otherResource(g *commandstest.Given) {
	g.Cluster.Resource.Status.ConnectionString = "other:abc@10.0.0.1:4501"
}

func brokenPod(g *commandstest.Given) { g.Cluster.WriteClusterFile(g.LastPod(), "rubbish") }

// The record alone never passes for what is in force.
func TestAnUnconfirmedConnectionStringIsReportedAsReadFromTheStatus(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Cluster.Resource.Status.ConnectionString = "sample:abc@10.0.0.1:4501"
	if code := g.Run("connection-string", "show", "sample", "-o", "json"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	var v struct{ Source, ConnectionString string }
	if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil || v.Source != "cr-status" || v.ConnectionString != "sample:abc@10.0.0.1:4501" {
		t.Errorf("%v, %+v", err, v)
	}
	if !strings.Contains(g.Err.String(), "cannot determine the one in force") {
		t.Errorf("stderr: %s", &g.Err)
	}
	if code := g.Run("connection-string", "drift", "sample"); code != exit.ExitUnreachable || !strings.Contains(g.Out.String(), "not all could be read") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
	g.Cluster.Resource.Status.ConnectionString = ""
	if code := g.Run("connection-string", "show", "sample"); code != exit.ExitUnreachable || g.Out.Len() > 0 {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}

func TestGetClustersListsANamespaceOrAll(t *testing.T) {
	g := commandstest.Up(t)
	elsewhere := other()
	elsewhere.Namespace = "elsewhere"
	g.Objects = append(g.Objects, elsewhere)
	tests := map[string]struct {
		args []string
		want []string
		not  string
		code int
	}{
		"those of the namespace": {want: []string{"NAMESPACE", "fdb         sample"}, not: "elsewhere"},
		"those of another":       {args: []string{"-n", "elsewhere"}, want: []string{"elsewhere   other"}, not: "sample"},
		"all":                    {args: []string{"-A"}, want: []string{"elsewhere   other", "fdb         sample"}},
		"their names":            {args: []string{"-o", "name"}, want: []string{"foundationdbcluster/sample\n"}},
		"one field":              {args: []string{"-o", "jsonpath={.items[0].state}"}, want: []string{"healthy"}},
		"an argument":            {args: []string{"sample"}, code: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code := g.Run(append([]string{"get", "clusters"}, tc.args...)...)
			if code != tc.code || (tc.not != "" && strings.Contains(g.Out.String(), tc.not)) {
				t.Errorf("exit code %d, want %d: %s%s", code, tc.code, &g.Out, &g.Err)
			}
			for _, want := range tc.want {
				if !strings.Contains(g.Out.String(), want) {
					t.Errorf("no %q in %s%s", want, &g.Out, &g.Err)
				}
			}
		})
	}
	g.Run("get", "clusters", "-n", "nowhere")
	if !strings.Contains(g.Err.String(), "no FoundationDBCluster found in namespace nowhere") || g.Out.Len() > 0 {
		t.Errorf("an empty namespace: %s%s", &g.Out, &g.Err)
	}
}

// A list is no verdict: scripts that want one use status.
func TestGetClustersSucceedsForAnUnreachableDatabase(t *testing.T) {
	g := commandstest.Up(t)
	g.Connect = func() (session.Session, error) {
		return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
	}
	if code := g.Run("get", "clusters"); code != exit.ExitDone || !strings.Contains(g.Out.String(), "unknown") {
		t.Errorf("exit code %d: %s%s", code, &g.Out, &g.Err)
	}
}
