package webhook_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// The webhook answers as can drain does, and changes nothing unless it may.
func TestTheEvictionWebhookDecidesAsCanDrainAndChangesNothing(t *testing.T) {
	g := commandstest.Healthy(t)
	log := g.GroupOf(v1beta2.ProcessClassLog)
	acted := len(g.Cluster.Acted)
	answers, code := g.Evictions(t, []string{log.PodName(g.Cluster.Resource), g.GroupOf(v1beta2.ProcessClassStateless).PodName(g.Cluster.Resource)}, `kubectl_fdb_eviction_answers_total{outcome="denied"} 1`)
	if code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	if answers[0].Allowed || answers[0].Result.Code != http.StatusTooManyRequests {
		t.Errorf("a log: %+v", answers[0])
	}
	if !answers[1].Allowed {
		t.Errorf("a stateless pod: %+v", answers[1].Result)
	}
	if len(g.Cluster.Acted) != acted || log.IsMarkedForRemoval() {
		t.Errorf("changed something: %v", g.Cluster.Acted[acted:])
	}
}

// With --act the process group that must not be evicted is replaced.
func TestTheEvictionWebhookWithActReplacesTheDeniedGroup(t *testing.T) {
	g := commandstest.Healthy(t)
	id := g.GroupOf(v1beta2.ProcessClassLog).ProcessGroupID
	answers, code := g.Evictions(t, []string{g.Cluster.Resource.ProcessGroup(id).PodName(g.Cluster.Resource)}, `kubectl_fdb_eviction_acts_total{result="done"} 1`, "--act", "--yes")
	if code != exit.ExitDone || answers[0].Allowed {
		t.Fatalf("exit code %d, %+v: %s", code, answers[0], &g.Err)
	}
	if !strings.HasSuffix(answers[0].Result.Message, "; the eviction webhook works on it") {
		t.Errorf("answers %q", answers[0].Result.Message)
	}
	if !g.Cluster.Resource.ProcessGroup(id).IsMarkedForRemoval() {
		t.Errorf("%s is not marked for removal: %s%s", id, &g.Out, &g.Err)
	}
}

// A pod that only its coordinator protects keeps its process group: the coordinator moves.
func TestTheEvictionWebhookWithActMovesOnlyTheCoordinator(t *testing.T) {
	g := commandstest.Healthy(t)
	away := strings.Join(g.Coordinating(), ",") // logs, which are replaced whether they coordinate or not
	if code := g.Run("coordinators", "change", "sample", "--away-from", away, "--yes", "--wait"); code != exit.ExitDone {
		t.Fatalf("exit code %d: %s", code, &g.Err)
	}
	g.Cluster.Tick(20 * time.Minute)
	group := g.Cluster.Resource.ProcessGroup(v1beta2.ProcessGroupID(g.Coordinating()[0]))
	if group.ProcessClass != v1beta2.ProcessClassStorage {
		t.Fatalf("no storage process group is a coordinator: %v", g.Coordinating())
	}
	answers, code := g.Evictions(t, []string{group.PodName(g.Cluster.Resource)}, `kubectl_fdb_eviction_acts_total{result="done"} 1`, "--act", "--yes")
	if code != exit.ExitDone || answers[0].Allowed {
		t.Fatalf("exit code %d, %+v: %s", code, answers[0], &g.Err)
	}
	if after := g.Coordinating(); slices.Contains(after, string(group.ProcessGroupID)) || len(after) == 0 {
		t.Errorf("%s is still a coordinator, or there is none: %v: %s", group.ProcessGroupID, after, &g.Err)
	}
	if g.Cluster.Resource.ProcessGroup(group.ProcessGroupID).IsMarkedForRemoval() {
		t.Errorf("%s is marked for removal", group.ProcessGroupID)
	}
}

// A storage pod that waits only for another one to return keeps its process group: its data would
// move for nothing.
func TestTheEvictionWebhookWithActWaitsForOtherPodsToReturn(t *testing.T) {
	g := commandstest.Healthy(t)
	coordinators := g.Coordinating()
	var storage []*v1beta2.ProcessGroupStatus
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == v1beta2.ProcessClassStorage && !slices.Contains(coordinators, string(group.ProcessGroupID)) {
			storage = append(storage, group)
		}
	}
	leaves, missing := storage[0], storage[1]
	delete(g.Cluster.Pods, missing.PodName(g.Cluster.Resource))
	answers, code := g.Evictions(t, []string{leaves.PodName(g.Cluster.Resource)}, `kubectl_fdb_eviction_acts_total{result="done"} 1`, "--act", "--yes")
	if code != exit.ExitDone || answers[0].Allowed {
		t.Fatalf("exit code %d, %+v: %s", code, answers[0], &g.Err)
	}
	if g.Cluster.Resource.ProcessGroup(leaves.ProcessGroupID).IsMarkedForRemoval() {
		t.Errorf("%s is marked for removal: %s", leaves.ProcessGroupID, &g.Err)
	}
	if g.Cluster.Pods[missing.PodName(g.Cluster.Resource)] == nil {
		t.Errorf("the pod of %s was not recreated: %s", missing.ProcessGroupID, &g.Err)
	}
}

