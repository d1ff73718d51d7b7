package live

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// GateOptions are the gates that a user overrides.
type GateOptions struct {
	// Coexist allows a pass beside a live operator.
	Coexist bool
}

// Gates returns the checks that must hold before any change: no live operator manages the
// cluster, since two that act on one cluster undo each other's work; and the clock of this machine
// agrees with the API server's, and neither the cluster nor its namespace is being deleted, which is
// listed where it is not so.
func (w *Cluster) Gates(ctx context.Context, o GateOptions) ([]plan.Check, error) {
	check, err := w.operators.noOperator(ctx)
	if err != nil {
		return nil, explain(err)
	}
	if !check.OK {
		check.Evidence += w.operators.undoneByOperators()
	}
	if !check.OK && o.Coexist {
		check.OK, check.Evidence = true, check.Evidence+"; allowed by --coexist"
	}
	if why := w.Overrides[plan.GateOperator]; !check.OK && why != "" {
		check.OK, check.Evidence = true, check.Evidence+"; overridden: "+why
	}
	checks := []plan.Check{check}
	if clock := w.clockFacts().Check(); !clock.OK {
		if why := w.Overrides[plan.GateClock]; why != "" {
			clock.OK, clock.Evidence = true, clock.Evidence+"; overridden: "+why
		}
		checks = append(checks, clock)
	}
	deletion, err := w.operators.notDeleted(ctx)
	if err != nil {
		return nil, explain(err)
	}
	return append(checks, deletion...), nil
}

// The operator, as its own manifests name it.
const (
	operatorName        = "fdb-kubernetes-operator" // its image and its leader-election Lease
	watchNamespaceFlag  = "--watch-namespace"
	watchNamespaceEnv   = "WATCH_NAMESPACE"
	ownNamespaceField   = "metadata.namespace"
	operatorDefaultTerm = 15 * time.Second // how long its Lease lasts without leaseDurationSeconds
)

// operators finds operators that would act on the same cluster.
type operators struct {
	*Options
	known   *known
	subject string // what a pass is about, if not a cluster
}

func (o *operators) noOperator(ctx context.Context) (plan.Check, error) {
	c := plan.Check{ID: plan.CheckNoOperator, Question: "is no live operator managing this " + cmp.Or(o.subject, "cluster") + "?", Gate: plan.GateOperator}
	if skipped := o.skipped(); skipped {
		c.OK, c.Evidence = true, "spec.skip is true, so operators skip the cluster"
		return c, nil
	}
	deployments, err := listed[appsv1.Deployment](ctx, o.Client, nil, &appsv1.DeploymentList{})
	if hidden(err) {
		c.Evidence = "cannot determine whether an operator runs: listing Deployments in all namespaces is forbidden; " + o.wayPast()
		return c, nil
	}
	if err != nil {
		return c, err
	}
	leases, err := listed[coordinationv1.Lease](ctx, o.Client, nil, &coordinationv1.LeaseList{})
	if hidden(err) {
		c.Evidence = "cannot determine whether an operator runs: listing Leases in all namespaces is forbidden; " + o.wayPast()
		return c, nil
	}
	if err != nil {
		return c, err
	}
	operators := operatorsAmong(deployments)
	if found := o.liveDeployment(operators); found != "" {
		c.Evidence = found
		return c, nil
	}
	if found := o.liveLease(leases, operators); found != "" {
		c.Evidence = found
		return c, nil
	}
	c.OK, c.Evidence = true, "no operator has a ready Deployment or a renewed Lease"
	return c, nil
}

// undoneByOperators is what an operator does against the fields that it does not have. It leaves
// the CronJob of the failure detector alone, and the annotation of its jobs starts a
// reconciliation of the operator.
func (o *operators) undoneByOperators() string {
	cluster := o.known.cluster()
	if cluster == nil || o.subject != "" {
		return ""
	}
	var words strings.Builder
	for _, f := range cluster.UsedExtensions() {
		switch f {
		case v1beta2.ExtensionCancelReplacements:
			fmt.Fprintf(&words, "; an operator ignores %s, and replaces and removes the listed process groups", f)
		case v1beta2.ExtensionDistributionConfig:
			fmt.Fprintf(&words, "; an operator ignores %s, and recreates or replaces every pod with other affinity terms", f)
		case v1beta2.ExtensionFailureDetectionCronJob:
		}
	}
	return words.String()
}

// wayPast is what to do where operators cannot be listed. Operators skip a cluster with
// spec.skip, but no backup and no restore.
func (o *operators) wayPast() string {
	if o.subject != "" {
		return "use --coexist if none runs"
	}
	return "set spec.skip to true if an operator runs, and use --coexist if none does"
}

func (o *operators) skipped() bool {
	cluster := o.known.cluster()
	return cluster != nil && cluster.Spec.Skip
}

