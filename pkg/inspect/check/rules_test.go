package check

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/findings"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestAllCheckRulesPassOnAHealthyCluster(t *testing.T) {
	r := reportOn(healthy(t), Options{})
	for _, item := range r.Items {
		if item.Outcome != Passed {
			t.Errorf("%s: %s %q %+v", item.Rule, item.Outcome, item.Reason, item.Findings)
		}
	}
	if r.Verdict != VerdictPassed {
		t.Errorf("got %s", r.Verdict)
	}
}

func condition(t v1beta2.ProcessGroupConditionType) func(*Facts) {
	return func(f *Facts) { f.first("storage").SetCondition(t, noon.Add(-time.Hour)) }
}

func deny(owners ...string) func(*Facts) {
	return func(f *Facts) { f.Coordination.DenyList = owners }
}

func expiring(in time.Duration) func(*Facts) {
	return func(f *Facts) {
		f.Secrets = map[string]Secret{"tls": {Expires: map[string]time.Time{"tls.crt": noon.Add(in)}}}
	}
}

// renewed has a certificate that was renewed a while ago, and processes that were started a day ago.
func renewed(ago time.Duration) func(*Facts) {
	return func(f *Facts) {
		f.Secrets = map[string]Secret{"tls": {Issued: noon.Add(-ago), Expires: map[string]time.Time{"tls.crt": noon.Add(90 * 24 * time.Hour)}}}
		for key, p := range f.Database.Status.Cluster.Processes {
			p.UptimeSeconds = new(float64(24 * 60 * 60))
			f.Database.Status.Cluster.Processes[key] = p
		}
	}
}

// deleteClaim deletes the PVC of a log process group, whose volume has a reclaim policy.
func deleteClaim(policy corev1.PersistentVolumeReclaimPolicy) func(*Facts) {
	return func(f *Facts) {
		claim := f.Volumes[f.first("log").PVCName(f.Cluster)]
		claim.DeletionTimestamp, claim.Spec.VolumeName = new(metav1.NewTime(f.Now.Add(-time.Hour))), "pv-1"
		f.BoundVolumes = map[string]*corev1.PersistentVolume{"pv-1": {Spec: corev1.PersistentVolumeSpec{PersistentVolumeReclaimPolicy: policy}}}
	}
}

func disk(free int64) func(*Facts) {
	return func(f *Facts) {
		f.eachProcess(f.first("storage"), func(p *fdb.Process) {
			p.Roles = []fdb.Role{{Role: fdb.RoleStorage, KVStoreAvailableBytes: &free, KVStoreTotalBytes: new(int64(100))}}
		})
	}
}

// problem breaks one thing, with the rule that finds it and parts of its row.
type problem struct {
	rule  string
	given func(*Facts)
	want  string
	fix   string
}

// limitedTo has ratekeeper start so many transactions per second.
func limitedTo(limit float64, name string) func(*Facts) {
	return func(f *Facts) {
		q := f.Database.Status.Cluster.QoS
		q.TransactionsPerSecondLimit, q.PerformanceLimitedBy = &limit, &fdb.Limit{Name: name, Description: "full."}
	}
}

func allProblems() map[string]problem {
	all := maps.Clone(problems)
	maps.Copy(all, backupProblems)
	maps.Copy(all, nameProblems)
	maps.Copy(all, addressProblems)
	maps.Copy(all, otherProblems)
	maps.Copy(all, templateProblems)
	return all
}

