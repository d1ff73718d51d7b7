package clusters_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/commandstest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

func TestStatusExitCodes(t *testing.T) {
	tests := map[string]struct {
		given func(*commandstest.Given)
		args  []string
		want  int
		says  string // on stdout
	}{
		"healthy":                           {args: []string{"sample"}, want: exit.ExitDone, says: "Available: data distribution is starting and the number of copies unknown, safe to lose 1 more zone; matches its spec"},
		"the only cluster of the namespace": {args: nil, want: exit.ExitDone, says: "fdb/sample"},
		"all clusters":                      {args: []string{"-A"}, want: exit.ExitDone, says: "healthy"},
		"its name":                          {args: []string{"-o", "name"}, want: exit.ExitDone, says: "foundationdbcluster/sample\n"},
		"one field":                         {args: []string{"-o", "jsonpath={.state}"}, want: exit.ExitDone, says: "healthy"},
		"a template":                        {args: []string{"-o", "go-template={{.faultTolerance.zones}}"}, want: exit.ExitDone, says: "1"},
		"columns":                           {args: []string{"-o", "custom-columns=NAME:.metadata.cluster,STATE:.state", "--no-headers"}, want: exit.ExitDone, says: "sample   healthy\n"},
		"columns of all":                    {args: []string{"-A", "-o", "custom-columns=NAME:metadata.cluster,X:.x"}, want: exit.ExitDone, says: "sample   <none>\n"},
		"no answer from the database": {given: func(g *commandstest.Given) {
			g.Connect = func() (session.Session, error) {
				return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
			}
		}, args: []string{"sample"}, want: exit.ExitUnreachable, says: "Unknown: no answer from the database: timed out"},
		"pods/exec is forbidden": {given: func(g *commandstest.Given) {
			g.Connect = func() (session.Session, error) {
				return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: commandstest.ErrForbidden}, nil
			}
		}, args: []string{"sample"}, want: exit.ExitUnreachable, says: "Unknown: no answer from the database: forbidden"},
		"a cluster that does not answer, -A": {given: func(g *commandstest.Given) {
			g.Connect = func() (session.Session, error) {
				return commandstest.Mute{Simulated: commandstest.Simulated{Cluster: g.Cluster, G: g}, Err: nil}, nil
			}
		}, args: []string{"-A"}, want: exit.ExitUnreachable, says: "unknown"},
		"a pod is missing": {given: func(g *commandstest.Given) {
			for name := range g.Cluster.Pods {
				delete(g.Cluster.Pods, name)
				return
			}
		}, args: []string{"sample"}, want: exit.ExitNo, says: "Degraded"},
		"no API server": {given: func(g *commandstest.Given) {
			g.Connect = func() (session.Session, error) { return nil, commandstest.ErrNoAnswer }
		}, args: []string{"sample"}, want: exit.ExitUnreachable},
		"a map of its process groups": {args: []string{"sample", "--map"}, want: exit.ExitDone, says: "up, coordinator"},
		"a map and a section":         {args: []string{"sample", "--map", "--sections", "locks"}, want: exit.ExitDone, says: "\nLocks  "},
		"a map as JSON":               {args: []string{"sample", "--map", "-o", "json"}, want: exit.ExitUsage},
		"a map of all":                {args: []string{"-A", "--map"}, want: exit.ExitUsage},
		"-A and a name":               {args: []string{"sample", "-A"}, want: exit.ExitUsage},
		"an unknown output":           {args: []string{"-o", "xml"}, want: exit.ExitUsage},
		"a template that is none":     {args: []string{"-o", "jsonpath={.state"}, want: exit.ExitUsage},
		"a title without columns":     {args: []string{"-o", "custom-columns=NAME"}, want: exit.ExitUsage},
		"an unknown cluster":          {args: []string{"other"}, want: exit.ExitUsage},
		"which of two":                {given: func(g *commandstest.Given) { g.Objects = append(g.Objects, other()) }, args: nil, want: exit.ExitUsage},
		"two arguments":               {args: []string{"sample", "other"}, want: exit.ExitUsage},
	}
	healthy := commandstest.Up(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := &commandstest.Given{T: t, Cluster: healthy.Cluster, Env: map[string]string{}, Clock: healthy.Clock}
			if tc.given != nil {
				g.Cluster = commandstest.Up(t).Cluster
				g.Clock = &commandstest.ClusterClock{Cluster: g.Cluster}
				tc.given(g)
			}
			got := g.Run(append([]string{"status"}, tc.args...)...)
			if got != tc.want || !strings.Contains(g.Out.String(), tc.says) {
				t.Errorf("exit code %d, want %d, and %q on stdout\nstdout: %s\nstderr: %s", got, tc.want, tc.says, &g.Out, &g.Err)
			}
		})
	}
}

