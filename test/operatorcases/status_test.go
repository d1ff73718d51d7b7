package operatorcases

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/opcases"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/safety"
)

// statusInput is the input of most functions of a status document.
type statusInput struct {
	Now     opcases.Seconds             `json:"now"`
	Cluster v1beta2.FoundationDBCluster `json:"cluster"`
	Status  opcases.Document            `json:"status"`
}

func (in *statusInput) snapshot(status *fdb.Status) plan.Snapshot {
	now := in.Now.Time()
	return plan.Snapshot{Now: now, Cluster: &in.Cluster, Database: plan.DatabaseFacts{Status: status, AsOf: now}}
}

// verdict is the outcome of a function that returns an error or a truth value.
type verdict struct {
	Err opcases.Failure `json:"err"`
	R0  *bool           `json:"r0"`
}

func (v verdict) outcome() opcases.Outcome {
	return opcases.Verdict(v.Err == "" && (v.R0 == nil || *v.R0))
}

// compareChecks compares a question about a status document with some of ours.
func compareChecks(c opcases.Case, ask func(plan.Snapshot) []plan.Check) (operator, ours opcases.Outcome, err error) {
	var in statusInput
	var out verdict
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	return out.outcome(), opcases.Verdict(safety.Met(ask(in.snapshot(in.Status.Complete(in.Cluster.RunningVersion()))))), nil
}

func compareLoad(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	return compareChecks(c, func(s plan.Snapshot) []plan.Check { return []plan.Check{safety.LoadWithinLimits(s.Database)} })
}

func compareFaultTolerance(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	return compareChecks(c, func(s plan.Snapshot) []plan.Check { return []plan.Check{safety.FullFaultTolerance(s)} })
}

// compareBounce compares when processes may restart. The operator is given the uptime that
// it computed before; here the document has it.
func compareBounce(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		statusInput
		Current float64 `json:"currentUptime"`
		Minimum float64 `json:"minimumUptime"`
	}
	var out verdict
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	in.Cluster.Spec.Version = "7.3.79"
	status := in.Status.Complete(in.Cluster.RunningVersion())
	status.Cluster.RecoveryState.SecondsSinceLastRecovered = &in.Current
	s := in.snapshot(status)
	uptime, _ := safety.UpLongEnough(s, time.Duration(in.Minimum)*time.Second)
	checks := []plan.Check{safety.Available(s.Database), safety.FewGenerations(s.Database), safety.CleanBounce(s.Database), uptime}
	return out.outcome(), opcases.Verdict(safety.Met(checks)), nil
}

// compareDefaultChecks compares the checks before everything else. Before it believes that
// an exclusion is over the operator allows one generation, which is our FullyRecovered.
func compareDefaultChecks(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		statusInput
		Most int `json:"maximumActiveGenerations"`
	}
	var out verdict
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	s := in.snapshot(in.Status.Complete(in.Cluster.RunningVersion()))
	if in.Most == safety.MaxGenerations {
		return out.outcome(), opcases.Verdict(safety.Met([]plan.Check{safety.Available(s.Database), safety.FewGenerations(s.Database)})), nil
	}
	n, known := s.Database.Status.ActiveGenerations()
	return out.outcome(), opcases.Verdict(safety.Available(s.Database).OK && known && n <= in.Most), nil
}

// compareFaultDomains compares the three parts of full fault tolerance.
func compareFaultDomains(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		statusInput
		Storage      bool `json:"storageServerCheck"`
		Logs         bool `json:"logServerCheck"`
		Coordinators bool `json:"coordinatorCheck"`
	}
	var out verdict
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	s := &in.Status.Status
	allowed := (!in.Storage || storageComplete(s)) && (!in.Logs || s.LogsFullyReplicated()) && (!in.Coordinators || s.CoordinatorsReachable())
	return out.outcome(), opcases.Verdict(allowed), nil
}

func compareLogFaultDomains(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	return compareDocument(c, (*fdb.Status).LogsFullyReplicated)
}

