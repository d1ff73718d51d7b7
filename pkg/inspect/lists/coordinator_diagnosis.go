package lists

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// CoordinatorDiagnosisView is the document of `coordinators repair` where no quorum of
// coordinators answers: the coordinators cannot be changed then, and this is their state.
type CoordinatorDiagnosisView struct {
	inspect.Document
	Case CoordinatorCase `json:"case"`
	// Finding is the case in one sentence, with numbers.
	Finding string `json:"finding"`
	// Quorum is how many of them must answer.
	Quorum int                    `json:"quorum"`
	Items  []DiagnosedCoordinator `json:"items"`
}

// CoordinatorCase is why no quorum answers, as far as Kubernetes shows it.
type CoordinatorCase string

// The cases.
const (
	// QuorumDown is the case of enough coordinators that have a pod, or a volume for one, and
	// come back under their known addresses.
	QuorumDown CoordinatorCase = "down"
	// QuorumMoved is the case of too many coordinators with volumes and other addresses.
	QuorumMoved CoordinatorCase = "addresses-changed"
	// QuorumLost is the case of too many coordinators without a volume or a process group.
	QuorumLost CoordinatorCase = "lost"
)

// DiagnosedCoordinator is one coordinator and its state.
type DiagnosedCoordinator struct {
	Address string           `json:"address"`
	Group   string           `json:"processGroup,omitempty"`
	Pod     string           `json:"pod,omitempty"`
	State   CoordinatorState `json:"state"`
	// Now are the addresses of its pod, where they differ.
	Now  []string `json:"now"`
	Note string   `json:"note,omitempty"`
}

// CoordinatorState is the state of a coordinator.
type CoordinatorState string

// The states of a coordinator.
const (
	// CoordinatorReachable answers.
	CoordinatorReachable CoordinatorState = "reachable"
	// CoordinatorUnreachable has a pod that runs at its address, and whether it answers is unknown.
	CoordinatorUnreachable CoordinatorState = "unreachable"
	// CoordinatorDown has no running pod; it comes back under its address.
	CoordinatorDown CoordinatorState = "down"
	// CoordinatorMoved has a pod with another address, or will have one.
	CoordinatorMoved CoordinatorState = "moved"
	// CoordinatorLost has neither a pod nor a PVC.
	CoordinatorLost CoordinatorState = "lost"
	// CoordinatorUnknown belongs to no process group in the status.
	CoordinatorUnknown CoordinatorState = "unknown"
)

// NewCoordinatorDiagnosisView makes the document.
func NewCoordinatorDiagnosisView(m inspect.Metadata, f inspect.Facts) CoordinatorDiagnosisView {
	seen := f.Coordinators()
	v := CoordinatorDiagnosisView{
		Document: inspect.NewDocument("CoordinatorDiagnosis", m, f.Now, seen.Source), Quorum: len(seen.Items)/2 + 1, Items: []DiagnosedCoordinator{},
	}
	v.AsOf = seen.AsOf
	v.Warnings = append(v.Warnings, f.Warnings...)
	v.Warnings = append(v.Warnings, f.CoordinatorWarnings()...)
	for _, c := range seen.Items {
		v.Items = append(v.Items, diagnosed(f, c))
	}
	v.judge()
	return v
}

// outlastsPods reports whether an address is the same in any pod of a process group.
func outlastsPods(f inspect.Facts, address fdb.Address) bool {
	return !address.IsIP() || address.FromHostname || f.Cluster.PublicIPSource() == v1beta2.PublicIPSourceService
}

func diagnosed(f inspect.Facts, c inspect.CoordinatorView) DiagnosedCoordinator {
	d := DiagnosedCoordinator{Address: c.Address, State: CoordinatorUnknown, Now: []string{}, Note: "no process group in the status has this address; it may belong to another control-plane instance"}
	address, err := fdb.ParseAddress(c.Address)
	if err != nil {
		return d
	}
	if c.Reachable != nil && *c.Reachable {
		d.State, d.Note = CoordinatorReachable, ""
	}
	byIP := address
	byIP.FromHostname = false
	g := f.GroupAt("", byIP)
	if g == nil {
		return d
	}
	d.Group, d.Pod = string(g.ProcessGroupID), g.PodName(f.Cluster)
	if d.State != CoordinatorReachable {
		traceCoordinator(f, &d, g, address)
	}
	return d
}

// traceCoordinator finds the state of a coordinator that does not answer.
func traceCoordinator(f inspect.Facts, d *DiagnosedCoordinator, g *v1beta2.ProcessGroupStatus, address fdb.Address) {
	pod := f.Pod(g)
	var now []string
	if pod != nil {
		now = publicIPs(pod)
	}
	there := outlastsPods(f, address) || slices.ContainsFunc(now, func(ip string) bool { return fdb.SameHost(ip, address.Host) })
	d.State, d.Note = CoordinatorUnreachable, "its pod runs"
	if pod != nil && f.Nodes[pod.Spec.NodeName] == nil {
		d.Note = "its pod runs; the state of its node is unknown"
	}
	if problem := f.ProblemOf(g); problem != nil {
		d.State, d.Note = CoordinatorDown, problem.Text()
	}
	switch {
	case pod == nil && f.Volumes[g.PVCName(f.Cluster)] == nil:
		d.State, d.Note = CoordinatorLost, "it has neither a pod nor a PVC"
	case there:
	case len(now) > 0:
		d.State, d.Now, d.Note = CoordinatorMoved, now, "its pod has another address"
	default:
		d.State, d.Note = CoordinatorMoved, d.Note+"; it will have another address"
	}
}

func publicIPs(pod *corev1.Pod) []string {
	ips, err := objects.PublicIPs(pod)
	if err != nil {
		return nil // a pod without valid addresses has none to compare
	}
	return ips
}

func (v *CoordinatorDiagnosisView) judge() {
	count := map[CoordinatorState]int{}
	for _, d := range v.Items {
		count[d.State]++
	}
	back := count[CoordinatorReachable] + count[CoordinatorUnreachable] + count[CoordinatorDown]
	all := phrase.CountOf(v.Quorum, len(v.Items), "coordinator") + " must answer"
	switch {
	case back >= v.Quorum:
		v.Case = QuorumDown
		v.Finding = fmt.Sprintf("%s; %d %s", all, back, phrase.Either(back,
			"is at its address or comes back there: recover its pod with the same volume",
			"are at their addresses or come back there: recover their pods with the same volumes"))
	case back+count[CoordinatorMoved] >= v.Quorum:
		v.Case = QuorumMoved
		v.Finding = fmt.Sprintf("%s; %d %s", all, count[CoordinatorMoved], phrase.Either(count[CoordinatorMoved],
			fmt.Sprintf("has another address now, so only %d can be found; its state is still in its volume", back),
			fmt.Sprintf("have other addresses now, so only %d can be found; their state is still in their volumes", back)))
	default:
		v.Case = QuorumLost
		v.Finding = fmt.Sprintf("%s; of %d neither a pod nor a volume is known, so at most %d can come back", all, count[CoordinatorLost]+count[CoordinatorUnknown], back+count[CoordinatorMoved])
	}
}

// Pods returns the pods of coordinators with one of the states.
func (v CoordinatorDiagnosisView) Pods(states ...CoordinatorState) []string {
	var pods []string
	for _, d := range v.Items {
		if d.Pod != "" && slices.Contains(states, d.State) {
			pods = append(pods, d.Pod)
		}
	}
	return pods
}
