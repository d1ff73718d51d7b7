package findings_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/describe"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/frame"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/inspecttest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/why"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/stages/stagestest"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/metrics"
)

// answers are the documents of the commands about one cluster.
type answers struct {
	facts  inspect.Facts
	status inspect.StatusView
	why    why.Report
	check  check.Report
	frame  frame.Frame
}

var (
	meta     = inspect.Metadata{Cluster: "sample", Namespace: "fdb"}
	commands = inspect.Commands{FDB: line("kubectl fdb"), Kubectl: line("kubectl")}
)

func line(program string) func(...string) string {
	return func(words ...string) string { return program + " " + strings.Join(words, " ") }
}

func ask(f inspect.Facts) answers {
	a := answers{facts: f, status: inspect.NewStatusView(meta, f), why: why.NewReport(meta, why.Input{Facts: f, Commands: commands})}
	a.check = check.NewReport(meta, check.Facts{Facts: f, Status: a.status, Resource: f.Cluster}, check.Options{FailOn: check.Error, Command: commands.Kubectl})
	a.frame = frame.NewFrame(meta, frame.Input{Facts: f, History: &inspect.DrainHistory{}})
	return a
}

// recorded are the clusters of the recorded status documents.
func recorded(t *testing.T) map[string]inspect.Facts {
	t.Helper()
	clusters := map[string]inspect.Facts{}
	add := func(name string, g inspecttest.Given) {
		clusters[name] = inspect.Facts{Snapshot: g.Snapshot, Gaps: g.Gaps, Desired: g.Desired, Recorded: g.Recorded, Lease: inspect.Lease{Read: true}}
	}
	for _, name := range inspecttest.Documents(t) {
		g := inspecttest.Healthy(t)
		g.Snapshot.Database.Status = inspecttest.Recorded(t, name)
		add("the document "+name, g)
	}
	add("a healthy database", inspecttest.Healthy(t))
	add("no quorum", inspecttest.WithoutQuorum(t))
	add("no answer", inspecttest.Unanswered(t))
	add("a tainted node", inspecttest.Tainted(t))
	add("clients", inspecttest.Connected(t))
	unhealthy := inspecttest.Healthy(t)
	unhealthy.Snapshot.Database.Status.Client.DatabaseStatus.Healthy = false
	add("a database that does not call itself healthy, without a reason", unhealthy)
	fewer := inspecttest.Healthy(t)
	fewer.Snapshot.Database.Status.Client.Coordinators.Coordinators[0].Reachable = false
	add("a coordinator that does not answer", fewer)
	partial := inspecttest.Unanswered(t)
	partial.Snapshot.Database.Partial = inspecttest.WithoutQuorum(t).Snapshot.Database.Status
	add("no quorum in an incomplete document", partial)
	return clusters
}

// fault breaks one thing of a cluster that all stages would leave alone.
type fault struct {
	given func(*plan.Snapshot)
	// want are the findings beside that of the fault tolerance, and cause the one that why names as the cause of the rest.
	want  []string
	cause string
	// states are those of `status` and `why`.
	status inspect.State
	why    why.State
}

