package node

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func podNamed(name, address string, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: map[string]string{"app": "fdb"}},
		Spec:       corev1.PodSpec{Hostname: name, Subdomain: "cluster"},
		Status:     corev1.PodStatus{PodIP: address, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
	}
}

func TestPodsResolveByTheirServiceDNSNames(t *testing.T) {
	headless := func(publish bool) *corev1.Service {
		return &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "cluster", Namespace: "ns"},
			Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": "fdb"}, PublishNotReadyAddresses: publish},
		}
	}
	pods := []*corev1.Pod{
		podNamed("s-1", "127.0.1.1", corev1.ConditionTrue), podNamed("s-2", "127.0.1.2", corev1.ConditionFalse), podNamed("s-3", "", corev1.ConditionTrue),
	}
	tests := map[string]struct {
		service *corev1.Service
		name    string
		want    []string
	}{
		"a ready pod has its name":              {headless(false), "s-1.cluster.ns.svc.cluster.local", []string{"127.0.1.1"}},
		"the short name works too":              {headless(false), "s-1.cluster.ns", []string{"127.0.1.1"}},
		"a pod that is not ready has none":      {headless(false), "s-2.cluster.ns.svc.cluster.local", nil},
		"unless the service publishes it":       {headless(true), "s-2.cluster.ns.svc.cluster.local", []string{"127.0.1.2"}},
		"a pod without an address has none":     {headless(true), "s-3.cluster.ns.svc.cluster.local", nil},
		"the service's name is all of its pods": {headless(true), "cluster.ns.svc.cluster.local", []string{"127.0.1.1", "127.0.1.2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var h Hosts
			h.set(names(pods, []*corev1.Service{test.service}))
			found, err := h.Resolve(test.name)
			if (err != nil) != (test.want == nil) {
				t.Fatalf("resolving: %v", err)
			}
			var got []string
			for _, a := range found {
				got = append(got, a.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSandboxPodAddressesAreUniqueAndStable(t *testing.T) {
	a := newAddresses(netip.MustParsePrefix("127.3.0.0/16"))
	a.keep("old", "127.3.1.1")
	got := map[string]string{}
	for _, uid := range []types.UID{"old", "new", "other", "new"} {
		address, err := a.of(uid)
		if err != nil {
			t.Fatal(err)
		}
		got[string(uid)] = address.String()
	}
	a.free("new")
	next, err := a.of("next")
	if err != nil {
		t.Fatal(err)
	}
	got["next"] = next.String()
	want := map[string]string{"old": "127.3.1.1", "new": "127.3.1.2", "other": "127.3.1.3", "next": "127.3.1.2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNetworkMustBeLoopback(t *testing.T) {
	for _, text := range []string{"10.0.0.0/16", "127.0.0.0/8", "127.1.2.0/16", "::1/16", "x"} {
		if _, err := ParseNetwork(text); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
}

func TestPodPhaseFollowsContainerStates(t *testing.T) {
	running := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	ended := func(code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
	}
	crashed := corev1.ContainerStatus{
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: ended(1).State,
	}
	waiting := corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}}
	tests := map[string]struct {
		policy      corev1.RestartPolicy
		initialized bool
		statuses    []corev1.ContainerStatus
		want        corev1.PodPhase
	}{
		"init containers come first":            {corev1.RestartPolicyAlways, false, []corev1.ContainerStatus{waiting}, corev1.PodPending},
		"one container was never started":       {corev1.RestartPolicyAlways, true, []corev1.ContainerStatus{running, waiting}, corev1.PodPending},
		"a crash loop is a running pod":         {corev1.RestartPolicyAlways, true, []corev1.ContainerStatus{running, crashed}, corev1.PodRunning},
		"all containers ended well":             {corev1.RestartPolicyNever, true, []corev1.ContainerStatus{ended(0)}, corev1.PodSucceeded},
		"one container ended badly":             {corev1.RestartPolicyNever, true, []corev1.ContainerStatus{ended(0), ended(1)}, corev1.PodFailed},
		"a container about to start again runs": {corev1.RestartPolicyAlways, true, []corev1.ContainerStatus{ended(1)}, corev1.PodRunning},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: test.policy}}
			if got := phase(pod, test.initialized, test.statuses); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestPodStatusPatchContainsTheUID(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u"}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	none, err := statusPatch(pod, pod.Status)
	if err != nil || none != nil {
		t.Errorf("a status that did not change gives patch %s, error %v", none, err)
	}
	patch, err := statusPatch(pod, corev1.PodStatus{Phase: corev1.PodRunning})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"metadata":{"uid":"u"},"status":{"phase":"Running"}}`, string(patch)); diff != "" {
		t.Error(diff)
	}
}

func TestContainerLogsHonorTheQueryParameters(t *testing.T) {
	log := "2026-01-01T00:00:00Z one\n2026-01-01T00:00:01Z two\n2026-01-01T00:00:02Z three\n"
	now := time.Date(2026, 1, 1, 0, 0, 2, 0, time.UTC)
	tests := map[string]struct{ query, want string }{
		"everything":        {"", "one\ntwo\nthree\n"},
		"the last lines":    {"tailLines=2", "two\nthree\n"},
		"no line":           {"tailLines=0", ""},
		"since a while ago": {"sinceSeconds=1", "two\nthree\n"},
		"with their times":  {"timestamps=true&tailLines=1", "2026-01-01T00:00:02Z three\n"},
		"a number of bytes": {"limitBytes=5", "one\nt"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			q, err := url.ParseQuery(test.query)
			if err != nil {
				t.Fatal(err)
			}
			request, err := parseLogRequest(q, now)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			l := &limitedLines{w: &got, left: request.limit, request: request}
			if err := l.existing(strings.NewReader(log)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestContainerArgumentsExpandEnvironmentVariables(t *testing.T) {
	e := environment{"A": "x"}
	got := e.expand([]string{"$(A)-$(B)", "$$(A)"})
	if diff := cmp.Diff([]string{"x-$(B)", "$(A)"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPodsAreSettledWhenTheyAreReadyOrHaveEnded(t *testing.T) {
	now := metav1.Now()
	ready := corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	tests := map[string]struct {
		pod  corev1.Pod
		want bool
	}{
		"a ready pod":                    {corev1.Pod{Status: ready}, true},
		"a job's pod that has succeeded": {corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, true},
		"a pod that has failed":          {corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}, true},
		"a pod that is not scheduled":    {corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}, false},
		"a running pod that is not ready": {corev1.Pod{Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
		}}, false},
		"a ready pod that terminates": {corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}, Status: ready}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := settled(&tc.pod); got != tc.want {
				t.Errorf("settled %t, want %t", got, tc.want)
			}
		})
	}
}

func TestNodesReportSeveralTimesBeforeTheyCountAsLost(t *testing.T) {
	for grace, want := range map[time.Duration]time.Duration{
		0: 200 * time.Millisecond, 10 * time.Second: 2 * time.Second, time.Minute: 10 * time.Second, time.Hour: 10 * time.Second,
	} {
		if got := heartbeatOf(grace); got != want {
			t.Errorf("grace %s: every %s, want every %s", grace, got, want)
		}
	}
}