func other() *v1beta2.FoundationDBCluster {
	return &v1beta2.FoundationDBCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: "fdb"},
		Spec:       v1beta2.FoundationDBClusterSpec{Version: "7.3.79"},
	}
}

func TestAMissingClusterNameErrorListsTheClusters(t *testing.T) {
	g := commandstest.NewGiven(t)
	g.Objects = append(g.Objects, other())
	g.Run("status")
	if want := "error: cluster name is required: namespace fdb has other, sample\n"; g.Err.String() != want {
		t.Errorf("stderr: %s", &g.Err)
	}
}

// impatient is a clock whose tickers tick once, at once.
type impatient struct{ *commandstest.ClusterClock }

func (c impatient) NewTicker(time.Duration) clock.Ticker { //nolint:ireturn // the clock's own shape
	ticks := make(chan time.Time, 1)
	ticks <- c.Now()
	return oneTick{ticks}
}

type oneTick struct{ c chan time.Time }

func (t oneTick) C() <-chan time.Time { return t.c }

func (t oneTick) Stop() {}

// slow is a database that takes its time.
type slow struct {
	commandstest.Simulated
	requested chan struct{}
}

func (s slow) Observe(ctx context.Context, into *plan.Snapshot, facets plan.Facet) error {
	if facets&plan.Database != 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.requested:
		}
	}
	return s.Simulated.Observe(ctx, into, facets)
}

func TestStatusPrintsOneLineWhileWaitingForASlowDatabase(t *testing.T) {
	g := commandstest.Up(t)
	g.Cluster.Pods[g.PodsOf("stateless")[0]].DeletionTimestamp = new(metav1.NewTime(g.Cluster.Now()))
	answer := make(chan struct{})
	g.Connect = func() (session.Session, error) {
		return slow{commandstest.Simulated{Cluster: g.Cluster, G: g}, answer}, nil
	}
	env := g.Environment()
	env.Clock = impatient{g.Clock}
	env.ErrOut = commandstest.OnWrite(func(text string) {
		g.Err.WriteString(text)
		if strings.Contains(text, "waiting for database status") {
			close(answer)
		}
	})
	if code := commands.Run(t.Context(), env, []string{"status", "sample"}); code != exit.ExitDone {
		t.Errorf("exit code %d", code)
	}
	if want := "waiting for database status (no answer for 5s; 8 of 9 pods are ready)…\n"; g.Err.String() != want {
		t.Errorf("stderr: want %q, got %q", want, &g.Err)
	}
	if !strings.Contains(g.Out.String(), "Available: ") || strings.Contains(g.Out.String(), "Unknown") {
		t.Errorf("stdout: %s", &g.Out)
	}
}

func TestAnInterruptedStatusReadEndsAtOnce(t *testing.T) {
	g := commandstest.Up(t)
	g.Connect = func() (session.Session, error) {
		return slow{commandstest.Simulated{Cluster: g.Cluster, G: g}, nil}, nil
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(&exit.InterruptedError{Signal: os.Interrupt}) })
	if code := g.RunIn(ctx, "status", "sample"); code != exit.ExitInterrupted {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}

func TestStatusShowsTheLeaseHolder(t *testing.T) {
	g := commandstest.Up(t)
	g.Objects = append(g.Objects, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fdb", Name: live.LeaseName("sample")},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("alice@laptop pid 7"), RenewTime: &metav1.MicroTime{Time: g.Cluster.Now()}, LeaseDurationSeconds: new(int32(60)),
		},
	})
	g.Run("status", "sample", "-o", "json")
	var v struct{ Locks struct{ LeaseHolder string } }
	if err := json.Unmarshal(g.Out.Bytes(), &v); err != nil || v.Locks.LeaseHolder != "alice@laptop pid 7" {
		t.Errorf("%v, %+v", err, v)
	}
}

