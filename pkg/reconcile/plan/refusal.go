package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// RefusalKind is which rule of the API server does not accept an object.
type RefusalKind string

// The rules. None of them is a missing permission.
const (
	RefusedByQuota       RefusalKind = "quota"        // a ResourceQuota is exhausted
	RefusedByQuotaValues RefusalKind = "quota-values" // a ResourceQuota requires values that the object does not have
	RefusedByLimitRange  RefusalKind = "limit-range"  // a LimitRange does not allow the resources of the object
	RefusedByPodSecurity RefusalKind = "pod-security" // the Pod Security level of the namespace does not allow the pod
	RefusedByPolicy      RefusalKind = "policy"       // a ValidatingAdmissionPolicy, a webhook or another admission plugin refused
	RefusedAsInvalid     RefusalKind = "invalid"      // the object is not valid for this API server
	RefusedByNamespace   RefusalKind = "namespace"    // the namespace is being deleted
)

// Refusal is an object that the API server did not accept, although the user has the permission to create it.
type Refusal struct {
	// ObjectKind and ObjectName identify the object: "Pod", "sample-storage-1".
	ObjectKind string `json:"objectKind"`
	ObjectName string `json:"objectName"`
	// Verb is what the API server did not accept: create or update.
	Verb string      `json:"verb"`
	Kind RefusalKind `json:"kind"`
	// By names the objects with the rule: ResourceQuotas, LimitRanges, or the level of the namespace. Empty where
	// the API server does not report it.
	By string `json:"by,omitempty"`
	// Field is the field of the object that the API server's validation names.
	Field string `json:"field,omitempty"`
	// Message is the shortened text of the API server. It is shown and never compared.
	Message string `json:"message"`
	// Since is when the object was refused first, by this rule.
	Since time.Time `json:"since"`
}

// longestRefusal bounds the text of a refusal: Pod Security lists every container and field.
const longestRefusal = 300

// NewRefusal returns a refusal with its text shortened.
func NewRefusal(objectKind, objectName string, kind RefusalKind, by, message string) Refusal {
	return Refusal{ObjectKind: objectKind, ObjectName: objectName, Kind: kind, By: by, Message: redact.Excerpt(message, longestRefusal)}
}

// The kinds of objects in refusals.
const (
	WrittenPod        = "Pod"
	WrittenPVC        = "PersistentVolumeClaim"
	WrittenService    = "Service"
	WrittenConfigMap  = "ConfigMap"
	WrittenCronJob    = "CronJob"
	WrittenBudget     = "PodDisruptionBudget"
	WrittenDeployment = "Deployment"
)

// Writing is an action that writes one object to the API server.
type Writing interface {
	Action
	// Writes returns the kind and the name of the object, as a Refusal has them.
	Writes() (kind, name string)
}

// Writes implements Writing.
func (a ApplyConfigMap) Writes() (kind, name string) { return WrittenConfigMap, a.Name }

// Writes implements Writing.
func (a ApplyService) Writes() (kind, name string) { return WrittenService, a.Name }

// Writes implements Writing.
func (a CreatePVC) Writes() (kind, name string) { return WrittenPVC, a.Name }

// Writes implements Writing.
func (a CreatePod) Writes() (kind, name string) { return WrittenPod, a.Name }

// Writes implements Writing.
func (a ApplyFailureDetector) Writes() (kind, name string) { return WrittenCronJob, a.Name }

// Writes implements Writing.
func (a ApplyDisruptionBudget) Writes() (kind, name string) { return WrittenBudget, a.Name }

// Writes implements Writing.
func (a ApplyAgents) Writes() (kind, name string) { return WrittenDeployment, a.Name }

// RefusalOf returns the refusal of the object that an action writes; false for none.
func RefusalOf(a Action, all []Refusal) (Refusal, bool) {
	writing, is := a.(Writing)
	if !is {
		return Refusal{}, false
	}
	kind, name := writing.Writes()
	at := slices.IndexFunc(all, func(r Refusal) bool { return r.ObjectKind == kind && r.ObjectName == name })
	if at < 0 {
		return Refusal{}, false
	}
	return all[at], true
}