var faults = map[string]fault{
	"nothing":                     {func(*plan.Snapshot) {}, nil, "", inspect.StateHealthy, why.Ready},
	"a missing pod":               {silentAnd(stagestest.LosePod), []string{"PG-001", "POD-001"}, "POD-001", inspect.StateDegraded, why.Blocked},
	"a pod that starts":           {silentAnd(podWith(waits("ContainerCreating", time.Minute))), []string{"PG-001", "POD-003"}, "POD-003", inspect.StateDegraded, why.Blocked},
	"a pod that has long started": {silentAnd(podWith(waits("ContainerCreating", time.Hour))), []string{"PG-001", "POD-003"}, "POD-003", inspect.StateDegraded, why.Blocked},
	"a container that crashes":    {silentAnd(podWith(waits("CrashLoopBackOff", time.Hour))), []string{"PG-001", "POD-003"}, "POD-003", inspect.StateDegraded, why.Blocked},
	"a sidecar that crashes":      {podWith(sidecar("CrashLoopBackOff", time.Hour)), []string{"POD-003"}, "POD-003", inspect.StateDegraded, why.Blocked},
	"a sidecar that starts":       {podWith(sidecar("ContainerCreating", time.Minute)), []string{"POD-003"}, "POD-003", inspect.StateDegraded, why.Waiting},
	"an image of an init container": {silentAnd(podWith(func(p *corev1.Pod) {
		waits("PodInitializing", time.Hour)(p)
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}
	})), []string{"PG-001", "POD-003"}, "POD-003", inspect.StateDegraded, why.Blocked},
	"a container that is not ready without a reason": {podWith(func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Ready = false }), []string{"POD-003"}, "POD-003", inspect.StateDegraded, why.Blocked},
	"a pod that was evicted":                         {silentAnd(podWith(func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted" })), []string{"PG-001", "POD-003"}, "POD-003", inspect.StateDegraded, why.Blocked},
	"a pod without a node": {silentAnd(podWith(func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", LastTransitionTime: metav1.NewTime(stagestest.Noon.Add(-38 * time.Minute)),
		}}}
	})), []string{"PG-001", "POD-002"}, "POD-002", inspect.StateDegraded, why.Blocked},
	"a pod in its grace period":     {podWith(terminates(-20 * time.Second)), nil, "", inspect.StateHealthy, why.Blocked},
	"a pod that is overdue":         {silentAnd(podWith(terminates(time.Minute))), []string{"PG-001"}, "", inspect.StateDegraded, why.Blocked},
	"a pod that does not terminate": {silentAnd(podWith(terminates(time.Hour))), []string{"PG-001", "POD-004"}, "POD-004", inspect.StateDegraded, why.Blocked},
	"processes that do not report":  {silentAnd(), []string{"PG-001"}, "PG-001", inspect.StateDegraded, why.Blocked},
	"one of two processes of a pod, which runs as many as it was created for": {podWith(setServers("2")), []string{"PG-001"}, "PG-001", inspect.StateDegraded, why.Blocked},
	"a node that is not ready":                            {silentAnd(onNode(notReady)), []string{"NODE-003", "PG-001"}, "NODE-003", inspect.StateDegraded, why.Blocked},
	"a node that is not ready and whose processes report": {onNode(notReady), []string{"NODE-003"}, "NODE-003", inspect.StateHealthy, why.Blocked},
	"a node that was deleted":                             {silentAnd(onNode(deleted)), []string{"NODE-003", "PG-001"}, "NODE-003", inspect.StateDegraded, why.Blocked},
	"a missing pod of a deleted node":                     {silentAnd(stagestest.LosePod, onNode(deleted)), []string{"NODE-003", "PG-001", "POD-001"}, "POD-001", inspect.StateDegraded, why.Blocked},
	"a group that is being replaced":                      {silentAnd(stagestest.MarkFirst), nil, "", inspect.StateDegraded, why.Waiting},
	"an invalid spec, and a pod that crashes and reports": {stagestest.All(podWith(waits("CrashLoopBackOff", time.Hour)), func(s *plan.Snapshot) {
		s.InvalidSpec = []plan.InvalidField{{Field: "spec.version", Message: "spec.version: Invalid value"}}
	}), []string{"POD-003"}, "POD-003", inspect.StateDegraded, why.Blocked},
}

// silentAnd removes the processes of the first storage group from the database, and breaks more.
func silentAnd(more ...func(*plan.Snapshot)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		g := stagestest.FirstOf(*s, "storage")
		stagestest.All(more...)(s)
		for key, p := range s.Database.Status.Cluster.Processes {
			if p.InstanceID() == string(g.ProcessGroupID) {
				delete(s.Database.Status.Cluster.Processes, key)
			}
		}
	}
}

func podWith(edit func(*corev1.Pod)) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) { edit(stagestest.FirstPod(s)) }
}

