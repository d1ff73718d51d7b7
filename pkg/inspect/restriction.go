package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Restriction is why a database that is available does not serve its clients as usual or does not repair itself,
// or why operators leave the cluster alone. All views show the restrictions first.
type Restriction struct {
	Code   RestrictionCode   `json:"code"`
	Effect RestrictionEffect `json:"effect"`
	// Message is the restriction in one clause.
	Message string `json:"message"`
	// Detail is what the message has beside the code.
	Detail string `json:"detail,omitempty"`
	// Ends is what ends it.
	Ends string `json:"ends"`
	// Limit is ratekeeper's reason, for restrictions that are its limit.
	Limit string `json:"limit,omitempty"`
	// Command are the arguments of kubectl fdb that end it, or show more of it.
	Command []string `json:"-"`
	// Kubectl are the arguments of kubectl that end it, where no command of kubectl fdb does.
	Kubectl []string `json:"-"`
}

// RestrictionCode identifies a restriction. A code, once released, keeps its meaning.
type RestrictionCode string

// The codes of restrictions, in the order in which views show them.
const (
	// RestrictionNoTransactions is a ratekeeper that starts no transactions, or whose limit is unknown.
	RestrictionNoTransactions RestrictionCode = "no-transactions"
	// RestrictionLocked is a lock of the database, which refuses clients.
	RestrictionLocked RestrictionCode = "locked"
	// RestrictionRatekeeper is a limit of ratekeeper that is used up.
	RestrictionRatekeeper RestrictionCode = "ratekeeper-limit"
	// RestrictionInvalidSpec is a spec that no pass reconciles.
	RestrictionInvalidSpec RestrictionCode = "invalid-spec"
	// RestrictionInvalidPod is a value on a pod that cannot be used, so that passes leave the pod alone.
	RestrictionInvalidPod RestrictionCode = "invalid-pod"
	// RestrictionMaintenance is a zone under maintenance.
	RestrictionMaintenance RestrictionCode = "maintenance"
	// RestrictionDataDistribution is data distribution that was switched off.
	RestrictionDataDistribution RestrictionCode = "data-distribution-off"
	// RestrictionStorageFailures is data distribution that ignores failures of storage processes.
	RestrictionStorageFailures RestrictionCode = "storage-failures-ignored"
	// RestrictionPauseOverdue is a pause that should have ended.
	RestrictionPauseOverdue RestrictionCode = "pause-overdue"
	// RestrictionPaused is spec.skip, by which operators skip the cluster.
	RestrictionPaused RestrictionCode = "paused"
)

// RestrictionEffect is what a restriction means for the health of the cluster.
type RestrictionEffect string

// The effects of restrictions.
const (
	// StopsClients makes the database useless for its clients.
	StopsClients RestrictionEffect = "stops-clients"
	// Unhealthy makes it slower or less safe.
	Unhealthy RestrictionEffect = "unhealthy"
	// UnknownEffect cannot be determined, and is not healthy.
	UnknownEffect RestrictionEffect = "unknown"
	// Informs changes nothing for the clients.
	Informs RestrictionEffect = "informs"
)

// Text returns the restriction and what ends it.
func (r Restriction) Text() string { return r.Message + " (ended by " + r.Ends + ")" }

// Restrictions returns the restrictions of a cluster, the most severe first. It is the only judgment of them: what is
// not reported counts as unknown and not as good. Those of the database are known only while it is available.
func (f Facts) Restrictions() []Restriction {
	all := append(f.invalidSpec(), f.invalidPods()...)
	if s := f.Database.Status; s != nil && s.Available() {
		all = append(slices.Concat(f.limits(s), all), f.switches(s)...)
		stable.Sort(all, func(a, b Restriction) int { return a.grade() - b.grade() })
	}
	return append(all, f.pauses()...)
}

func (r Restriction) grade() int {
	return slices.Index([]RestrictionEffect{StopsClients, UnknownEffect, Unhealthy, Informs}, r.Effect)
}

// minTransactions is the limit per second below which a database starts none: FoundationDB lowers the limit to 0 when
// disks are full.
const minTransactions = 1