var problems = map[string]problem{
	"the database is unavailable": {"AVAIL-001", func(f *Facts) { f.Database.Status.Client.DatabaseStatus.Available = false }, "reports that it is unavailable", "fdb status sample"},
	"the database was never created": {"AVAIL-001", func(f *Facts) {
		f.Cluster.Status.Configured, f.Database = false, plan.DatabaseFacts{NotQueried: "there is no cluster file yet"}
	}, "Not configured", "fdb plan sample"},
	"a knob that suppresses trace events": {"AVAIL-009", func(f *Facts) {
		f.Cluster.Spec.Processes[v1beta2.ProcessClassLog] = v1beta2.ProcessSettings{CustomParameters: v1beta2.FoundationDBCustomParameters{"knob_min_trace_severity=20"}}
	}, "spec.processes[log].customParameters[0]", "edit foundationdbcluster sample"},
	"a process with that knob": {"AVAIL-009", func(f *Facts) {
		f.eachProcess(f.first("log"), func(p *fdb.Process) { p.CommandLine += " --knob_min_trace_severity=20" })
	}, "processgroup/", "edit foundationdbcluster sample"},
	"no more zone may fail": {"AVAIL-002", func(f *Facts) { f.Database.Status.Cluster.FaultTolerance.WithoutLosingData = new(0) }, "0 more zones may fail, 1 desired", "fdb status"},
	"data is healing": {"AVAIL-003", func(f *Facts) {
		f.Database.Status.Cluster.Data.State = &fdb.DataState{Name: "healing", Healthy: new(false)}
	}, "data distribution is in state healing", "fdb status"},
	"a copy is missing":     {"AVAIL-003", func(f *Facts) { f.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = new(1) }, "1 of 2 replicas", "fdb status"},
	"not all is replicated": {"AVAIL-003", func(f *Facts) { f.Database.Status.Cluster.FullReplication = new(false) }, "not all data", "fdb status"},
	"storage lags":          {"AVAIL-004", func(f *Facts) { f.Database.Status.Cluster.QoS.WorstDataLagStorageServer.Seconds = new(90.0) }, "90 s, at most 60 s", "fdb status"},
	"a database that does not call itself healthy": {
		"AVAIL-012", func(f *Facts) { f.Database.Status.Client.DatabaseStatus.Healthy = false }, "does not call itself healthy: it reports no reason", "fdb status",
	},
	"a restore locked the database": {"AVAIL-005", func(f *Facts) {
		f.Database.Status.Cluster.DatabaseLockState = &fdb.LockState{Locked: true, LockUID: "ab"}
	}, "UID ab", "fdb status"},
	"many recoveries": {"AVAIL-006", func(f *Facts) { f.Database.Status.Cluster.RecoveryState.ActiveGenerations = new(11) }, "11 active generations", "fdb status"},
	"a message": {"AVAIL-007", func(f *Facts) {
		f.Database.Status.Cluster.Messages = []fdb.Message{{Name: "storage_server_lagging", Description: "lags"}}
	}, "storage_server_lagging: lags", "fdb status"},
	"maintenance": {"AVAIL-008", func(f *Facts) {
		f.Database.Status.Cluster.MaintenanceZone, f.Database.Status.Cluster.MaintenanceSecondsRemaining = "z1", new(60.0)
	}, "for 1m0s more", "fdb maintenance off sample"},
	"full disks":         {"AVAIL-010", limitedTo(0, "storage_server_min_free_space_ratio"), "starts no transactions: full (storage_server_min_free_space_ratio) (ended by larger volumes", "fdb why sample --performance"},
	"an exhausted limit": {"AVAIL-010", limitedTo(500, "storage_server_write_queue_size"), "ratekeeper limits how many transactions start", "fdb why sample --performance"},
	"data distribution is off": {
		"AVAIL-011", func(f *Facts) { f.Database.Status.Cluster.DataDistributionDisabled = new(true) },
		"data distribution is switched off", "fdb cli sample -- datadistribution on",
	},
	"failures of storage processes are ignored": {
		"AVAIL-011", func(f *Facts) { f.Database.Status.Cluster.DataDistributionDisabledForSSFailures = new(true) },
		"ignores failures of storage processes", "fdb cli sample -- datadistribution enable ssfailure",
	},
	"two zones for triple":             {"TOPO-001", func(f *Facts) { f.Desired.RedundancyMode = "three_data_hall" }, "", "fdb status"},
	"a class that is short of groups":  {"TOPO-002", func(f *Facts) { f.Cluster.Spec.ProcessCounts.Storage = 6 }, "5 process groups, 6 desired", "fdb plan"},
	"a key in two fault domains":       {"TOPO-003", packedInTwo, "pods with the distribution key storage-1 are in several fault domains", "get process-groups sample -o wide"},
	"no quorum":                        {"COORD-001", func(f *Facts) { f.Database.Status.Client.Coordinators.QuorumReachable = false }, "no quorum", "fdb status"},
	"an unreachable coordinator":       {"COORD-002", func(f *Facts) { f.Database.Status.Client.Coordinators.Coordinators[0].Reachable = false }, "the coordinator is unreachable", "fdb status"},
	"a coordinator too few":            {"COORD-003", func(f *Facts) { c := &f.Database.Status.Client.Coordinators; c.Coordinators = c.Coordinators[:2] }, "2 coordinators, 3 desired", "fdb plan"},
	"a data center with a majority":    {"COORD-005", inDataCenters(2), "the loss of one data center leaves no quorum of the 3 coordinators", "get coordinators sample"},
	"a coordinator to be removed":      {"COORD-004", coordinatorToRemove, "is a coordinator and marked for removal", "fdb reconcile"},
	"the resource has another string":  {"CONN-001", func(f *Facts) { f.Cluster.Status.ConnectionString = "old:old@10.0.0.1:4501" }, "old:***@", "fdb reconcile"},
	"the ConfigMap has another string": {"CONN-002", func(f *Facts) { f.ConfigMap.Data["cluster-file"] = "old:old@10.0.0.1:4501" }, "old:***@", "fdb reconcile"},
	"there is no ConfigMap":            {"CONN-002", func(f *Facts) { f.ConfigMap = nil }, "not found", "fdb reconcile"},
	"processes are missing":            {"PG-001", func(f *Facts) { f.dropProcesses(f.first("storage")) }, "MissingProcesses", "get process-groups sample --condition MissingProcesses"},
	"an old pod spec":                  {"PG-002", condition(v1beta2.ConditionIncorrectPodSpec), "IncorrectPodSpec", "fdb plan"},
	"an old command line":              {"PG-003", condition(v1beta2.ConditionIncorrectCommandLine), "IncorrectCommandLine", "fdb plan"},
	"an old ConfigMap in a pod":        {"PG-004", condition(v1beta2.ConditionIncorrectConfigMap), "IncorrectConfigMap", "fdb plan"},
	"old labels":                       {"PG-005", condition(v1beta2.ConditionIncorrectPodMetadata), "IncorrectPodMetadata", "fdb plan"},
	"an old sidecar":                   {"PG-006", condition(v1beta2.ConditionIncorrectSidecarImage), "IncorrectSidecarImage", "fdb plan"},
	"an unreachable sidecar":           {"PG-007", condition(v1beta2.ConditionSidecarUnreachable), "SidecarUnreachable", "get process-groups"},
	"a disk fails":                     {"PG-008", condition(v1beta2.ConditionProcessHasIOError), "ProcessHasIOError", "fdb replace sample --condition ProcessHasIOError"},
	"a group that was excluded":        {"PG-009", condition(v1beta2.ConditionProcessIsMarkedAsExcluded), "ProcessIsMarkedAsExcluded", "get process-groups"},
	"a busy process":                   {"PG-010", func(f *Facts) { f.eachProcess(f.first("log"), func(p *fdb.Process) { p.RunLoopBusy = new(0.95) }) }, "more than 90%", "fdb status"},
	"a kept group fails":               {"PG-011", func(f *Facts) { f.keepFailing(3 * time.Hour) }, "has failed for more than 2h0m0s", `{"spec":{"cancelReplacementsForInstance":["storage-9"]}}`},
	"a kept group is not there":        {"PG-012", func(f *Facts) { f.keepFailing(time.Hour) }, "not in the status", `{"spec":{"cancelReplacementsForInstance":["`},
	"a pod is missing":                 {"POD-001", func(f *Facts) { delete(f.Pods, f.first("log").PodName(f.Cluster)) }, "is missing", "fdb plan"},
	"a pod without a node":             {"POD-002", onPod(func(p *corev1.Pod) { p.Spec.NodeName = "" }), "the pod is Pending and not scheduled yet", "describe pod"},
	"a crash loop":                     {"POD-003", onPod(crash), "the pod cannot start container foundationdb: CrashLoopBackOff", "describe pod"},
	"a pod that terminated":            {"POD-003", onPod(func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted" }), "the pod has ended: Failed: Evicted", "describe pod"},
	"a value that is none":             {"POD-007", onPod(func(p *corev1.Pod) { p.Annotations = map[string]string{v1beta2.AnnotationIPFamily: "moon"} }), `is "moon": must be 0, 4 or 6`, "fdb replace"},
	"a pod that terminates forever":    {"POD-004", onPod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon.Add(-time.Hour)} }), "does not terminate for 60m", "describe pod"},
	"a pod that a finalizer holds": {"POD-004", onPod(func(p *corev1.Pod) {
		p.DeletionTimestamp, p.Finalizers = &metav1.Time{Time: noon.Add(-time.Hour)}, []string{"example.com/hold"}
	}), "it has the finalizer example.com/hold; the controller that set it has to remove it", "describe pod"},
	"a PVC of a removed group that a finalizer holds": {"POD-004", func(f *Facts) {
		holdClaim(f, "example.com/hold")
		delete(f.Pods, f.first("log").PodName(f.Cluster))
		f.first("log").MarkForRemoval(noon.Add(-2 * time.Hour))
		f.first("log").ExclusionTimestamp = &metav1.Time{Time: noon.Add(-2 * time.Hour)}
	}, "does not terminate for 60m: it has the finalizer example.com/hold; the controller that set it has to remove it", "describe pvc"},
	"a PVC that another pod uses": {"POD-004", func(f *Facts) {
		holdClaim(f, "kubernetes.io/pvc-protection")
		delete(f.Pods, f.first("log").PodName(f.Cluster))
	}, "another pod uses it", "describe pvc"},
	"a service that a finalizer holds": {"POD-004", func(f *Facts) {
		f.Services[f.first("log").ServiceName(f.Cluster)] = &corev1.Service{ObjectMeta: metav1.ObjectMeta{
			Name: "held", DeletionTimestamp: &metav1.Time{Time: noon.Add(-time.Hour)}, Finalizers: []string{"example.com/hold"},
		}}
	}, "service held does not terminate for 60m: it has the finalizer example.com/hold", "describe service held"},
	"stateless pods that wait long":    {"POD-005", func(f *Facts) { f.Cluster.Spec.Processes = nil }, "15 s", `"tolerationSeconds":15`},
	"the only copy may leave its node": {"POD-006", func(f *Facts) { f.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeSingle }, "forever", `"key":"node.kubernetes.io/unreachable"`},
	"a tainted node":                   {"NODE-001", condition(v1beta2.ConditionNodeTaintDetected), "NodeTaintDetected", "get process-groups"},
	"a tainted node for long":          {"NODE-002", condition(v1beta2.ConditionNodeTaintReplacing), "NodeTaintReplacing", "get process-groups"},
	"a node that is not ready": {"NODE-003", func(f *Facts) {
		n := f.Others.node(f.Pod(f.first("log")).Spec.NodeName)
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"}}
	}, "the node is not ready (log-", "describe node"},
	"a resource that is being deleted": {"DEL-001", func(f *Facts) {
		f.Cluster.DeletionTimestamp, f.Cluster.Finalizers = new(metav1.NewTime(f.Now.Add(-time.Hour))), []string{"example.com/held"}
	}, "FoundationDBCluster sample is being deleted since 2026-11-20T11:00:00Z, held by finalizer example.com/held; all pods and PVCs go with it", "fdb status"},
	"a namespace that is being deleted": {"DEL-002", func(f *Facts) {
		f.Namespace.Object = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fdb", DeletionTimestamp: new(metav1.NewTime(f.Now.Add(-time.Hour)))}}
	}, "Namespace fdb is being deleted since 2026-11-20T11:00:00Z; all pods and PVCs go with it", "fdb status"},
	"a PVC that is being deleted":           {"DEL-003", deleteClaim(corev1.PersistentVolumeReclaimRetain), "it ends with the pod of log-", "fdb replace sample log-"},
	"a volume that is deleted with its PVC": {"DEL-004", deleteClaim(corev1.PersistentVolumeReclaimDelete), "it has the reclaim policy Delete, and its PVC", "patch pv"},
	"a ConfigMap that is being deleted": {"DEL-005", func(f *Facts) {
		f.ConfigMap.DeletionTimestamp = new(metav1.NewTime(f.Now))
	}, "it is being deleted", "get configmap"},
	"a PVC is missing":                    {"VOL-001", func(f *Facts) { delete(f.Volumes, f.first("log").PVCName(f.Cluster)) }, "is missing", "fdb plan"},
	"a PVC without a volume":              {"VOL-002", func(f *Facts) { f.Volumes[f.first("log").PVCName(f.Cluster)].Status.Phase = corev1.ClaimPending }, "Pending", "describe pvc"},
	"a full disk":                         {"VOL-003", disk(9), "less than 10%", "get process-groups"},
	"a disk that is nearly full":          {"VOL-004", disk(10), "less than 20%", "get process-groups"},
	"a certificate that has expired":      {"CERT-001", expiring(-time.Hour), "expires at 2026-11-20T11:00:00Z", "describe secret tls"},
	"a certificate of a few more days":    {"CERT-002", expiring(6 * 24 * time.Hour), "expires at", "describe secret tls"},
	"a certificate of a few more weeks":   {"CERT-003", expiring(29 * 24 * time.Hour), "expires at", "describe secret tls"},
	"a certificate that was just renewed": {"CERT-004", renewed(time.Hour), "may use the certificate from before the renewal of Secret tls at 2026-11-20T11:00:00Z, until 2026-11-20T23:00:00Z at the latest", "fdb restart sample --class log,stateless,storage --dry-run"},
	"a served certificate of before":      {"CERT-005", serving(sumOld), "the served certificate is in no mounted Secret: SHA-256 0123456789abcdef, valid from 2026-11-19T12:00:00Z to 2027-01-19T12:00:00Z; running processes read a renewed Secret up to 12h0m0s later (the default of tls_cert_refresh_delay_seconds)", "fdb restart sample --class log,stateless,storage --dry-run"},
	"a process of another version":        {"UPGRADE-001", func(f *Facts) { f.eachProcess(f.first("log"), func(p *fdb.Process) { p.Version = "7.1.26" }) }, "runs 7.1.26, 7.3.79 desired", "fdb plan"},
	"a version with a known defect":       {"UPGRADE-003", func(f *Facts) { f.eachProcess(f.first("log"), func(p *fdb.Process) { p.Version = "7.4.7" }) }, "bounce-impact-never-clean, https://github.com/apple/foundationdb/pull/13343", "fdb version"},
	"a client of another protocol":        {"UPGRADE-002", func(f *Facts) { f.Database.Status.Cluster.IncompatibleConnections = []string{"10.9.9.9:1"} }, "protocol is incompatible", "get pods"},
	"a denied lock holder":                {"LOCK-001", both(deny("west"), holdsLock("west", time.Minute)), `"west" holds it`, "fdb reconcile"},
	"a lock that was not released":        {"LOCK-002", holdsLock("west", -time.Minute), `"west" took it`, "fdb reconcile"},
	"a holder that the spec denies":       {"LOCK-003", specDenies("west", false), "the spec denies it", "fdb reconcile"},
	"a holder that the spec allows":       {"LOCK-003", both(deny("west"), specDenies("west", true)), "the spec allows it", "fdb reconcile"},
	"a holder that no spec names":         {"LOCK-003", deny("west"), "does not name it", `{"spec":{"lockOptions":{"denyList":[{"id":"west","allow":true}]}}}`},
	"the own owner is denied":             {"LOCK-004", both(deny("east"), func(f *Facts) { f.Cluster.Spec.ProcessGroupIDPrefix = "east" }), "on the deny list", `"id":"east","allow":true`},
	"a clock a day ahead":                 {"LOCK-006", func(f *Facts) { f.Clock = plan.ClockFacts{Compared: true, Known: true, Ahead: 24 * time.Hour} }, "24h ahead, less than 30s required", "fdb can reconcile"},
	"a Lease of a run that died":          {"LOCK-005", func(f *Facts) { f.Lease.Holder, f.Lease.Until = "me pid 1", noon.Add(-time.Minute) }, "me pid 1 never released it", "fdb reconcile"},
	"another configuration":               {"DRIFT-001", func(f *Facts) { f.Gaps.Generations.NeedsConfigurationChange = 8 }, "does not match the spec", "fdb plan"},
	"something to reconcile":              {"DRIFT-002", func(f *Facts) { f.Gaps.Reasons = []string{"a reason"} }, "a reason", "fdb plan"},
	"reconciliation is paused":            {"DRIFT-003", func(f *Facts) { f.Cluster.Spec.Skip = true }, "spec.skip", `{"spec":{"skip":false}}`},
	"a pod that a quota refuses": {"ADM-001", func(f *Facts) {
		pod := f.first("log").PodName(f.Cluster)
		delete(f.Pods, pod)
		f.Lease.Refusals = []plan.Refusal{{ObjectKind: plan.WrittenPod, ObjectName: pod, Verb: "create", Kind: plan.RefusedByQuota, By: "pods", Message: "exceeded", Since: noon}}
	}, "ResourceQuota pods refused: exceeded; raise the ResourceQuota", "fdb reconcile sample --dry-run=server"},
	"a field of v1beta1": {"CFG-001", func(f *Facts) {
		f.Cluster.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: `{"spec":{"volumeSize":"16G"}}`}
	}, "dropped spec.volumeSize, which FoundationDBCluster does not have: use spec.processes.general.volumeClaimTemplate", "kubectl explain"},
	"a field that the API server dropped": {"CFG-001", func(f *Facts) {
		f.Cluster.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: `{"spec":{"distributionConfig":{}}}`}
	}, "the API server dropped spec.distributionConfig: install manifests/crd, or use the annotation kubectl-fdb/distribution-config", "get foundationdbcluster sample -o yaml"},
	"an image of another version": {"UPGRADE-010", func(f *Facts) {
		f.Cluster.Spec.MainContainer.ImageConfigs = []v1beta2.ImageConfig{{Tag: "7.1.38"}}
	}, "is an image of 7.1.38, and spec.version is 7.3.79: set the tag of 7.3.79, or remove it", "edit foundationdbcluster sample"},
	"an invalid field": {"CFG-011", func(f *Facts) {
		f.InvalidSpec = []plan.InvalidField{{Field: "spec.version", Message: "spec.version: Invalid value: \"seven\""}}
	}, "spec.version: Invalid value", "edit foundationdbcluster sample"},
	"three data halls without a data hall": {"CFG-012", func(f *Facts) {
		f.Cluster.Spec.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeThreeDataHall
	}, "spec.dataHall: Required value: three_data_hall places copies", "edit foundationdbcluster sample"},
	"a memory limit that no fdbserver keeps to": {"CFG-013", func(f *Facts) {
		settings := f.Cluster.Settings(v1beta2.ProcessClassStorage)
		settings.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: v1beta2.ContainerMain, Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")}},
		}}}}
		f.Cluster.Spec.Processes[v1beta2.ProcessClassStorage] = settings
	}, "the memory limit of container foundationdb is 128Mi for 1 fdbserver process, 1Gi each required", "edit foundationdbcluster sample"},
	"an argument that a pass sets": {"CFG-010", func(f *Facts) {
		settings := f.Cluster.Spec.Processes[v1beta2.ProcessClassGeneral]
		settings.CustomParameters = v1beta2.FoundationDBCustomParameters{"locality-zoneid=a"}
		f.Cluster.Spec.Processes[v1beta2.ProcessClassGeneral] = settings
	}, "spec.processes[general].customParameters[0]: locality-zoneid=a: a pass sets locality_zoneid itself, from spec.faultDomain: remove the parameter", "edit foundationdbcluster sample"},
	"a failure that no run has recorded":     {"CFG-002", condition(v1beta2.ConditionMissingPod), "it has failed, no run has recorded that, and none has acted for 6h", "fdb detect-failures sample"},
	"a failure detector without a CronJob":   {"CFG-002", detecting(nil), "has no CronJob yet", "fdb plan sample"},
	"a failure detector that is suspended":   {"CFG-002", detecting(func(j *batchv1.CronJob) { j.Spec.Suspend = new(true) }), "it is suspended", "describe cronjob sample-failure-detector"},
	"a failure detector without any success": {"CFG-002", detecting(func(*batchv1.CronJob) {}), "no job has succeeded for more than 6h", "describe cronjob sample-failure-detector"},
	"a failure detector that fails": {"CFG-002", detecting(func(j *batchv1.CronJob) {
		j.Status.LastScheduleTime, j.Status.LastSuccessfulTime = &metav1.Time{Time: noon}, &metav1.Time{Time: noon.Add(-7 * time.Hour)}
	}), "no job has succeeded for more than 6h", "describe cronjob sample-failure-detector"},
	"an old pod": {"ORPHAN-001", func(f *Facts) { f.Pods["old"] = &corev1.Pod{} }, "none of its processes reports", "delete pod old"},
	"an old pod of a database that lists no processes": {"ORPHAN-001", func(f *Facts) {
		f.Pods["old"], f.Database.Status.Cluster.Processes = &corev1.Pod{}, nil
	}, "whether its processes report is unknown", "describe pod old"},
	"an old pod that serves":          {"ORPHAN-001", orphanServes, "its processes report to the database", "describe pod old"},
	"a pod that the next pass adopts": {"ORPHAN-001", func(f *Facts) { f.Resource.Status.ProcessGroups = f.Resource.Status.ProcessGroups[1:] }, "the next pass adopts it as processgroup/", "fdb plan"},
	"a PVC that the next pass adopts": {"ORPHAN-002", func(f *Facts) { f.Resource.Status.ProcessGroups = nil }, "the next pass adopts it as processgroup/", "fdb plan"},
	"a service that the next pass adopts": {"ORPHAN-003", func(f *Facts) {
		f.Services[f.first("log").ServiceName(f.Cluster)] = &corev1.Service{}
		f.Resource.Status.ProcessGroups = nil
	}, "the next pass adopts it as processgroup/", "fdb plan"},
	"an old PVC": {"ORPHAN-002", func(f *Facts) { f.Volumes["old"] = &corev1.PersistentVolumeClaim{} }, "belongs to no process group", "delete pvc old"},
	"an old PVC while replicas are missing": {"ORPHAN-002", func(f *Facts) {
		f.Volumes["old"] = &corev1.PersistentVolumeClaim{}
		f.Database.Status.Cluster.Data.TeamTrackers[0].State.MinReplicasRemaining = new(1)
	}, "belongs to no process group", "describe pvc old"},
	"an old service":            {"ORPHAN-003", func(f *Facts) { f.Services["old"] = &corev1.Service{} }, "belongs to no process group", "describe service old"},
	"an unmatched exclusion":    {"ORPHAN-004", exclusion("10.99.0.1"), "no process matches it", "fdbcli --exec include 10.99.0.1"},
	"an exclusion of an old ID": {"ORPHAN-004", exclusion("locality_instance_id:storage-99"), "no process matches it", "include locality_instance_id:storage-99"},
	"an unmatched process": {"ORPHAN-005", func(f *Facts) {
		f.eachProcess(f.first("log"), func(p *fdb.Process) { p.Locality["instance_id"] = "log-99" })
	}, "no process group of the resource", "fdb status"},
	"backups are hidden": {"RBAC-001", func(f *Facts) { f.Backups = inspect.ClusterBackups{Unread: "forbidden: x", Forbidden: true} }, "forbidden: x", "auth can-i list foundationdbbackups.apps"},
	"a quota without room for what a manifest adds": {codeRoom, func(f *Facts) {
		full := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "compute"}, Status: corev1.ResourceQuotaStatus{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}}}
		f.Manifests = &Manifests{OfCluster: true, Namespace: &plan.NamespaceFacts{Quotas: []corev1.ResourceQuota{full}}}
		f.Cluster = f.Cluster.NormalizedToRead()
		f.Cluster.Status.ProcessGroups = f.Cluster.Status.ProcessGroups[3:]
	}, "ResourceQuota compute has no room for the added process groups: pods 3 of 2; raise the ResourceQuota", "edit foundationdbcluster sample"},
	"budgets are hidden":          {"RBAC-001", func(f *Facts) { f.Others.BudgetsUnread = "forbidden: x" }, "forbidden: x", "auth can-i list poddisruptionbudgets.policy"},
	"storage classes are hidden":  {"RBAC-001", func(f *Facts) { f.Others.ClassesUnread = "forbidden: x" }, "forbidden: x", "auth can-i list storageclasses.storage.k8s.io"},
	"nodes may not be listed":     {"RBAC-001", func(f *Facts) { f.Others.NodesUnread = "forbidden: x" }, "forbidden: x", "auth can-i list nodes"},
	"nodes are hidden":            {"RBAC-001", func(f *Facts) { f.NodesHidden = "nodes is forbidden" }, "nodes is forbidden", "auth can-i list nodes"},
	"no permission to run a pass": {"RBAC-002", func(f *Facts) { f.Missing = []string{"create pods"} }, "not allowed", "auth can-i --list"},
}