func TestProcessGroupSelectors(t *testing.T) {
	g := commandstest.Up(t)
	id := string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID)
	onNode, address := 0, g.Cluster.Resource.Status.ProcessGroups[0].Addresses[0]
	for _, pod := range g.Cluster.Pods {
		if pod.Spec.NodeName == "node-1" {
			onNode++
		}
	}
	tests := map[string]struct {
		args  []string
		stdin string
		want  int // how many
		code  int
	}{
		"all":                         {args: nil, want: 9},
		"of a class":                  {args: []string{"--class", "storage"}, want: 3},
		"of two classes":              {args: []string{"--class", "storage,log"}, want: 6},
		"by ID":                       {args: []string{"--process-group", id}, want: 1},
		"by pod":                      {args: []string{"--process-group", "pod/sample-" + id}, want: 1},
		"by address":                  {args: []string{"--process-group", address}, want: 1},
		"as IDs after the cluster":    {args: []string{id, "pod/sample-" + id, address}, want: 1},
		"on stdin":                    {args: []string{"-"}, stdin: "processgroup/" + id + "\n", want: 1},
		"an empty stdin":              {args: []string{"-"}, code: exit.ExitUsage},
		"named, and of another class": {args: []string{id, "--class", "coordinator"}, want: 0},
		"an unknown ID":               {args: []string{"--process-group", "storage-0"}, code: exit.ExitUsage},
		"an unknown ID after a known": {args: []string{id, "storage-0"}, code: exit.ExitUsage},
		"without conditions":          {args: []string{"--condition", "Ready"}, want: 9},
		"with a condition":            {args: []string{"--condition", "PodFailing"}, want: 0},
		"with any condition for long": {args: []string{"--older-than", "1h"}, want: 0},
		"older than the future":       {args: []string{"--older-than", "-1h"}, code: exit.ExitUsage},
		"an unknown condition":        {args: []string{"--condition", "Sad"}, code: exit.ExitUsage},
		"an unknown class":            {args: []string{"--class", "sad"}, code: exit.ExitUsage},
		"on a node":                   {args: []string{"--node", "node-1"}, want: onNode},
		"in a zone":                   {args: []string{"--zone", "nowhere"}, want: 0},
		"being removed":               {args: []string{"--removing"}, want: 0},
		"excluded":                    {args: []string{"--excluded"}, want: 0},
		"by pod labels":               {args: []string{"-l", "foundationdb.org/fdb-process-class=log"}, want: 3},
		"labels that are none":        {args: []string{"-l", "a=b=c"}, code: exit.ExitUsage},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g.Input = &tc.stdin
			code := g.Run(append([]string{"get", "pg", "sample", "-o", "name"}, tc.args...)...)
			if got := strings.Count(g.Out.String(), "processgroup/"); got != tc.want || code != tc.code {
				t.Errorf("%d groups and exit code %d, want %d and %d: %s%s", got, code, tc.want, tc.code, &g.Out, &g.Err)
			}
		})
	}
}