func waits(reason string, since time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.CreationTimestamp = metav1.NewTime(stagestest.Noon.Add(-since))
		p.Status.ContainerStatuses[0] = corev1.ContainerStatus{Name: v1beta2.ContainerMain, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
	}
}

func terminates(ago time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(stagestest.Noon.Add(-ago))), new(int64(30))
	}
}

func sidecar(reason string, since time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.CreationTimestamp = metav1.NewTime(stagestest.Noon.Add(-since))
		p.Status.ContainerStatuses[1] = corev1.ContainerStatus{Name: v1beta2.ContainerSidecar, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
	}
}

func setServers(n string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Env = append(p.Spec.Containers[0].Env, corev1.EnvVar{Name: v1beta2.ProcessClassStorage.ServersPerPodVariable(), Value: n})
	}
}

func deleted(*corev1.Node) *corev1.Node { return nil }

// onNode reads all nodes, and edits that of the first storage group.
func onNode(edit func(*corev1.Node) *corev1.Node) func(*plan.Snapshot) {
	return func(s *plan.Snapshot) {
		s.Nodes = map[string]*corev1.Node{}
		for _, p := range s.Pods {
			s.Nodes[p.Spec.NodeName] = &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: p.Spec.NodeName},
				Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
			}
		}
		name := string(stagestest.FirstOf(*s, "storage").FaultDomain)
		s.Nodes[name] = edit(s.Nodes[name])
	}
}

func notReady(n *corev1.Node) *corev1.Node {
	n.Status.Conditions[0] = corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", LastTransitionTime: metav1.NewTime(stagestest.Noon.Add(-10 * time.Minute)),
	}
	return n
}

func TestEachFaultOfAPodOrNodeIsItsFindings(t *testing.T) {
	for name, tc := range faults {
		t.Run(name, func(t *testing.T) {
			s := stagestest.HealthyCluster(t)
			q := s.Database.Status.Cluster.QoS
			q.TransactionsPerSecondLimit, q.PerformanceLimitedBy = new(1e6), &fdb.Limit{Name: fdb.LimitWorkload}
			s.Database.Status.Cluster.FaultTolerance = &fdb.ZoneTolerance{WithoutLosingData: new(1), WithoutLosingAvailability: new(1)}
			tc.given(&s)
			a := ask(session.Judged(inspect.Facts{Lease: inspect.Lease{Read: true}}, s))
			a.agree(t)
			got := slices.DeleteFunc(slices.Sorted(maps.Keys(byCode(a.status.Findings))), func(code string) bool { return code == inspect.CodeTolerance })
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if got := a.cause(); got != tc.cause {
				t.Errorf("why has the cause %q, want %q: %s", got, tc.cause, a.why.Summary)
			}
			for _, found := range a.status.Findings {
				if found.Code == inspect.CodeNotReporting && tc.cause != found.Code && tc.cause != "" && !slices.Contains(found.Causes, tc.cause) {
					t.Errorf("%s has the causes %v, want %s", found.Code, found.Causes, tc.cause)
				}
			}
			if a.status.State != tc.status || a.why.State != tc.why {
				t.Errorf("status has %q, and why has %s: %q", a.status.Summary, a.why.State, a.why.Summary)
			}
		})
	}
}

func TestCommandsAgreeAboutEachRecordedCluster(t *testing.T) {
	for name, f := range recorded(t) {
		t.Run(name, func(t *testing.T) { ask(f).agree(t) })
	}
}

// agree requires that no command calls good what another one calls trouble, and that all have the same codes, subjects
// and times.
func (a answers) agree(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(ofCheck(a.check), byCode(a.status.Findings), cmpopts.IgnoreFields(findings.View{}, "Causes")); diff != "" {
		t.Errorf("check and status:\n%s", diff)
	}
	if diff := cmp.Diff(a.status.Findings, a.frame.Status.Findings); diff != "" || a.frame.Status.Summary != a.status.Summary {
		t.Errorf("status and the dashboard:\n%s", diff)
	}
	a.errorsAreNamed(t)
	a.linksAreFindings(t)
	a.problemsAreFindings(t)
	a.metricsCountFindings(t)
	a.stateHasRules(t)
	a.groupsHaveTheirReports(t)
}