func compareStorageFaultDomains(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	return compareDocument(c, storageComplete)
}

// storageComplete asks as FullFaultTolerance does: no data has fewer copies than the
// configuration in force keeps, of which the operator has a default.
func storageComplete(s *fdb.Status) bool {
	least, known := s.MinReplicasRemaining()
	need := v1beta2.RedundancyModeDouble.MinimumFaultDomains()
	if c := s.Cluster.Configuration; c != nil {
		if n, reported := c.Replicas(); reported {
			need = n
		}
	}
	return known && least >= need
}

func compareDocument(c opcases.Case, ask func(*fdb.Status) bool) (operator, ours opcases.Outcome, err error) {
	var in statusInput
	var out verdict
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	return out.outcome(), opcases.Verdict(ask(&in.Status.Status)), nil
}

// compareCoordinatorsOf compares which process groups coordinate.
func compareCoordinatorsOf(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in statusInput
	var out struct {
		R0 map[string]struct{} `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	var ids []string
	for _, p := range in.Status.ProcessesThat(in.Status.IsCoordinator) {
		ids = append(ids, p.InstanceID())
	}
	return opcases.Outcome{"groups": fmt.Sprint(slices.Sorted(maps.Keys(out.R0)))}, opcases.Outcome{"groups": fmt.Sprint(ids)}, nil
}

// compareExclusions compares the exclusions that a document reports.
func compareExclusions(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in statusInput
	var out struct {
		R0 []string `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	return opcases.Outcome{"targets": fmt.Sprint(out.R0)}, opcases.Outcome{"targets": fmt.Sprint(in.Status.ExcludedTargets())}, nil
}

// compareUptime compares how long all processes have been up, by asking for that and for a
// second more, and where the processes of each group are.
func compareUptime(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in statusInput
	var out struct {
		R0 float64             `json:"r0"`
		R1 map[string][]string `json:"r1"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	operator, ours = opcases.Outcome{"up": "true", "longer": "false"}, opcases.Outcome{}
	s := in.snapshot(in.Status.Reporting())
	for part, need := range map[string]float64{"up": out.R0, "longer": out.R0 + 1} {
		check, _ := safety.UpLongEnough(s, time.Duration(need*float64(time.Second)))
		ours[part] = strconv.FormatBool(check.OK)
	}
	for id, addresses := range out.R1 {
		operator["addresses of "+id] = fmt.Sprint(addresses)
	}
	for _, p := range s.Database.Status.ProcessList() {
		if id := p.InstanceID(); id != "" {
			ours["addresses of "+id] = fmt.Sprint([]string{p.Address.Host})
		}
	}
	return operator, ours, nil
}

// compareDrained compares which addresses the status document proves to be drained. A group
// with that one address stands for it.
func compareDrained(c opcases.Case) (operator, ours opcases.Outcome, err error) {
	var in struct {
		statusInput
		Addresses []string `json:"addresses"`
	}
	var out struct {
		R0 struct {
			FullyExcluded []string `json:"fullyExcluded"`
		} `json:"r0"`
	}
	if err := c.Decode(&in, &out); err != nil {
		return nil, nil, err
	}
	in.Cluster.Status.Configured = true
	s := in.snapshot(&in.Status.Status)
	s.Coordination.ExclusionsRead, s.Coordination.Exclusions = true, in.Addresses
	operator, ours = opcases.Outcome{}, opcases.Outcome{}
	for _, address := range in.Addresses {
		operator[address] = strconv.FormatBool(slices.Contains(out.R0.FullyExcluded, address))
		ours[address] = strconv.FormatBool(safety.Drained(s, groupAt(address)).OK)
	}
	return operator, ours, nil
}

func groupAt(address string) *v1beta2.ProcessGroupStatus {
	g := &v1beta2.ProcessGroupStatus{ProcessGroupID: "any-1", ProcessClass: v1beta2.ProcessClassStorage}
	if parsed, err := fdb.ParseAddress(address); err == nil {
		address = parsed.Host
	}
	g.Addresses = []string{address}
	return g
}