// Waits reports whether time, or what others do, can end the refusal: a quota has room again once something else
// ends or grows. All others last until a user changes the rule or the spec.
func (r Refusal) Waits() bool { return r.Kind == RefusedByQuota }

// Same reports whether another refusal is of the same object by the same rule.
func (r Refusal) Same(other Refusal) bool {
	return r.ObjectKind == other.ObjectKind && r.ObjectName == other.ObjectName && r.sameRule(other)
}

// Object returns the kind and the name of the object, as text for users.
func (r Refusal) Object() string { return r.ObjectKind + "/" + r.ObjectName }

// Rule returns what refuses, with its name.
func (r Refusal) Rule() string {
	words := map[RefusalKind]string{
		RefusedByQuota: "ResourceQuota", RefusedByQuotaValues: "ResourceQuota", RefusedByLimitRange: "LimitRange",
		RefusedByPodSecurity: "Pod Security", RefusedByPolicy: "an admission policy or webhook", RefusedAsInvalid: "the API server's validation",
		RefusedByNamespace: "the namespace, which is being deleted,",
	}[r.Kind]
	if r.By != "" {
		words += " " + r.By
	}
	return words
}

// Remedy returns what ends the refusal, as one clause.
func (r Refusal) Remedy() string {
	switch r.Kind {
	case RefusedByQuota:
		return "raise the ResourceQuota or remove other objects that it counts"
	case RefusedByQuotaValues:
		return "set the requests and limits that the ResourceQuota counts in spec.processes, or have a LimitRange set defaults"
	case RefusedByLimitRange:
		return "change the resources in spec.processes, or the LimitRange"
	case RefusedByPodSecurity:
		return "change the security contexts in spec.processes, or the label pod-security.kubernetes.io/enforce of the namespace"
	case RefusedAsInvalid:
		return "change the field of the spec that the message names"
	case RefusedByNamespace:
		return "create the cluster in another namespace"
	case RefusedByPolicy:
	}
	return "change what the message names in the spec, or the policy"
}

// Text returns the refusal of one object as one clause.
func (r Refusal) Text() string {
	return fmt.Sprintf("%s refused %s: %s", r.Rule(), r.Object(), r.Message)
}

// mostRefused is how many refused objects a sentence names.
const mostRefused = 3

// RefusedHold returns what a stage waits for after refusals, of which there must be one. It requires manual
// intervention unless a quota is the only reason.
func RefusedHold(all []Refusal) *Hold {
	first := all[0]
	h := &Hold{Code: HoldQuotaExhausted, RetryAfter: PodDelay}
	for _, r := range all {
		h.Subjects = append(h.Subjects, r.Object())
		if !r.Waits() && !h.Manual {
			h.Code, h.Manual, first = HoldAdmissionRefused, true, r
		}
	}
	slices.Sort(h.Subjects)
	h.Reason = fmt.Sprintf("%s refused %s (%s): %s", first.Rule(), phrase.Count(len(all), "object"), phrase.Some(h.Subjects, mostRefused), first.Remedy())
	h.Detail = first.Message
	return h
}

// ByRule returns one of the refusals for each rule, in order.
func ByRule(all []Refusal) []Refusal {
	var first []Refusal
	for _, r := range all {
		if !slices.ContainsFunc(first, r.sameRule) {
			first = append(first, r)
		}
	}
	return first
}

func (r Refusal) sameRule(other Refusal) bool { return r.Kind == other.Kind && r.By == other.By }

// Summary returns which of the objects the rule of this refusal refused, how to end that, and the text of the API
// server.
func (r Refusal) Summary(all []Refusal) string {
	var alike []Refusal
	for _, other := range all {
		if r.sameRule(other) {
			alike = append(alike, other)
		}
	}
	return RefusedHold(alike).Text()
}

