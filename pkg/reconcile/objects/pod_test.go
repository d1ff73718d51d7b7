package objects

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// The operator's own tests expect this hash of the claim that it makes by default.
const operatorsDefaultClaim = "f0c8a45ea6c3dd26c2dc2b5f3c699f38d613dab273d0f8a6eae6abd9a9569063"

func TestDefaultPVCHashMatchesTheOperator(t *testing.T) {
	claim, err := PersistentVolumeClaim(sample(t), storage1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(operatorsDefaultClaim, claim.Annotations[v1beta2.AnnotationLastAppliedSpec]); diff != "" {
		t.Error(diff)
	}
}

func TestMainAndSidecarImagesDuringAnUpgrade(t *testing.T) {
	version := func(running, desired string) given {
		return func(c *v1beta2.FoundationDBCluster) { c.Status.RunningVersion, c.Spec.Version = running, desired }
	}
	const monitor, server, sidecar = "foundationdb/fdb-kubernetes-monitor:", "foundationdb/foundationdb:", "foundationdb/foundationdb-kubernetes-sidecar:"
	tests := map[string]struct {
		given         []given
		main, sidecar string
		argument      string
		sidecarSoon   string
	}{
		"no upgrade": {
			given: []given{version("7.3.79", "7.3.79")},
			main:  monitor + "7.3.79", sidecar: monitor + "7.3.79", argument: "7.3.79", sidecarSoon: monitor + "7.3.79",
		},
		"nothing runs yet": {
			given: []given{version("", "7.3.79")},
			main:  monitor + "7.3.79", sidecar: monitor + "7.3.79", argument: "7.3.79", sidecarSoon: monitor + "7.3.79",
		},
		"compatible: the pods change at once": {
			given: []given{version("7.3.43", "7.3.79")},
			main:  monitor + "7.3.79", sidecar: monitor + "7.3.79", argument: "7.3.79", sidecarSoon: monitor + "7.3.79",
		},
		"incompatible: pods stay, only the sidecar is changed in place": {
			given: []given{version("7.1.67", "7.3.79")},
			main:  monitor + "7.1.67", sidecar: monitor + "7.1.67", argument: "7.1.67", sidecarSoon: monitor + "7.3.79",
		},
		"incompatible with the split image": {
			given: []given{splitImage, version("7.1.67", "7.3.79")},
			main:  server + "7.1.67", sidecar: sidecar + "7.1.67-1", argument: "7.1.67", sidecarSoon: sidecar + "7.3.79-1",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := sample(t, tt.given...)
			spec, err := PodSpec(c, storage1)
			if err != nil {
				t.Fatal(err)
			}
			soon, err := SidecarImage(c, v1beta2.ProcessClassStorage)
			if err != nil {
				t.Fatal(err)
			}
			side := container(spec.Containers, v1beta2.ContainerSidecar)
			got := []string{container(spec.Containers, v1beta2.ContainerMain).Image, side.Image, valueAfter(side.Args, "--main-container-version"), soon}
			if diff := cmp.Diff([]string{tt.main, tt.sidecar, tt.argument, tt.sidecarSoon}, got); diff != "" {
				t.Errorf("main, sidecar, argument, sidecar wanted soon (-want +got):\n%s", diff)
			}
		})
	}
}

func valueAfter(arguments []string, flag string) string {
	for i, a := range arguments[:len(arguments)-1] {
		if a == flag {
			return arguments[i+1]
		}
	}
	return ""
}

func TestPodsOfInvalidTemplatesAreNotBuilt(t *testing.T) {
	tests := map[string]struct {
		given  func(*corev1.PodSpec) // changes the normalized template
		reason string
	}{
		"the template's image must not have a tag": {
			given:  func(spec *corev1.PodSpec) { spec.Containers[0].Image = "registry/fdb:1" },
			reason: "must not have a tag",
		},
		"the template asks for what the operator does not know": {
			given:  func(spec *corev1.PodSpec) { spec.SchedulingGroup = &corev1.PodSchedulingGroup{} },
			reason: "schedulingGroup",
		},
		"the cluster is not normalized": {
			given:  func(spec *corev1.PodSpec) { spec.Containers = nil },
			reason: "not normalized",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := sample(t)
			tt.given(&c.Spec.Processes[v1beta2.ProcessClassGeneral].PodTemplate.Spec)
			pod, err := Pod(c, storage1)
			if err == nil || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("got pod %v and error %v, want an error about %q", pod, err, tt.reason)
			}
		})
	}
}

func TestBuildingAPodOfAClusterThatIsNotNormalizedIsAnError(t *testing.T) {
	c := &v1beta2.FoundationDBCluster{Spec: v1beta2.FoundationDBClusterSpec{Version: "7.3.79"}}
	if pod, err := Pod(c, storage1); err == nil {
		t.Errorf("no error, but %v", pod)
	}
}

func TestBuggifyCrashLoopLeavesUserInitContainersUnchanged(t *testing.T) {
	c := sample(t, template(corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: v1beta2.ContainerInit}, {Name: "prepare"}},
	}}), func(c *v1beta2.FoundationDBCluster) {
		c.Spec.Buggify.CrashLoopContainers = []v1beta2.CrashLoopContainerObject{{ContainerName: "prepare", Targets: []v1beta2.ProcessGroupID{"*"}}}
	})
	spec, err := PodSpec(c, storage1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]corev1.Container{{Name: "prepare"}}, spec.InitContainers); diff != "" {
		t.Errorf("init containers (-want +got):\n%s", diff)
	}
}

func TestNewPodsAreAnnotatedWithConfigMapHashAndPublicIP(t *testing.T) {
	pod, err := Pod(sample(t), storage1)
	if err != nil {
		t.Fatal(err)
	}
	RecordConfigMap(pod, "hash")
	RecordPublicIP(pod, "10.2.0.1")
	got := []string{pod.Annotations["foundationdb.org/last-applied-config-map"], pod.Annotations["foundationdb.org/public-ip"]}
	if diff := cmp.Diff([]string{"hash", "10.2.0.1"}, got); diff != "" {
		t.Error(diff)
	}
}