// detecting enables the failure detector. The CronJob is old; there is none without an edit.
func detecting(edit func(*batchv1.CronJob)) func(*Facts) {
	return func(f *Facts) {
		f.Cluster.Spec.AutomationOptions.Replacements.FailureDetectionCronJob = &v1beta2.FailureDetectionCronJob{Enabled: new(true)}
		if edit != nil {
			f.Detector.Job = &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.Time{Time: noon.Add(-24 * time.Hour)}}}
			edit(f.Detector.Job)
		}
	}
}

// Failures that are about to be recorded, or that lead to no replacement, are no findings.
func TestCheckReportsOnlyFailuresThatWereNotDetected(t *testing.T) {
	failed := condition(v1beta2.ConditionMissingPod)
	tests := map[string]struct {
		given func(*Facts)
		want  Outcome
	}{
		"a run acted lately":           {both(failed, func(f *Facts) { f.Lease.Until = noon.Add(-5 * time.Hour) }), Passed},
		"a run acted long ago":         {both(failed, func(f *Facts) { f.Lease.Until = noon.Add(-7 * time.Hour) }), Failed},
		"a run recorded it":            {both(failed, func(f *Facts) { f.Resource.Status = *f.Cluster.Status.DeepCopy() }), Passed},
		"nothing is replaced":          {both(failed, func(f *Facts) { f.Cluster.Spec.AutomationOptions.Replacements.Enabled = new(false) }), Passed},
		"the Lease cannot be read":     {both(failed, func(f *Facts) { f.Lease.Read = false }), NotChecked},
		"a condition that replaces no": {condition(v1beta2.ConditionIncorrectPodSpec), Passed},
		"one that is being replaced":   {both(failed, func(f *Facts) { f.first("storage").MarkForRemoval(noon) }), Passed},
		"a detector at work": {both(failed, detecting(func(j *batchv1.CronJob) {
			j.Status.LastSuccessfulTime = &metav1.Time{Time: noon.Add(-5 * time.Hour)}
		})), Passed},
		"a new detector":      {detecting(func(j *batchv1.CronJob) { j.CreationTimestamp.Time = noon.Add(-time.Hour) }), Passed},
		"CronJobs are hidden": {both(detecting(nil), func(f *Facts) { f.Detector.Hidden = "forbidden" }), NotChecked},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			if item := itemOf(t, reportOn(f, Options{}), "CFG-002"); item.Outcome != tc.want {
				t.Errorf("got %s: %+v", item.Outcome, item)
			}
		})
	}
}

