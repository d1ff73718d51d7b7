package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// readDisruptionBudgets reads the PodDisruptionBudgets of the namespace: one of others that selects
// the same pods is in conflict with the cluster's. Missing permission is a fact.
func (r *reader) readDisruptionBudgets(ctx context.Context) (budgets map[string]*policyv1.PodDisruptionBudget, why string, err error) {
	budgets, err = listed[policyv1.PodDisruptionBudget](ctx, namespaced{r.Client, r.Key.Namespace}, nil, &policyv1.PodDisruptionBudgetList{})
	if hidden(err) {
		return nil, "listing PodDisruptionBudgets is forbidden; manifests/rbac/disruption-budgets.yaml allows it", nil
	}
	if err != nil {
		return nil, "", err
	}
	byName := make(map[string]*policyv1.PodDisruptionBudget, len(budgets))
	for _, b := range budgets {
		byName[b.Name] = b
	}
	return byName, "", nil
}

// readAgentsOf reads the pods of the agents of all backups of the cluster. A user who may drain
// nodes may lack the permission to list backups, and where no backup was ever made the API server
// need not know the kind.
func (r *reader) readAgentsOf(ctx context.Context) (plan.AgentFacts, error) {
	backups, err := listed[v1beta2.FoundationDBBackup](ctx, namespaced{r.Client, r.Key.Namespace}, nil, &v1beta2.FoundationDBBackupList{})
	switch {
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		return plan.AgentFacts{Pods: map[string]*corev1.Pod{}}, nil
	case hidden(err):
		return plan.AgentFacts{Hidden: "listing FoundationDBBackups is forbidden; manifests/rbac/backups.yaml allows it"}, nil
	case err != nil:
		return plan.AgentFacts{}, err
	}
	var deployments []string
	for _, b := range backups {
		if b.Spec.ClusterName == r.Key.Name {
			deployments = append(deployments, b.DeploymentName())
		}
	}
	slices.Sort(deployments)
	pods, err := r.agentPods(ctx, deployments...)
	return plan.AgentFacts{Pods: pods}, err
}

// changeEvictions carries out what makes the eviction rules hold for other clients.
func (w *objectWriter) changeEvictions(ctx context.Context, a plan.Action) error {
	switch a := a.(type) { //nolint:gochecksumtype // carryOut has all
	case plan.ApplyDisruptionBudget:
		if a.Create {
			return w.create(ctx, a.Object)
		}
		return w.update(ctx, a.Object.DeepCopy())
	case plan.DeleteDisruptionBudget:
		return w.deleteOne(ctx, &policyv1.PodDisruptionBudget{}, a.Name, a.UID)
	case plan.SetTolerations:
		return w.setTolerations(ctx, a)
	case plan.EvictAgent:
		if a.Evict {
			return w.evict(ctx, a.Name, a.UID)
		}
		return w.deletePod(ctx, a.Name, a.UID)
	default:
		return unsupported(a)
	}
}

// jsonPatch is one operation of a JSON patch.
type jsonPatch struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// setTolerations changes a pod without reading it again, which takes a permission that no pass
// needs. The list of tolerations is replaced as a whole, so the patch tests that it is still the
// observed one, and that another pod of the same name is left alone.
func (w *objectWriter) setTolerations(ctx context.Context, a plan.SetTolerations) error {
	patch, err := json.Marshal(tolerationsPatch(a))
	if err != nil {
		return fmt.Errorf("encode the tolerations of pod %s: %w", a.Name, err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.Key.Namespace, Name: a.Name}}
	if err := w.Client.Patch(ctx, pod, client.RawPatch(types.JSONPatchType, patch)); err != nil {
		return fmt.Errorf("set the tolerations of pod %s: %w", a.Name, err)
	}
	return nil
}

func tolerationsPatch(a plan.SetTolerations) []jsonPatch {
	const tolerations, annotations = "/spec/tolerations", "/metadata/annotations"
	edited := a.Observed.DeepCopy()
	a.Edit(edited)
	patch := []jsonPatch{{Op: "test", Path: "/metadata/uid", Value: a.UID}}
	if len(a.Observed.Spec.Tolerations) > 0 {
		patch = append(patch, jsonPatch{Op: "test", Path: tolerations, Value: a.Observed.Spec.Tolerations})
	}
	if len(edited.Spec.Tolerations) > 0 {
		patch = append(patch, jsonPatch{Op: "add", Path: tolerations, Value: edited.Spec.Tolerations}) // replaces a list that exists
	}
	cluster := annotations + "/" + strings.ReplaceAll(plan.AnnotationTolerationsBefore, "/", "~1")
	switch value, keep := edited.Annotations[plan.AnnotationTolerationsBefore]; {
	case !keep:
		return append(patch, jsonPatch{Op: "remove", Path: cluster})
	case a.Observed.Annotations == nil:
		return append(patch, jsonPatch{Op: "add", Path: annotations, Value: map[string]string{plan.AnnotationTolerationsBefore: value}})
	default:
		return append(patch, jsonPatch{Op: "add", Path: cluster, Value: value})
	}
}

// evictionRetry is when a refused eviction is tried again. A budget opens when another pod is
// ready.
const evictionRetry = 10 * time.Second

// evict deletes the pod with this name and UID by the eviction API, so that the API server asks
// disruption budgets and webhooks. A pod that is already deleted is a success.
func (w *objectWriter) evict(ctx context.Context, name string, uid types.UID) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.Key.Namespace, Name: name}}
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: w.Key.Namespace, Name: name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	}
	err := w.Client.SubResource("eviction").Create(ctx, pod, eviction)
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return nil
	case apierrors.IsTooManyRequests(err):
		hold := &plan.Hold{
			Code: plan.HoldEvictionRefused, RetryAfter: evictionRetry,
			Reason: "pod " + name + " may not be evicted", Detail: refusalOf(err),
		}
		return &reconcile.NotYetError{Err: fmt.Errorf("%s: %s", hold.Reason, hold.Detail), Hold: hold}
	case outcomeUnknown(err):
		return fmt.Errorf("evict pod %s: the outcome is unknown: %w", name, err)
	default:
		return fmt.Errorf("evict pod %s: %w", name, err)
	}
}

// refusalOf returns why an eviction was refused. The API server names the budget in the cause; a
// webhook has only a message.
func refusalOf(err error) string {
	cause, found := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause)
	if found && cause.Message != "" {
		return cause.Message
	}
	return err.Error()
}

// outcomeUnknown reports whether a request may have had its effect although it failed: the answer
// of the API server did not come, or was that it gave up.
func outcomeUnknown(err error) bool {
	var answered apierrors.APIStatus
	return !errors.As(err, &answered) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err)
}
