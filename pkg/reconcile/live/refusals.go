package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/admission"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// AnnotationRefusals of a Lease are the objects that the API server did not accept when they were written last, as
// JSON; see plan.Refusal. An object that was created since is not among them.
const AnnotationRefusals = "kubectl-fdb/refusals"

// AnnotationRefusalsUID of a Lease is the UID of the cluster or backup whose objects were not accepted: the Lease outlives it.
// It is absent with the refusals of an older release.
const AnnotationRefusalsUID = "kubectl-fdb/refusals-uid"

// mostRefusals bounds how many refusals a Lease has.
const mostRefusals = 8

// RefusalsOf returns the refusals that a Lease has; none where they cannot be read.
func RefusalsOf(lease *coordinationv1.Lease) []plan.Refusal {
	var all []plan.Refusal
	if json.Unmarshal([]byte(lease.Annotations[AnnotationRefusals]), &all) != nil {
		return nil
	}
	return all[:min(len(all), mostRefusals)]
}

// RefusalsUID returns the UID of the cluster or backup whose refusals a Lease has; empty if it is unknown.
func RefusalsUID(lease *coordinationv1.Lease) types.UID {
	return types.UID(lease.Annotations[AnnotationRefusalsUID])
}

// refusals finds out why objects are not accepted, and remembers it until the Lease is released.
type refusals struct {
	*Options

	mu sync.Mutex
	// written are the kinds of which this run wrote an object since, refused what was not accepted.
	written map[string]bool
	refused []plan.Refusal
}

// after returns the error of a write as it is, or as a refusal by the rules of the namespace.
func (r *refusals) after(ctx context.Context, verb string, object client.Object, err error) error {
	kind, _ := kindAndResource(object)
	r.mu.Lock()
	if r.written == nil {
		r.written = map[string]bool{}
	}
	r.written[kind] = true
	r.mu.Unlock()
	if err == nil {
		return nil
	}
	found := r.explain(ctx, verb, object, err)
	if refused, is := errors.AsType[*reconcile.AdmissionError](found); is {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refused = append(r.refused, refused.Refusal)
	}
	return found
}

// explain returns a refusal where the user has the permission for the write, and the error as it is elsewhere.
func (r *refusals) explain(ctx context.Context, verb string, object client.Object, err error) error {
	cause, is := r.causeOf(ctx, verb, object, err)
	if !is {
		return err
	}
	kind, _ := kindAndResource(object)
	var status apierrors.APIStatus
	message := err.Error()
	if errors.As(err, &status) {
		message = status.Status().Message
	}
	refusal := plan.NewRefusal(kind, object.GetName(), cause.Kind, cause.By, strings.Join(strings.Fields(message), " "))
	refusal.Verb, refusal.Since = verb, r.Clock.Now().UTC().Truncate(time.Second)
	if cause.Kind == plan.RefusedAsInvalid {
		refusal.Field = firstField(err)
	}
	return &reconcile.AdmissionError{Refusal: refusal}
}

// causeOf returns which rule did not accept an object; false where it is none, or a missing permission. The code of
// the API server is the same for missing permissions and most rules, so its own review of the permission decides.
func (r *refusals) causeOf(ctx context.Context, verb string, object client.Object, err error) (admission.Cause, bool) {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return admission.Cause{Kind: plan.RefusedByNamespace}, true
	case apierrors.IsBadRequest(err), apierrors.IsInvalid(err) && namesField(err):
		return admission.Cause{Kind: plan.RefusedAsInvalid}, true
	case apierrors.IsInvalid(err):
		return admission.Cause{Kind: plan.RefusedByPolicy}, true
	case !apierrors.IsForbidden(err) || !r.permitted(ctx, verb, object):
		return admission.Cause{}, false
	}
	restricted := func() bool {
		pod, isPod := object.(*corev1.Pod)
		return isPod && r.Client.Create(ctx, admission.Restricted(pod), client.DryRunAll) == nil
	}
	return admission.Classify(ReadNamespace(ctx, r.Client, object.GetNamespace()), object, restricted), true
}