func both(first, second func(*Facts)) func(*Facts) {
	return func(f *Facts) { first(f); second(f) }
}

// holdClaim deletes a PVC an hour ago; the finalizer keeps it.
func holdClaim(f *Facts, finalizer string) {
	claim := f.Volumes[f.first("log").PVCName(f.Cluster)]
	claim.DeletionTimestamp, claim.Finalizers = &metav1.Time{Time: noon.Add(-time.Hour)}, []string{finalizer}
}

func onPod(edit func(*corev1.Pod)) func(*Facts) {
	return func(f *Facts) { edit(f.Pod(f.first("log"))) }
}

func crash(p *corev1.Pod) {
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "foundationdb", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
}

func holdsLock(owner string, left time.Duration) func(*Facts) {
	return func(f *Facts) {
		f.Coordination.Lock = &fdb.Lock{Owner: owner, Start: noon.Add(-time.Hour), End: noon.Add(left)}
	}
}

func specDenies(id string, allow bool) func(*Facts) {
	return func(f *Facts) {
		f.Cluster.Spec.LockOptions.DenyList = []v1beta2.LockDenyListEntry{{ID: id, Allow: allow}}
	}
}

func coordinatorToRemove(f *Facts) {
	for _, g := range f.Groups() {
		if slices.ContainsFunc(f.Database.Status.ProcessesOf(string(g.ProcessGroupID)), f.Database.Status.IsCoordinator) {
			g.MarkForRemoval(noon.Add(-time.Hour))
			return
		}
	}
}