// No other run recreates the pod that a drain has evicted before, and the next one stays denied.
func TestTheEvictionWebhookWithActRecreatesEvictedStatelessPods(t *testing.T) {
	g := commandstest.Healthy(t)
	var stateless []*v1beta2.ProcessGroupStatus
	for _, group := range g.Cluster.Resource.Status.ProcessGroups {
		if group.ProcessClass == v1beta2.ProcessClassStateless {
			stateless = append(stateless, group)
		}
	}
	evicted, next := stateless[0].PodName(g.Cluster.Resource), stateless[1].PodName(g.Cluster.Resource)
	delete(g.Cluster.Pods, evicted)
	answers, code := g.Evictions(t, []string{next}, `kubectl_fdb_eviction_acts_total{result="done"} 1`, "--act", "--yes")
	if code != exit.ExitDone || answers[0].Allowed {
		t.Fatalf("exit code %d, %+v: %s", code, answers[0], &g.Err)
	}
	if g.Cluster.Pods[evicted] == nil || stateless[1].IsMarkedForRemoval() {
		t.Fatalf("%s was not recreated, or %s is marked for removal: %s", evicted, next, &g.Err)
	}
	g.Cluster.Tick(10 * time.Minute)
	g.Objects = nil
	if answers, _ := g.Evictions(t, []string{next}, `kubectl_fdb_eviction_answers_total{outcome="allowed"} 1`, "--act", "--yes"); !answers[0].Allowed {
		t.Errorf("the drain does not end: %+v", answers[0].Result)
	}
}

func TestNamesOfAnEvictionRequestCannotForgeLogLines(t *testing.T) {
	g := commandstest.NewGiven(t)
	certFile, keyFile, trusting := commandstest.KeyPair(t)
	address := commandstest.FreeAddress(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- g.RunIn(ctx, "eviction-webhook", "-v", "1", "--listen-addr", address, "--tls-cert-file", certFile, "--tls-private-key-file", keyFile)
	}()
	commandstest.AskWebhook(t, trusting, address, "", "pod\nallowed: eviction of pod fdb/forged")
	stop()
	<-ended
	if strings.Contains(g.Err.String(), "\nallowed: eviction of pod fdb/forged") {
		t.Errorf("forged: %s", &g.Err)
	}
}

// A run that a gate refuses is a failed one: the eviction would stay denied, and nothing showed why.
func TestTheEvictionWebhookReportsAGateRefusalAsAFailure(t *testing.T) {
	g := commandstest.Healthy(t)
	g.Evaluated = commandstest.OperatorLives
	id := g.GroupOf(v1beta2.ProcessClassLog).ProcessGroupID
	answers, code := g.Evictions(t, []string{g.Cluster.Resource.ProcessGroup(id).PodName(g.Cluster.Resource)}, `kubectl_fdb_eviction_acts_total{result="failed"} 1`, "--act", "--yes")
	if code != exit.ExitDone || answers[0].Allowed {
		t.Fatalf("exit code %d, %+v: %s", code, answers[0], &g.Err)
	}
	if g.Cluster.Resource.ProcessGroup(id).IsMarkedForRemoval() || !strings.Contains(g.Err.String(), "handle the eviction of pod") {
		t.Errorf("marked, or no reason on stderr: %s", &g.Err)
	}
}

func TestEvictionWebhookValidatesItsFlags(t *testing.T) {
	certFile, keyFile, _ := commandstest.KeyPair(t)
	files := []string{"--tls-cert-file", certFile, "--tls-private-key-file", keyFile}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, tc := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no certificate":             {nil, exit.ExitUsage, "--tls-cert-file and --tls-private-key-file are required"},
		"no key":                     {files[:2], exit.ExitUsage, "are required"},
		"files of nothing":           {[]string{"--tls-cert-file", "none", "--tls-private-key-file", "none"}, exit.ExitUsage, "read the certificate"},
		"acts without approval":      {append([]string{"--act"}, files...), exit.ExitUnconfirmed, "--act requires --yes"},
		"acts for any client":        {append([]string{"--act", "--yes"}, files...), exit.ExitUsage, "--act requires --client-ca-file"},
		"approval of nothing":        {append([]string{"--yes"}, files...), exit.ExitUsage, "--yes requires --act"},
		"coexists with nothing":      {append([]string{"--coexist"}, files...), exit.ExitUsage, "--coexist requires --act"},
		"no address":                 {append([]string{"--listen-addr", ""}, files...), exit.ExitUsage, "--listen-addr must not be empty"},
		"a wrong address":            {append([]string{"--listen-addr", "8443"}, files...), exit.ExitUsage, "--listen-addr must be HOST:PORT"},
		"a wrong metrics address":    {append([]string{"--metrics-addr", "8080"}, files...), exit.ExitUsage, "--metrics-addr must be HOST:PORT"},
		"no authority":               {append([]string{"--client-ca-file", keyFile}, files...), exit.ExitUsage, "no certificate in PEM"},
		"no file of authorities":     {append([]string{"--client-ca-file", "none"}, files...), exit.ExitUsage, "read --client-ca-file"},
		"an argument":                {append([]string{"sample"}, files...), exit.ExitUsage, "invalid arguments"},
		"a taken address":            {append([]string{"--listen-addr", taken.Addr().String()}, files...), exit.ExitUsage, "set another address with --listen-addr"},
		"a taken address of metrics": {append([]string{"--listen-addr", "127.0.0.1:0", "--metrics-addr", taken.Addr().String()}, files...), exit.ExitUsage, "set another address with --metrics-addr"},
	} {
		t.Run(name, func(t *testing.T) {
			g := commandstest.NewGiven(t)
			if code := g.Run(append([]string{"eviction-webhook"}, tc.args...)...); code != tc.code || !strings.Contains(fmt.Sprint(&g.Out, &g.Err), tc.says) {
				t.Errorf("exit code %d, want %d with %q: %s%s", code, tc.code, tc.says, &g.Out, &g.Err)
			}
		})
	}
}
