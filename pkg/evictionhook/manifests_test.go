package evictionhook

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
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

// Whoever reaches the port can ask the webhook to act: its manifest keeps all pods but the metrics from it.
func TestOnlyWhatIsOutsideOfThePodNetworkReachesTheWebhook(t *testing.T) {
	objects := objectsIn(t, "webhook.yaml")
	policy, deployment := ofKind[networkingv1.NetworkPolicy](t, objects), ofKind[appsv1.Deployment](t, objects)
	if policy.Namespace != deployment.Namespace || !maps.Equal(policy.Spec.PodSelector.MatchLabels, deployment.Spec.Selector.MatchLabels) ||
		len(policy.Spec.PodSelector.MatchExpressions) > 0 || !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) {
		t.Errorf("it does not restrict the ingress of the pods of the Deployment: %+v", policy.Spec)
	}
	asked := false
	for _, rule := range policy.Spec.Ingress {
		if len(rule.Ports) != 1 || len(rule.From) == 0 {
			t.Fatalf("%+v, want one port and from where", rule)
		}
		port := rule.Ports[0].Port.String()
		if !slices.ContainsFunc(deployment.Spec.Template.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool { return p.Name == port }) {
			t.Errorf("the Deployment has no port %s", port)
		}
		if port == "metrics" {
			continue
		}
		asked = true
		for _, from := range rule.From {
			if from.PodSelector != nil || from.NamespaceSelector != nil || from.IPBlock == nil || len(from.IPBlock.Except) == 0 {
				t.Errorf("pods reach port %s: %+v", port, from)
			}
		}
	}
	if !asked {
		t.Error("the API server does not reach the webhook")
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