func orphanServes(f *Facts) {
	f.Pods["old"] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
		f.Cluster.ProcessGroupIDLabels()[0]: string(f.first("log").ProcessGroupID),
	}}}
}

func exclusion(target string) func(*Facts) {
	return func(f *Facts) {
		e := fdb.ExcludedServer{Address: target}
		if locality, found := strings.CutPrefix(target, "locality_"); found {
			e = fdb.ExcludedServer{Locality: "locality_" + locality}
		}
		f.Database.Status.Cluster.Configuration.ExcludedServers = []fdb.ExcludedServer{e}
	}
}

func TestCheckRulesFindTheirProblems(t *testing.T) {
	for name, tc := range allProblems() {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			item := itemOf(t, reportOn(f, Options{}), tc.rule)
			if item.Outcome != Failed || len(item.Findings) == 0 {
				t.Fatalf("%s found nothing: %+v", tc.rule, item)
			}
			v := item.Findings[0]
			if !strings.Contains(v.Message, tc.want) || !strings.Contains(v.Fix, tc.fix) || !strings.HasPrefix(v.Fix, "kubectl ") {
				t.Errorf("got %q, fix %q, want %q and %q", v.Message, v.Fix, tc.want, tc.fix)
			}
			if v.Count != len(v.Subjects) || v.Count == 0 {
				t.Errorf("got %d subjects in %v", v.Count, v.Subjects)
			}
		})
	}
}

