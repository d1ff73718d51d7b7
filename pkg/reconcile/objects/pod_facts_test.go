package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func podWith(annotations map[string]string, containers ...corev1.Container) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: annotations}, Spec: corev1.PodSpec{Containers: containers}}
}

func TestLaunchSettingsAreReadFromThePod(t *testing.T) {
	storage := v1beta2.ProcessClassStorage
	unified := map[string]string{v1beta2.AnnotationImageType: "unified"}
	servers := func(value string) corev1.Container {
		return corev1.Container{Env: []corev1.EnvVar{{Name: "STORAGE_SERVERS_PER_POD", Value: value}}}
	}
	tests := map[string]struct {
		pod  *corev1.Pod
		want Launch
		err  bool
	}{
		"annotated": {
			pod: podWith(map[string]string{v1beta2.AnnotationImageType: "unified", v1beta2.AnnotationIPFamily: "6"}, servers("2")),
			want: Launch{
				Class: storage, ImageType: v1beta2.ImageTypeUnified, Servers: 2, IPFamily: 6,
			},
		},
		"a split pod without annotations": {
			pod:  podWith(nil),
			want: Launch{Class: storage, ImageType: v1beta2.ImageTypeSplit, Servers: 1},
		},
		"a split pod whose sidecar has the IP family": {
			pod:  podWith(nil, corev1.Container{Args: []string{"--public-ip-family", "4"}}),
			want: Launch{Class: storage, ImageType: v1beta2.ImageTypeSplit, Servers: 1, IPFamily: 4},
		},
		"a unified pod whose monitor reports the IP family": {
			pod: podWith(map[string]string{
				v1beta2.AnnotationImageType:            "unified",
				v1beta2.AnnotationCurrentConfiguration: `{"version":"7.3.79","arguments":[{"type":"Concatenate","values":[{"value":"["},{"type":"IPList","source":"FDB_PUBLIC_IP","ipFamily":6}]}]}`,
			}),
			want: Launch{Class: storage, ImageType: v1beta2.ImageTypeUnified, Servers: 1, IPFamily: 6},
		},
		"a unified pod whose monitor uses any address": {
			pod: podWith(map[string]string{
				v1beta2.AnnotationImageType:            "unified",
				v1beta2.AnnotationCurrentConfiguration: `{"version":"7.3.79","arguments":[{"value":"--class=storage"}]}`,
			}),
			want: Launch{Class: storage, ImageType: v1beta2.ImageTypeUnified, Servers: 1},
		},
		"a unified pod without a setting":     {pod: podWith(unified), err: true},
		"an unknown IP family":                {pod: podWith(map[string]string{v1beta2.AnnotationIPFamily: "5"}), err: true},
		"a number of servers that is none":    {pod: podWith(nil, servers("two")), err: true},
		"a pod made for less than one server": {pod: podWith(nil, servers("0")), err: true},
		"a configuration that cannot be read": {
			pod: podWith(map[string]string{v1beta2.AnnotationImageType: "unified", v1beta2.AnnotationCurrentConfiguration: "{"}),
			err: true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := LaunchOf(tt.pod, storage)
			if (err != nil) != tt.err {
				t.Fatalf("error %v, want one: %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPublicIPs(t *testing.T) {
	tests := map[string]struct {
		annotations map[string]string
		ips         []string
		want        []string
	}{
		"the pod's own":              {ips: []string{"10.1.0.9", "fd00::9"}, want: []string{"10.1.0.9"}},
		"of the configured family":   {annotations: map[string]string{v1beta2.AnnotationIPFamily: "6"}, ips: []string{"10.1.0.9", "fd00::9"}, want: []string{"fd00::9"}},
		"none of that family":        {annotations: map[string]string{v1beta2.AnnotationIPFamily: "6"}, ips: []string{"10.1.0.9"}},
		"none yet":                   {},
		"of its service":             {annotations: map[string]string{v1beta2.AnnotationPublicIPSource: "service", v1beta2.AnnotationPublicIP: "10.2.0.1"}, ips: []string{"10.1.0.9"}, want: []string{"10.2.0.1"}},
		"of a service without an IP": {annotations: map[string]string{v1beta2.AnnotationPublicIPSource: "service"}, ips: []string{"10.1.0.9"}},
		"an unknown source is a pod": {annotations: map[string]string{v1beta2.AnnotationPublicIPSource: "moon"}, ips: []string{"10.1.0.9"}, want: []string{"10.1.0.9"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pod := podWith(tt.annotations)
			for _, ip := range tt.ips {
				pod.Status.PodIPs = append(pod.Status.PodIPs, corev1.PodIP{IP: ip})
				pod.Status.PodIP = tt.ips[0]
			}
			got, err := PublicIPs(pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMonitorVariablesAreReadFromThePodAnnotation(t *testing.T) {
	got, err := Variables(podWith(map[string]string{v1beta2.AnnotationEnvironment: `{"BINARY_DIR":"/usr/bin","FDB_ZONE_ID":"a"}`}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"BINARY_DIR": "/usr/bin", "FDB_ZONE_ID": "a"}, got); diff != "" {
		t.Error(diff)
	}
	if got, err := Variables(podWith(nil)); got != nil || err != nil {
		t.Errorf("a pod that reports nothing has %v, %v; want neither", got, err)
	}
	if got, err := Variables(podWith(map[string]string{v1beta2.AnnotationEnvironment: "["})); err == nil {
		t.Errorf("unreadable variables are %v; want an error", got)
	}
}

func TestLaunchSettingsOfACreatedPodMatchTheSpec(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			c := sample(t, kind.given...)
			pod, err := Pod(c, kind.group)
			if err != nil {
				t.Fatal(err)
			}
			got, err := LaunchOf(pod, kind.group.ProcessClass)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(DesiredLaunch(c, kind.group.ProcessClass), got); diff != "" {
				t.Errorf("launch (-want +got):\n%s", diff)
			}
			if !HasListenIP(pod) {
				t.Error("the pod does not know the IP to listen on")
			}
			if labels, annotations := NewGroupMetadata(c).OfPod(kind.group, pod); labels != nil || annotations != nil {
				t.Errorf("a new pod lacks labels %v and annotations %v", labels, annotations)
			}
		})
	}
}

func TestWhichPodsCountAsServing(t *testing.T) {
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"one that is ready":                          {func(*corev1.Pod) {}, true},
		"one whose readiness nothing reports":        {func(p *corev1.Pod) { p.Status.Conditions = nil }, true},
		"not one that is unready":                    {func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }, false},
		"not one of a node that stopped reporting":   {func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionUnknown }, false},
		"not one that is pending without conditions": {func(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: corev1.PodPending} }, false},
		"not one that is being deleted":              {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
			tc.change(pod)
			if got := Serves(pod); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