func TestGetProcessGroupsSupportsAliasesAndOutputFormats(t *testing.T) {
	g := commandstest.Up(t)
	for _, name := range []string{"process-groups", "pg", "process-group", "processgroups"} {
		if code := g.Run("get", name, "sample", "--no-headers"); code != exit.ExitDone || strings.Count(g.Out.String(), "\n") != 9 {
			t.Errorf("get %s: exit code %d: %s%s", name, code, &g.Out, &g.Err)
		}
	}
	g.Run("get", "pg", "sample", "-o", "jsonpath={.items[*].class}")
	if diff := cmp.Diff(strings.Join(slices.Concat(slices.Repeat([]string{"log"}, 3), slices.Repeat([]string{"stateless"}, 3), slices.Repeat([]string{"storage"}, 3)), " "), g.Out.String()); diff != "" {
		t.Error(diff)
	}
	g.Run("get", "pg", "sample", "-o", "custom-columns=CLASS:.class,ROLES:.roles[0]", "--class", "storage", "--no-headers")
	if diff := cmp.Diff(strings.Repeat("storage"+"   "+"storage\n", 3), g.Out.String()); diff != "" {
		t.Error(diff)
	}
	g.Run("get", "pg", "sample", "-o", "custom-columns=class,PVC,PHASE:.podPhase", "--class", "log", "--no-headers")
	if !strings.HasPrefix(g.Out.String(), "log   sample-log-") || !strings.HasSuffix(g.Out.String(), "-data   Running\n") {
		t.Errorf("columns by title: %q", &g.Out)
	}
	if code := g.Run("get", "pg", "sample", "-o", "custom-columns=PODS"); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "no column PODS; the columns are SITE, CLUSTER, ID,") {
		t.Errorf("a title that no column has: exit code %d: %s", code, &g.Err)
	}
	if code := g.Run("get", "pg", "sample", "--removing"); code != exit.ExitDone || g.Out.Len() > 0 || !strings.Contains(g.Err.String(), "no process group of sample matches") {
		t.Errorf("an empty list: exit code %d, %s%s", code, &g.Out, &g.Err)
	}
	if code := g.Run("get", "everything"); code != exit.ExitUsage || !strings.Contains(g.Err.String(), "process-groups") {
		t.Errorf("exit code %d: %s", code, &g.Err)
	}
}

func TestReadCommandsWithWatchContinueUntilInterrupted(t *testing.T) {
	g := commandstest.Up(t)
	for _, args := range [][]string{{"status", "sample", "-w", "-o", "json"}, {"get", "pg", "sample", "-w", "-o", "json"}, {"get", "locks", "sample", "-w", "-o", "json"}, {"get", "clusters", "-w", "-o", "json"}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		shown := 0
		env := g.Environment()
		env.Out = commandstest.OnWrite(func(line string) {
			if err := json.Unmarshal([]byte(line), &struct{}{}); err != nil || strings.Count(line, "\n") != 1 {
				t.Errorf("no object in one line: %s", line)
			}
			if shown++; shown == 3 {
				cancel(&exit.InterruptedError{Signal: os.Interrupt})
			}
		})
		if code := commands.Run(ctx, env, args); code != exit.ExitInterrupted || shown != 3 {
			t.Errorf("%q: exit code %d after %d documents", args, code, shown)
		}
	}
}

func TestCompletionListsNamesFromTheCluster(t *testing.T) {
	g := commandstest.Up(t)
	g.Cluster.Taints = map[string][]corev1.Taint{"node-1": {{Key: "example.com/maintenance", Effect: corev1.TaintEffectNoSchedule}}}
	tests := map[string]struct {
		args []string
		want string
	}{
		"clusters":                            {args: []string{"status", ""}, want: "sample\n"},
		"process groups":                      {args: []string{"get", "pg", "sample", "--process-group", ""}, want: string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID) + "\n"},
		"after a cluster, its process groups": {args: []string{"exclusion", "status", "sample", ""}, want: string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID) + "\n"},
		"process groups of why":               {args: []string{"why", "sample", ""}, want: string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID) + "\n"},
		"process groups to describe":          {args: []string{"describe", "pg", "sample", ""}, want: string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID) + "\n"},
		"process groups to ask about":         {args: []string{"can", "delete", "sample", ""}, want: string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID) + "\n"},
		"process groups to replace":           {args: []string{"can", "replace", "-c", "sample", ""}, want: string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID) + "\n"},
		"nodes of process groups":             {args: []string{"get", "pg", "sample", "--node", ""}, want: "node-1\n"},
		"nodes to drain":                      {args: []string{"can", "drain", ""}, want: "node-1\n"},
		"keys of taints":                      {args: []string{"cordon", "--taint", ""}, want: "example.com/maintenance\n"},
		"pods":                                {args: []string{"exec", "sample", "--pod", ""}, want: "sample-" + string(g.Cluster.Resource.Status.ProcessGroups[0].ProcessGroupID) + "\n"},
		"conditions":                          {args: []string{"get", "pg", "sample", "--condition", "Pod"}, want: "PodFailing\n"},
		"steps":                               {args: []string{"plan", "--only", ""}, want: "AddPods\n"},
		"contexts":                            {args: []string{"status", "--context", ""}, want: "test\n"},
		"shells":                              {args: []string{"completion", ""}, want: "zsh\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g.Run(append([]string{"__complete"}, tc.args...)...)
			if !strings.Contains(g.Out.String(), tc.want) {
				t.Errorf("no %q in %s%s", tc.want, &g.Out, &g.Err)
			}
		})
	}
}