func itemOf(t *testing.T, r Report, code string) Item {
	t.Helper()
	i := slices.IndexFunc(r.Items, func(i Item) bool { return i.Rule == code })
	if i < 0 {
		t.Fatalf("no rule %s", code)
	}
	return r.Items[i]
}

func TestEveryCheckRuleHasATestAndAnExplanation(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.Code] || r.Title == "" || r.Why == "" || !slices.Contains(findings.Severities(), r.Severity) {
			t.Errorf("%s: duplicate, or without text: %+v", r.Code, r)
		}
		seen[r.Code] = true
		found := false
		for _, tc := range allProblems() {
			found = found || tc.rule == r.Code
		}
		if !found {
			t.Errorf("no test shows that %s finds anything", r.Code)
		}
	}
}

// A rule that cannot be evaluated is not checked, with a reason.
func TestRulesThatCannotBeEvaluatedAreNotChecked(t *testing.T) {
	unreachable := func(f *Facts) { f.Database = plan.DatabaseFacts{Unreachable: "timed out"} }
	tests := map[string]struct {
		given func(*Facts)
		rules []string
		want  string
	}{
		"no answer from the database": {unreachable, []string{
			"AVAIL-001", "AVAIL-002", "AVAIL-003", "AVAIL-007", "TOPO-001", "COORD-001", "COORD-003", "CONN-001", "PG-001", "PG-010", "VOL-003", "UPGRADE-001", "LOCK-001", "DRIFT-001", "ORPHAN-004",
		}, "timed out"},
		"an unavailable database": {func(f *Facts) { f.Database.Status.Client.DatabaseStatus.Available = false }, []string{"AVAIL-002", "PG-001", "NODE-001", "ORPHAN-005"}, "the database is unavailable"},
		"a database that lists no processes": {func(f *Facts) { f.Database.Status.Cluster.Processes = nil }, []string{
			"TOPO-001", "UPGRADE-001", "UPGRADE-002", "VOL-003",
		}, "lists no processes"},
		"a zone of an unavailable database": {func(f *Facts) { f.Database.Status.Client.DatabaseStatus.Available = false }, []string{"AVAIL-008"}, "the database is unavailable"},
		"backups that may not be listed": {func(f *Facts) {
			f.Backups = inspect.ClusterBackups{Unread: "forbidden: foundationdbbackups"}
		}, []string{"BACKUP-001", "BACKUP-004", "BACKUP-010", "BACKUP-014", "RESTORE-001", "RESTORE-003"}, "forbidden: foundationdbbackups"},
		"a backup that may not be read": {func(f *Facts) {
			f.Backups.Backups[0].View, f.Backups.Backups[0].Unread = nil, "forbidden: deployments.apps"
		}, []string{"BACKUP-001", "BACKUP-003"}, "foundationdbbackup/nightly: forbidden: deployments.apps"},
		"a backup without an answer": {onBackup(func(v *inspect.BackupStatusView) {
			v.UnknownReason, v.Running, v.Paused, v.Restorable, v.LatestRestorable, v.Snapshot = "no backup agent runs", nil, nil, nil, nil, nil
		}), []string{"BACKUP-003", "BACKUP-004", "BACKUP-005", "BACKUP-006", "BACKUP-007", "BACKUP-008", "BACKUP-009"}, "no backup agent runs"},
		"clusters that may not be listed": {func(f *Facts) { f.Backups.ClustersUnread = "forbidden" }, []string{"BACKUP-013"}, "clusters could not be listed"},
		"a restore without an answer": {onRestore(func(v *inspect.RestoreStatusView) {
			v.UnknownReason, v.RecordedState, v.Done, v.Over, v.State = "timed out", "running", nil, false, nil
		}), []string{"RESTORE-001", "RESTORE-002"}, "timed out"},
		"a restore that may not be read": {func(f *Facts) {
			f.Backups.Restores[0].View, f.Backups.Restores[0].Unread = nil, "forbidden: x"
		}, []string{"RESTORE-001", "RESTORE-002"}, "forbidden: x"},
		"a restore, and no answer from the database": {unreachable, []string{"RESTORE-003"}, "timed out"},
		"hidden nodes": {func(f *Facts) { f.NodesHidden = "nodes is forbidden" }, []string{"NODE-001", "NODE-002", "NODE-003"}, "nodes is forbidden"},
		"Secrets that may not be read": {func(f *Facts) {
			f.Secrets = map[string]Secret{"tls": {Unread: "forbidden"}}
		}, []string{"CERT-001", "CERT-002", "CERT-003"}, "Secret tls: forbidden"},
		"a Secret without a certificate": {func(f *Facts) { f.Secrets = map[string]Secret{"tls": {}} }, []string{"CERT-004"}, "Secret tls: it has no certificate"},
		"processes of unknown uptime": {both(renewed(time.Hour), func(f *Facts) {
			for key, p := range f.Database.Status.Cluster.Processes {
				p.UptimeSeconds = nil
				f.Database.Status.Cluster.Processes[key] = p
			}
		}), []string{"CERT-004"}, "the uptime is unknown for 12 processes"},
		"a renewal, and no answer":         {both(renewed(time.Hour), unreachable), []string{"CERT-004"}, "when processes started is unknown"},
		"certificates from another source": {func(f *Facts) { f.Secrets = map[string]Secret{} }, []string{"CERT-001"}, "another source"},
		"the shared lists were not read": {func(f *Facts) {
			f.Coordination.Read, f.Cluster.Spec.LockOptions.DisableLocks = false, new(false)
		}, []string{"LOCK-001", "LOCK-002", "LOCK-003", "LOCK-004"}, "were not read"},
		"a Lease that may not be read": {func(f *Facts) { f.Lease.Read = false }, []string{"LOCK-005", "ADM-001"}, "could not be read"},
		"an API server without a time": {func(f *Facts) { f.Clock = plan.ClockFacts{Compared: true} }, []string{"LOCK-006"}, "cannot determine the time"},
		"permissions that are unknown": {func(f *Facts) { f.MissingRead = false }, []string{"RBAC-002"}, "the permissions could not be read"},
		"a disk of unknown size": {func(f *Facts) {
			f.eachProcess(f.first("storage"), func(p *fdb.Process) { p.Roles = []fdb.Role{{Role: fdb.RoleLog}} })
		}, []string{"VOL-003", "VOL-004"}, "the disk size is unknown"},
		"an unknown fault tolerance":    {func(f *Facts) { f.Database.Status.Cluster.FaultTolerance = nil }, []string{"AVAIL-002"}, "the fault tolerance is unknown"},
		"an unknown replication":        {func(f *Facts) { f.Database.Status.Cluster.FullReplication = nil }, []string{"AVAIL-003"}, "fully replicated is unknown"},
		"a database without its string": {func(f *Facts) { f.Database.Status.Cluster.ConnectionString = "" }, []string{"CONN-001"}, "the connection string of the database is unknown"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			r := reportOn(f, Options{})
			for _, code := range tc.rules {
				if item := itemOf(t, r, code); item.Outcome != NotChecked || !strings.Contains(item.Reason, tc.want) {
					t.Errorf("%s: %s because %q, want not-checked because %q", code, item.Outcome, item.Reason, tc.want)
				}
			}
		})
	}
}

func TestExclusionsOfOtherControlPlaneInstancesAreNotOrphaned(t *testing.T) {
	f := healthy(t)
	f.Cluster.Spec.ProcessGroupIDPrefix = "east"
	exclusion("locality_instance_id:west-storage-1")(&f)
	f.eachProcess(f.first("log"), func(p *fdb.Process) { p.Locality["instance_id"] = "west-log-99" })
	for _, code := range []string{"ORPHAN-004", "ORPHAN-005"} {
		if item := itemOf(t, reportOn(f, Options{}), code); item.Outcome != Passed {
			t.Errorf("%s: %+v", code, item)
		}
	}
}