// groupsHaveTheirReports requires that a frame, also a recorded one, has what why prints about each process group.
func (a answers) groupsHaveTheirReports(t *testing.T) {
	t.Helper()
	in := why.Input{Facts: a.facts, Commands: commands}
	text, err := json.Marshal(why.NewReportWithGroups(meta, in))
	if err != nil {
		t.Fatal(err)
	}
	var recorded why.Report
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	for _, g := range a.facts.Groups() {
		in.Only = []v1beta2.ProcessGroupID{g.ProcessGroupID}
		if diff := cmp.Diff(a.printed(t, why.NewReport(meta, in)), a.printed(t, recorded.About(string(g.ProcessGroupID)))); diff != "" {
			t.Errorf("why %s, and the dashboard:\n%s", g.ProcessGroupID, diff)
		}
	}
}

func (a answers) printed(t *testing.T, v why.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := ui.WriteWhy(&b, v, ui.WhyOptions{ListOptions: ui.ListOptions{Now: a.facts.Now}}); err != nil {
		t.Fatal(err)
	}
	return string(v.State) + " " + b.String()
}

// cause returns the code of the first reason of a process group that has one.
func (a answers) cause() string {
	for _, c := range a.why.Items {
		for _, l := range c.Reasons {
			if l.Code != "" && c.IsOfGroups() {
				return l.Code
			}
		}
	}
	return ""
}

// ofCheck returns what the rules of check that status has as well have found.
func ofCheck(r check.Report) map[string][]findings.View {
	all := map[string][]findings.View{}
	for _, item := range r.Items {
		if !slices.ContainsFunc(inspect.FindingRules(), func(r findings.Rule[inspect.Facts]) bool { return r.Code == item.Rule }) {
			continue
		}
		for _, found := range item.Findings {
			all[item.Rule] = append(all[item.Rule], findings.View{Code: item.Rule, Severity: item.Severity, Subjects: found.Subjects, Since: found.Since, Message: found.Message})
		}
	}
	return all
}

func byCode(views []findings.View) map[string][]findings.View {
	all := map[string][]findings.View{}
	for _, v := range views {
		all[v.Code] = append(all[v.Code], v)
	}
	return all
}

// errorsAreNamed requires that no cluster with an error is called healthy, and that why has each of its process groups.
// One that is being removed counts for neither: what replaces it does.
func (a answers) errorsAreNamed(t *testing.T) {
	t.Helper()
	for _, found := range a.facts.Findings() {
		if len(found.Groups) == 0 && found.Severity.AtLeast(findings.Error) && a.status.State == inspect.StateHealthy {
			t.Errorf("%s is an error, and status has %q", found.Code, a.status.Summary)
		}
		for _, id := range found.Groups {
			if g := a.facts.Cluster.ProcessGroup(v1beta2.ProcessGroupID(id)); !found.Severity.AtLeast(findings.Error) || g.IsMarkedForRemoval() {
				continue
			}
			if a.status.State == inspect.StateHealthy {
				t.Errorf("%s is an error of %s, and status has %q", found.Code, id, a.status.Summary)
			}
			if !slices.ContainsFunc(a.why.Items, func(c why.Chain) bool { return slices.Contains(c.Subjects, id) }) {
				t.Errorf("%s is an error of %s, which why does not name: %s", found.Code, id, a.why.Summary)
			}
		}
	}
}

// linksAreFindings requires that each reason of why with a code is a finding of the same process group, since the same
// time or later: a finding about several has the first.
func (a answers) linksAreFindings(t *testing.T) {
	t.Helper()
	for _, c := range a.why.Items {
		for _, l := range c.Reasons {
			for _, id := range groupsOf(c, l) {
				if l.Code != "" && !a.finds(l.Code, id, l.Since) {
					t.Errorf("why has %s of %s since %v, and no finding is that: %+v", l.Code, id, l.Since, byCode(a.status.Findings)[l.Code])
				}
			}
		}
	}
}