// Annotations by which users opt in to what passes do beside the spec. The resource has no
// fields for it, and the operator ignores them.
const (
	// AnnotationDisruptionBudgets, set to true on a FoundationDBCluster, makes passes keep a
	// PodDisruptionBudget over its pods with data or coordination state.
	AnnotationDisruptionBudgets = "kubectl-fdb/pod-disruption-budgets"
	// AnnotationTolerations, set to true on a FoundationDBCluster or a FoundationDBBackup, makes
	// passes set on its pods how long they wait for a lost node.
	AnnotationTolerations = "kubectl-fdb/tolerations"
)

// OptedIn reports whether an annotation of a resource is true. Absent and false are the same; any
// other value is an error, since the intention is unknown.
func OptedIn(o metav1.Object, annotation string) (bool, error) {
	switch value, found := o.GetAnnotations()[annotation]; {
	case !found, value == strconv.FormatBool(false):
		return false, nil
	case value == strconv.FormatBool(true):
		return true, nil
	default:
		return false, fmt.Errorf("annotation %s is %q: must be true or false", annotation, value)
	}
}

// ApplyDisruptionBudget creates the PodDisruptionBudget of a cluster, or updates it.
type ApplyDisruptionBudget struct {
	Name string `json:"name"`
	// Pods is how many pods it covers, those included that do not exist yet.
	Pods int `json:"pods"`
	// MinAvailable is how many of them have to stay ready.
	MinAvailable int                           `json:"minAvailable"`
	Object       *policyv1.PodDisruptionBudget `json:"-"`
	// Create is true when it does not exist yet.
	Create bool `json:"create,omitempty"`
}

// Describe implements Action.
func (a ApplyDisruptionBudget) Describe() string {
	verb := "update"
	if a.Create {
		verb = "create"
	}
	return fmt.Sprintf("%s PodDisruptionBudget %s: %d of %s must stay", verb, a.Name, a.MinAvailable, phrase.Count(a.Pods, "pod"))
}

// Subject implements Action.
func (a ApplyDisruptionBudget) Subject() string { return "poddisruptionbudget/" + a.Name }

func (ApplyDisruptionBudget) effect() Effect {
	return Effect{Stale: DisruptionBudgets, Impact: NoImpact}
}

// Apply implements Edit.
func (a ApplyDisruptionBudget) Apply(s Snapshot) Snapshot {
	s.DisruptionBudgets = cloned(s.DisruptionBudgets)
	s.DisruptionBudgets[a.Name] = a.Object
	return s
}

// DeleteDisruptionBudget deletes the PodDisruptionBudget of a cluster.
type DeleteDisruptionBudget struct {
	Name string    `json:"name"`
	UID  types.UID `json:"-"`
}

// Describe implements Action.
func (a DeleteDisruptionBudget) Describe() string { return "delete PodDisruptionBudget " + a.Name }

// Subject implements Action.
func (a DeleteDisruptionBudget) Subject() string { return "poddisruptionbudget/" + a.Name }

func (DeleteDisruptionBudget) effect() Effect {
	return Effect{Stale: DisruptionBudgets, Impact: NoImpact}
}

// Apply implements Edit.
func (a DeleteDisruptionBudget) Apply(s Snapshot) Snapshot {
	s.DisruptionBudgets = cloned(s.DisruptionBudgets)
	delete(s.DisruptionBudgets, a.Name)
	return s
}

// cloned returns a copy of a map that can be written to, also of one that is nil.
func cloned[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
}

// Options are settings of a pass that no field of the spec has.
type Options struct {
	// ReplaceOnSecurityContextChange also replaces process groups whose pods were created with
	// another file group, user or group. Without it such pods are recreated, and keep their
	// volumes. Default false.
	ReplaceOnSecurityContextChange bool
	// Adopt adopts pods and PVCs as they are, before anything is replaced or recreated because
	// of them. Default false.
	Adopt bool
}

// PodDelay is the shortest useful wait for a pod to be scheduled, started, or to load a file. The
// operator waits 15 s; this tool has a user who waits for it.
const PodDelay = 5 * time.Second

// RequestedByUser is the reason of actions that a command requests directly.
const RequestedByUser = "requested by a user"