// namesField reports whether an error names fields, as validation does and policies do not.
func namesField(err error) bool { return firstField(err) != "" }

// firstField returns the first field that an error names; empty for none.
func firstField(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return ""
	}
	causes := status.Status().Details.Causes
	i := slices.IndexFunc(causes, func(c metav1.StatusCause) bool { return c.Field != "" })
	if i < 0 {
		return ""
	}
	return causes[i].Field
}

// permitted reports whether the API server permits a write by its rules of access. An unknown answer is no.
func (r *refusals) permitted(ctx context.Context, verb string, object client.Object) bool {
	_, of := kindAndResource(object)
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Namespace: object.GetNamespace(), Verb: verb, Group: of.Group, Resource: of.Resource,
	}}}
	return of.Resource != "" && r.Client.Create(ctx, review) == nil && review.Status.Allowed
}

// kindAndResource returns the kind of an object, and its resource with the API group; empty for others than passes write.
func kindAndResource(object client.Object) (kind string, of schema.GroupResource) {
	switch object.(type) {
	case *corev1.Pod:
		return plan.WrittenPod, schema.GroupResource{Resource: "pods"}
	case *corev1.PersistentVolumeClaim:
		return plan.WrittenPVC, schema.GroupResource{Resource: "persistentvolumeclaims"}
	case *corev1.Service:
		return plan.WrittenService, schema.GroupResource{Resource: "services"}
	case *corev1.ConfigMap:
		return plan.WrittenConfigMap, schema.GroupResource{Resource: "configmaps"}
	case *batchv1.CronJob:
		return plan.WrittenCronJob, schema.GroupResource{Group: "batch", Resource: "cronjobs"}
	case *policyv1.PodDisruptionBudget:
		return plan.WrittenBudget, schema.GroupResource{Group: "policy", Resource: "poddisruptionbudgets"}
	case *appsv1.Deployment:
		return plan.WrittenDeployment, schema.GroupResource{Group: "apps", Resource: "deployments"}
	default:
		return kindOf(object), of
	}
}

// kindOf returns the kind of an object, which is the name of its type: what the client reads has no TypeMeta.
func kindOf(object client.Object) string { return reflect.TypeOf(object).Elem().Name() }

// note stores the refusals of a resource with the Lease. Those of kinds that this run wrote are replaced: it tried all
// objects of them that are missing. It forgets them then, and those of another resource of the same name. What is stored
// stays where this run wrote nothing and does not know which resource it is.
func (r *refusals) note(lease *coordinationv1.Lease, of types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if of == "" && len(r.written) == 0 {
		return
	}
	before := RefusalsOf(lease)
	if RefusalsUID(lease) != of {
		before = nil
	}
	after := slices.Clone(r.refused)
	for i := range after {
		if at := slices.IndexFunc(before, after[i].Same); at >= 0 {
			after[i] = before[at] // since when it lasts
		}
	}
	for _, b := range before {
		if !r.written[b.ObjectKind] {
			after = append(after, b)
		}
	}
	r.refused, r.written = nil, nil
	delete(lease.Annotations, AnnotationRefusals)
	delete(lease.Annotations, AnnotationRefusalsUID)
	if len(after) == 0 {
		return
	}
	stable.Sort(after, func(a, b plan.Refusal) int {
		return cmp.Or(strings.Compare(a.ObjectKind, b.ObjectKind), strings.Compare(a.ObjectName, b.ObjectName))
	})
	text, err := json.Marshal(after[:min(len(after), mostRefusals)])
	if err != nil {
		return // never: it has strings and times only
	}
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, AnnotationRefusals, string(text))
	if of != "" {
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, AnnotationRefusalsUID, string(of))
	}
}