// limits are what ratekeeper allows.
func (f Facts) limits(s *fdb.Status) []Restriction {
	q := s.Cluster.QoS
	if q == nil || q.PerformanceLimitedBy == nil || q.PerformanceLimitedBy.Name == "" || q.TransactionsPerSecondLimit == nil {
		return []Restriction{{
			Code: RestrictionNoTransactions, Effect: UnknownEffect,
			Message: "cannot determine whether transactions start: the database does not report the limit of its ratekeeper",
			Detail:  "the database does not report the limit of its ratekeeper",
			Ends:    "a ratekeeper that reports, seconds after a recovery", Command: []string{"why", f.Cluster.Name, "--performance"},
		}}
	}
	limit := *q.PerformanceLimitedBy
	r := Restriction{Limit: limit.Name, Detail: limitWords(limit), Ends: endOfLimit(limit.Name), Command: []string{"why", f.Cluster.Name, "--performance"}}
	switch {
	case *q.TransactionsPerSecondLimit < minTransactions:
		r.Code, r.Effect, r.Message = RestrictionNoTransactions, StopsClients, "the database starts no transactions: "+r.Detail
	case limit.Name != fdb.LimitWorkload:
		r.Code, r.Effect, r.Message = RestrictionRatekeeper, Unhealthy, "ratekeeper limits how many transactions start: "+r.Detail
	default:
		return nil
	}
	return []Restriction{r}
}

func limitWords(l fdb.Limit) string {
	if l.Description == "" {
		return l.Name
	}
	return strings.TrimSuffix(l.Description, ".") + " (" + l.Name + ")"
}

// endOfLimit returns what ends a limit of ratekeeper, by its reason.
func endOfLimit(name string) string {
	switch name {
	case "storage_server_min_free_space", "storage_server_min_free_space_ratio":
		return "larger volumes or more storage processes"
	case "log_server_min_free_space", "log_server_min_free_space_ratio":
		return "larger volumes of the logs"
	case "storage_server_list_fetch_failed":
		return "a database that can read its own list of storage processes"
	default:
		return "less load, or more processes"
	}
}

// switches are what a user, a restore or a command set and has to end.
func (f Facts) switches(s *fdb.Status) []Restriction {
	var all []Restriction
	if locked, uid, _ := s.Locked(); locked {
		all = append(all, Restriction{
			Code: RestrictionLocked, Effect: StopsClients, Message: "the database is locked with UID " + uid, Detail: "UID " + uid + ", clients are refused",
			Ends:    "the restore or disaster recovery that locked it, else fdbcli unlock",
			Command: []string{"cli", f.Cluster.Name, "--", "unlock", uid},
		})
	}
	if m, _ := f.Maintenance(); m.Active() {
		all = append(all, Restriction{
			Code: RestrictionMaintenance, Effect: Unhealthy, Message: "zone " + m.Zone + " is under maintenance" + f.leftOf(m.Remaining), Detail: "zone " + m.Zone + f.leftOf(m.Remaining),
			Ends: "kubectl fdb maintenance off", Command: []string{"maintenance", "off", f.Cluster.Name},
		})
	}
	if ptr.Deref(s.Cluster.DataDistributionDisabled, false) {
		all = append(all, Restriction{
			Code: RestrictionDataDistribution, Effect: Unhealthy, Message: "data distribution is switched off: lost copies of data are not made again", Detail: "data distribution is switched off",
			Ends: "fdbcli datadistribution on", Command: []string{"cli", f.Cluster.Name, "--", "datadistribution", "on"},
		})
	}
	if ptr.Deref(s.Cluster.DataDistributionDisabledForSSFailures, false) {
		all = append(all, Restriction{
			Code: RestrictionStorageFailures, Effect: Unhealthy, Message: "data distribution ignores failures of storage processes: lost copies of data are not made again", Detail: "data distribution ignores failures of storage processes",
			Ends: "fdbcli datadistribution enable ssfailure", Command: []string{"cli", f.Cluster.Name, "--", "datadistribution", "enable", "ssfailure"},
		})
	}
	return all
}

// leftOf returns how long something takes; nothing where sentences have no ages.
func (f Facts) leftOf(remaining time.Duration) string {
	if f.Now.IsZero() {
		return ""
	}
	return fmt.Sprintf(", %s left", phrase.Duration(remaining))
}

// pauses is the pause of operators. Its times are those of the clock, so that the sentence does not change by itself.
func (f Facts) pauses() []Restriction {
	v := NewPauseView(f)
	if v == nil {
		return nil
	}
	r := Restriction{
		Code: RestrictionPaused, Effect: Informs, Message: "operators are paused" + v.byWhom(), Detail: strings.TrimSpace(v.byWhom()),
		Ends: "kubectl fdb resume", Command: []string{"resume", f.Cluster.Name},
	}
	if v.Overdue {
		r.Code, r.Effect, r.Message = RestrictionPauseOverdue, Unhealthy, "the pause of operators is overdue:"+v.byWhom()
	}
	return []Restriction{r}
}

