package evictionhook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
)

const manifestFolder = "../../manifests/eviction-webhook/"

// objectsIn are the objects of a manifest. A field that Kubernetes does not know is an error.
func objectsIn(t *testing.T, file string) (objects []runtime.Object) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(manifestFolder, file))
	if err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		o, _, err := decoder.Decode([]byte(document), nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		objects = append(objects, o)
	}
	return objects
}

func ofKind[T any](t *testing.T, objects []runtime.Object) *T {
	t.Helper()
	for _, o := range objects {
		if found, is := any(o).(*T); is {
			return found
		}
	}
	t.Fatalf("there is no %T", *new(T))
	return nil
}

func TestWebhookConfigurationsDifferOnlyInFailurePolicy(t *testing.T) {
	service := ofKind[corev1.Service](t, objectsIn(t, "webhook.yaml"))
	configurations := map[admissionregistrationv1.FailurePolicyType]string{
		admissionregistrationv1.Fail: "configuration-fail.yaml", admissionregistrationv1.Ignore: "configuration-ignore.yaml",
	}
	var texts []string
	for policy, file := range configurations {
		c := ofKind[admissionregistrationv1.ValidatingWebhookConfiguration](t, objectsIn(t, file))
		w := c.Webhooks[0]
		for want, ok := range map[string]bool{
			"its failure policy":            *w.FailurePolicy == policy,
			"no effects of dry runs":        *w.SideEffects == admissionregistrationv1.SideEffectClassNoneOnDryRun,
			"the version of the handler":    slices.Equal(w.AdmissionReviewVersions, []string{"v1"}),
			"evictions and nothing else":    len(w.Rules) == 1 && slices.Equal(w.Rules[0].Resources, []string{"pods/eviction"}) && slices.Equal(w.Rules[0].Operations, []admissionregistrationv1.OperationType{"CREATE"}),
			"only labeled namespaces":       len(w.NamespaceSelector.MatchLabels) == 1,
			"no selector of the Eviction":   w.ObjectSelector == nil,
			"time to observe":               *w.TimeoutSeconds == 15,
			"the path of the handler":       *w.ClientConfig.Service.Path == Path,
			"the Service of the Deployment": w.ClientConfig.Service.Name == service.Name && w.ClientConfig.Service.Namespace == service.Namespace && *w.ClientConfig.Service.Port == service.Spec.Ports[0].Port,
		} {
			if !ok {
				t.Errorf("%s has not %s", file, want)
			}
		}
		c.Webhooks[0].FailurePolicy = nil
		texts = append(texts, c.String())
	}
	if texts[0] != texts[1] {
		t.Error("the two configurations differ in more than their failure policy")
	}
}

// The webhook never keeps its own pods: its namespace is not judged.
func TestTheEvictionWebhookIgnoresItsOwnNamespace(t *testing.T) {
	objects := objectsIn(t, "webhook.yaml")
	namespace := ofKind[corev1.Namespace](t, objects)
	selector := ofKind[admissionregistrationv1.ValidatingWebhookConfiguration](t, objectsIn(t, "configuration-fail.yaml")).Webhooks[0].NamespaceSelector
	for key := range selector.MatchLabels {
		if _, has := namespace.Labels[key]; has {
			t.Errorf("the namespace of the webhook has the label %s", key)
		}
	}
	deployment := ofKind[appsv1.Deployment](t, objects)
	budget := ofKind[policyv1.PodDisruptionBudget](t, objects)
	if *deployment.Spec.Replicas < 2 || budget.Spec.MaxUnavailable.IntVal != 1 {
		t.Errorf("%d replicas, of which %s may be unavailable", *deployment.Spec.Replicas, budget.Spec.MaxUnavailable)
	}
	for key, value := range deployment.Spec.Selector.MatchLabels {
		if deployment.Spec.Template.Labels[key] != value || budget.Spec.Selector.MatchLabels[key] != value || ofKind[corev1.Service](t, objects).Spec.Selector[key] != value || OwnLabels()[key] != value {
			t.Errorf("label %s=%s is not that of pods, Service, budget and of what the webhook takes for its own", key, value)
		}
	}
}

func TestWebhookCertificateMatchesItsServiceAndSecret(t *testing.T) {
	text, err := os.ReadFile(manifestFolder + "certificate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects := objectsIn(t, "webhook.yaml")
	service := ofKind[corev1.Service](t, objects)
	secret := ofKind[appsv1.Deployment](t, objects).Spec.Template.Spec.Volumes[0].Secret.SecretName
	for _, want := range []string{"- " + service.Name + "." + service.Namespace + ".svc\n", "secretName: " + secret + "\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("certificate.yaml has no %q", want)
		}
	}
}