func TestColors(t *testing.T) {
	g := commandstest.Up(t)
	g.Cluster.Resource.Status.ProcessGroups[0].MarkForRemoval(g.Cluster.Now())
	lists := []string{"status sample", "get pg sample", "get clusters", "get coordinators sample"}
	tests := map[string]struct {
		args     []string
		env      map[string]string
		terminal bool
		want     bool
	}{
		"none in a pipe":                   {},
		"on a terminal":                    {env: map[string]string{"TERM": "xterm", "COLUMNS": "400"}, terminal: true, want: true},
		"not on a dumb terminal":           {env: map[string]string{"TERM": "dumb", "COLUMNS": "400"}, terminal: true},
		"not on a terminal with NO_COLOR":  {env: map[string]string{"NO_COLOR": "1", "COLUMNS": "400"}, terminal: true},
		"when they are requested":          {args: []string{"--color", "always"}, want: true},
		"when the environment requires it": {env: map[string]string{"CLICOLOR_FORCE": "1"}, want: true},
		"not with NO_COLOR":                {env: map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}},
		"not when they are refused":        {args: []string{"--color", "never"}, env: map[string]string{"CLICOLOR_FORCE": "1"}},
		"not in documents":                 {args: []string{"--color", "always", "-o", "json"}},
		"not in custom columns":            {args: []string{"--color", "always", "-o", "custom-columns=KIND:.kind"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g.Env, g.Terminal = tc.env, tc.terminal
			for _, list := range lists {
				g.Run(append(strings.Fields(list), tc.args...)...)
				if got := strings.Contains(g.Out.String(), "\x1b["); got != tc.want {
					t.Errorf("%s: colors %t, want %t", list, got, tc.want)
				}
			}
		})
	}
}

func TestExitCodesOfErrors(t *testing.T) {
	tests := map[string]struct {
		err  error
		want int
	}{
		"none":            {nil, exit.ExitDone},
		"an answer":       {exit.AnswerError{Code: exit.ExitNo}, exit.ExitNo},
		"forbidden":       {commandstest.ErrForbidden, exit.ExitForbidden},
		"someone's write": {commandstest.ErrConflict, exit.ExitConflict},
		"no answer":       {commandstest.ErrNoAnswer, exit.ExitUnreachable},
		"not there":       {&live.NotFoundError{}, exit.ExitUsage},
		"not valid":       {&live.InvalidResourceError{Err: errors.New("x")}, exit.ExitUsage},
		"a mistake":       {exit.Usagef("x"), exit.ExitUsage},
		"Ctrl-C":          {&exit.InterruptedError{Signal: os.Interrupt}, exit.ExitInterrupted},
		"a lost terminal": {&exit.InterruptedError{Signal: syscall.SIGHUP}, exit.ExitHungUp},
		"--timeout":       {exit.ErrTimeout, exit.ExitWaiting},
		"anything else":   {errors.New("x"), exit.ExitInternal},
	}
	for name, tc := range tests {
		if got := exit.Code(tc.err); got != tc.want {
			t.Errorf("%s: exit code %d, want %d", name, got, tc.want)
		}
	}
}

func TestTheMapOfAStatusStandsInForItsSections(t *testing.T) {
	g := commandstest.Up(t)
	g.Run("status", "sample", "--map")
	out := g.Out.String()
	for _, want := range []string{"fdb/sample\n", "Available: ", "\nstorage ", "\nstateless "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "Fault tolerance") {
		t.Errorf("a section in\n%s", out)
	}
}