// byWhom returns who set the pause, until when and why, without ages.
func (v PauseView) byWhom() string {
	var words []string
	if v.By != "" {
		words = append(words, "by "+v.By)
	}
	if v.Until != nil {
		words = append(words, "until "+v.Until.UTC().Format(time.RFC3339))
	}
	text := strings.Join(words, " ")
	if v.Reason != "" {
		text += ": " + v.Reason
	}
	if text == "" {
		return " by spec.skip"
	}
	return " " + strings.TrimPrefix(text, ": ")
}

// invalidSpec is a spec with errors: passes refuse it, so nothing is repaired.
func (f Facts) invalidSpec() []Restriction {
	var messages []string
	for _, field := range slices.Concat(f.InvalidSpec, plan.InvalidFields(objects.ValidateForPass(f.Cluster))) {
		messages = append(messages, field.Message)
	}
	if len(messages) == 0 {
		return nil
	}
	detail := phrase.SomeBy(messages, MostNamed, "; ")
	return []Restriction{{
		Code: RestrictionInvalidSpec, Effect: Unhealthy, Message: "the spec is invalid, so no pass can reconcile it: " + detail, Detail: detail,
		Ends:    "a correct value: kubectl edit foundationdbcluster",
		Command: []string{"plan", f.Cluster.Name}, Kubectl: []string{"edit", "foundationdbcluster", f.Cluster.Name},
	}}
}

// InvalidPod is a pod with a value that cannot be used: passes leave it alone, and what it would show is unknown.
type InvalidPod struct {
	Group   v1beta2.ProcessGroupID
	Pod     string
	Message string
	// Fix are the arguments of kubectl that correct the value, or replace the process group.
	Fix []string
}

// InvalidPods returns the pods with a value that cannot be used, in the order of the process groups.
func (f Facts) InvalidPods() []InvalidPod {
	var all []InvalidPod
	for _, g := range f.Groups() {
		pod := f.Pod(g)
		if pod == nil {
			continue
		}
		invalid := objects.InvalidValue(pod, g.ProcessClass)
		if invalid == nil {
			continue
		}
		one := InvalidPod{Group: g.ProcessGroupID, Pod: pod.Name, Message: invalid.Error(), Fix: []string{"fdb", "replace", f.Cluster.Name, string(g.ProcessGroupID)}}
		if value, known := f.createdWith(g, pod, invalid.Annotation); known {
			one.Fix = []string{"annotate", "pod", pod.Name, invalid.Annotation + "=" + value, "--overwrite"}
		}
		all = append(all, one)
	}
	return all
}

// createdWith returns the value that an annotation of a pod had when the pod was created; false where that is unknown.
func (f Facts) createdWith(g *v1beta2.ProcessGroupStatus, pod *corev1.Pod, annotation string) (string, bool) {
	if annotation == v1beta2.AnnotationPublicIP {
		service := f.Services[pod.Name]
		known := service != nil && service.Spec.ClusterIP != "" && service.Spec.ClusterIP != corev1.ClusterIPNone
		if !known {
			return "", false
		}
		return service.Spec.ClusterIP, true
	}
	value, known := objects.CreationAnnotations(f.Cluster, g, pod)[annotation]
	return value, known
}

// invalidPods is the restriction by pods with a value that cannot be used.
func (f Facts) invalidPods() []Restriction {
	all := f.InvalidPods()
	if len(all) == 0 {
		return nil
	}
	messages := make([]string, len(all))
	for i, p := range all {
		messages[i] = p.Message
	}
	detail := phrase.SomeBy(messages, MostNamed, "; ")
	r := Restriction{
		Code: RestrictionInvalidPod, Effect: Unhealthy, Detail: detail,
		Message: fmt.Sprintf("passes leave %s alone: %s", phrase.Count(len(all), "pod"), detail),
		Ends:    "kubectl " + strings.Join(all[0].Fix, " "), Command: []string{"check", f.Cluster.Name},
	}
	if fix := all[0].Fix; fix[0] == "fdb" {
		r.Command = fix[1:]
	} else {
		r.Kubectl = fix
	}
	return []Restriction{r}
}