func groupsOf(c why.Chain, l why.Link) []string {
	if l.Subject != "" {
		return []string{l.Subject}
	}
	return slices.DeleteFunc(slices.Clone(c.Subjects), func(id string) bool { return id == "cluster" || id == "database" })
}

func (a answers) finds(code, id string, since *time.Time) bool {
	return slices.ContainsFunc(a.facts.Findings(), func(found findings.Finding) bool {
		return found.Code == code && slices.Contains(found.Groups, id) && (since == nil) == found.Since.IsZero() && (since == nil || !since.Before(found.Since))
	})
}

// problemsAreFindings requires that what describe shows of a pod is what why has, and no finding is called well.
func (a answers) problemsAreFindings(t *testing.T) {
	t.Helper()
	for _, g := range a.facts.Groups() {
		d := describe.NewGroupDescription(meta, describe.Input{Input: why.Input{Facts: a.facts, Commands: commands}}, g)
		problem := a.facts.ProblemOf(g)
		if d.Pod != nil && (d.Pod.Problem == "") != (problem == nil) {
			t.Errorf("describe of %s has the problem %q, and why %+v", g.ProcessGroupID, d.Pod.Problem, problem)
		}
		if len(d.Why.Items) == 0 && slices.ContainsFunc(a.facts.Findings(), func(found findings.Finding) bool {
			return strings.HasPrefix(found.Code, "POD-") && slices.Contains(found.Groups, string(g.ProcessGroupID))
		}) {
			t.Errorf("%s is a finding, and describe has nothing about it", g.ProcessGroupID)
		}
	}
}

var counted = regexp.MustCompile(`(?m)^kubectl_fdb_findings\{code="([^"]+)",.*\} (\d+)$`)

// metricsCountFindings requires that metrics count the subjects that status has.
func (a answers) metricsCountFindings(t *testing.T) {
	t.Helper()
	m := metrics.NewObserved("sample", "fdb", func() time.Time { return a.facts.Now })
	m.Report(reconcile.Observed{Facets: plan.Everything, Snapshot: a.facts.Snapshot})
	var b bytes.Buffer
	if err := m.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	got, want := map[string]int{}, map[string]int{}
	for _, row := range counted.FindAllStringSubmatch(b.String(), -1) {
		if n, err := strconv.Atoi(row[2]); err != nil || n > 0 {
			got[row[1]] = n
		}
	}
	for _, found := range a.status.Findings {
		want[found.Code] += len(found.Subjects)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status and metrics:\n%s", diff)
	}
}

// stateHasRules requires that check passes no cluster that status does not call healthy, and no rule whose code is a
// reason of why.
func (a answers) stateHasRules(t *testing.T) {
	t.Helper()
	failing := slices.ContainsFunc(a.check.Items, func(i check.Item) bool {
		shared := i.Family == "AVAIL" || slices.ContainsFunc(inspect.FindingRules(), func(r findings.Rule[inspect.Facts]) bool { return r.Code == i.Rule })
		return shared && i.Outcome == check.Failed && i.Severity.AtLeast(check.Warning) || i.Rule == "AVAIL-001" && i.Outcome == check.NotChecked
	})
	if a.status.State != inspect.StateHealthy && !failing {
		t.Errorf("status has %q, and check finds nothing: %s", a.status.Summary, a.check.Text())
	}
	if quorum := a.status.Coordinators.QuorumReachable; quorum != nil && !*quorum && len(byCode(a.status.Findings)[inspect.CodeQuorum]) == 0 {
		t.Errorf("status has no quorum, and %s finds nothing", inspect.CodeQuorum)
	}
	for _, c := range a.why.Items {
		for _, l := range c.Reasons {
			if slices.ContainsFunc(a.check.Items, func(i check.Item) bool { return i.Rule == l.Code && i.Outcome == check.Passed }) {
				t.Errorf("why has %s (%s), which check passes", l.Code, l.Message)
			}
		}
	}
}