func hidden(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

func operatorsAmong(deployments map[string]*appsv1.Deployment) []*appsv1.Deployment {
	var operators []*appsv1.Deployment
	for _, d := range deployments {
		if slices.ContainsFunc(d.Spec.Template.Spec.Containers, isOperator) {
			operators = append(operators, d)
		}
	}
	slices.SortFunc(operators, func(a, b *appsv1.Deployment) int { return strings.Compare(a.Namespace+a.Name, b.Namespace+b.Name) })
	return operators
}

// isOperator compares the name of the image without registry, tag and digest.
func isOperator(c corev1.Container) bool {
	image, _, _ := strings.Cut(c.Image, "@")
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name == operatorName
}

func (o *operators) liveDeployment(operators []*appsv1.Deployment) string {
	for _, d := range operators {
		if d.Status.ReadyReplicas > 0 && watches(d, o.Key.Namespace) {
			return fmt.Sprintf("Deployment %s/%s is an operator with %d ready pods and watches namespace %s", d.Namespace, d.Name, d.Status.ReadyReplicas, o.Key.Namespace)
		}
	}
	return ""
}

// liveLease returns a leader-election Lease that is being renewed. One in the namespace of
// operators that all watch other namespaces is theirs.
func (o *operators) liveLease(leases map[string]*coordinationv1.Lease, operators []*appsv1.Deployment) string {
	for _, l := range leases {
		if !strings.HasSuffix(l.Name, operatorName) || l.Spec.RenewTime == nil || ptr.Deref(l.Spec.HolderIdentity, "") == "" {
			continue
		}
		term := operatorDefaultTerm
		if l.Spec.LeaseDurationSeconds != nil {
			term = time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second
		}
		if age := o.Clock.Since(l.Spec.RenewTime.Time); age <= term && !explainedBy(l, operators, o.Key.Namespace) {
			return fmt.Sprintf("Lease %s/%s of an operator was renewed %s ago by %s", l.Namespace, l.Name, age.Round(time.Second), *l.Spec.HolderIdentity)
		}
	}
	return ""
}

func explainedBy(l *coordinationv1.Lease, operators []*appsv1.Deployment, namespace string) bool {
	beside := slices.DeleteFunc(slices.Clone(operators), func(d *appsv1.Deployment) bool { return d.Namespace != l.Namespace })
	return len(beside) > 0 && !slices.ContainsFunc(beside, func(d *appsv1.Deployment) bool { return watches(d, namespace) })
}

// watches reports whether an operator manages clusters in a namespace: it watches that
// namespace, or all, or its setting cannot be read.
func watches(d *appsv1.Deployment, namespace string) bool {
	for _, c := range d.Spec.Template.Spec.Containers {
		if !isOperator(c) {
			continue
		}
		if watched, found := watchedByFlag(slices.Concat(c.Command, c.Args)); found {
			return watched == "" || watched == namespace
		}
		if watched, found := watchedByEnv(c.Env, d.Namespace); found {
			return watched == "" || watched == namespace
		}
	}
	return true
}

func watchedByFlag(words []string) (namespace string, found bool) {
	for i, word := range words {
		word = "--" + strings.TrimLeft(word, "-")
		if value, ok := strings.CutPrefix(word, watchNamespaceFlag+"="); ok {
			return value, true
		}
		if word == watchNamespaceFlag && i+1 < len(words) {
			return words[i+1], true
		}
	}
	return "", false
}

func watchedByEnv(env []corev1.EnvVar, own string) (namespace string, found bool) {
	for _, v := range env {
		if v.Name != watchNamespaceEnv {
			continue
		}
		if v.ValueFrom == nil {
			return v.Value, true
		}
		if v.ValueFrom.FieldRef != nil && v.ValueFrom.FieldRef.FieldPath == ownNamespaceField {
			return own, true
		}
	}
	return "", false
}

// Operator is a Deployment of the FoundationDB operator.
type Operator struct {
	Namespace, Name string
	// Version is the tag of its image; empty when it has none.
	Version string
	// Ready is how many of its pods are ready.
	Ready int
}

// Operators are the operators of the whole Kubernetes cluster. Without permission to list
// Deployments in all namespaces the error is Forbidden.
func Operators(ctx context.Context, c client.Client) ([]Operator, error) {
	deployments, err := listed[appsv1.Deployment](ctx, c, nil, &appsv1.DeploymentList{})
	if err != nil {
		return nil, err
	}
	found := []Operator{}
	for _, d := range operatorsAmong(deployments) {
		o := Operator{Namespace: d.Namespace, Name: d.Name, Ready: int(d.Status.ReadyReplicas)}
		for _, container := range d.Spec.Template.Spec.Containers {
			if isOperator(container) {
				o.Version = tagOf(container.Image)
			}
		}
		found = append(found, o)
	}
	return found, nil
}

// tagOf is the tag of an image; empty without one.
func tagOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(path.Base(image), ":")
	return tag
}
