package execute

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/recovery/rebuild"
)

// resourceLost is the loss of the FoundationDBCluster. It is no kind of a plan, which needs the resource:
// its manifest is inferred first.
const resourceLost recovery.Kind = "resource-lost"

// former is what a cluster had before its resource was deleted.
type former struct {
	spec          v1beta2.FoundationDBClusterSpec
	connection    string
	groups        map[v1beta2.ProcessGroupID]v1beta2.ProcessClass
	volumes       map[string]string // names of volumes by PVC
	pods          map[string]types.UID
	configuration fdb.Configuration
	// halfway is whether a change of the spec had not reached all pods.
	halfway bool
	// refused is why no plan may have steps; empty if one may.
	refused string
}

// traced are settings that pods, PVCs or processes show.
func (o *ordeal) traced(s *v1beta2.FoundationDBClusterSpec) {
	names := o.setup.IntN(2) == 0
	s.Routing.UseDNSInClusterFile = &names
	if o.setup.IntN(3) == 0 {
		s.ProcessGroupIDPrefix = "east"
	}
	if o.setup.IntN(4) == 0 {
		s.DatabaseConfiguration.RedundancyMode = v1beta2.RedundancyModeTriple
		s.ProcessCounts.Storage, s.ProcessCounts.Log = 6, 5
	}
	general := v1beta2.ProcessSettings{}
	if o.setup.IntN(2) == 0 {
		general.CustomParameters = v1beta2.FoundationDBCustomParameters{"knob_disable_posix_kernel_aio=1"}
	}
	if o.setup.IntN(2) == 0 {
		general.PodTemplate = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "storage"}}}
		general.PodTemplate.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	}
	s.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{v1beta2.ProcessClassGeneral: general}
	if o.setup.IntN(2) == 0 {
		storage := general
		storage.VolumeClaimTemplate = &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("64Gi")},
		}}}
		s.Processes[v1beta2.ProcessClassStorage] = storage
	}
}

// loseResource deletes the resource, and by seed pods, PVCs and the ConfigMap as well.
func (o *ordeal) loseResource() {
	o.former = former{
		connection: o.Resource.Status.ConnectionString, groups: map[v1beta2.ProcessGroupID]v1beta2.ProcessClass{},
		volumes: maps.Clone(o.data), pods: map[string]types.UID{}, configuration: o.configuration(),
	}
	if o.oneIn(4) {
		o.beginRollout()
	}
	o.former.spec = *o.Resource.Spec.DeepCopy()
	for _, g := range o.Resource.Status.ProcessGroups {
		o.former.groups[g.ProcessGroupID] = g.ProcessClass
	}
	switch o.random.IntN(3) {
	case 0:
		for name, pod := range o.Pods {
			o.former.pods[name] = pod.UID
		}
		o.tell("the resource was deleted, and its objects were kept")
	case 1:
		o.addresses()
		o.killAll()
		o.tell("the resource and all pods were lost")
	default:
		o.addresses()
		o.killAll()
		o.release()
		o.tell("the resource, all pods and all PVCs were lost")
	}
	if len(o.Volumes) == 0 || o.oneIn(4) {
		o.ConfigMap = nil
		o.tell("the ConfigMap was lost")
	}
	if len(o.former.pods) == 0 {
		clear(o.Services)
	}
}

// killAll ends all pods.
func (o *ordeal) killAll() {
	for _, name := range o.RunningPods() {
		o.KillPod(name)
	}
}

// release deletes all PVCs. By seed, one of them had another volume before.
func (o *ordeal) release() {
	names := slices.Sorted(maps.Keys(o.data))
	for _, name := range names {
		delete(o.Volumes, name)
		o.volumes[o.data[name]].Status.Phase = corev1.VolumeReleased
	}
	if o.oneIn(6) {
		second := o.volumes[o.data[names[0]]].DeepCopy()
		second.Name, second.UID, second.Spec.ClaimRef.UID = "pv-second", "pv-second", "another"
		o.volumes[second.Name] = second
		o.former.refused = "two released volumes for " + names[0]
		o.ambiguous = true
		o.tell("there are %s", o.former.refused)
	}
}

// beginRollout changes the spec, and runs so few passes that it may not have reached all pods.
func (o *ordeal) beginRollout() {
	general := o.Resource.Spec.Processes[v1beta2.ProcessClassGeneral]
	if o.oneIn(2) {
		general.CustomParameters = append(general.CustomParameters, "knob_min_trace_severity=10")
	} else {
		general.PodTemplate = &corev1.PodTemplateSpec{}
		general.PodTemplate.Spec.Tolerations = []corev1.Toleration{{Key: "other", Operator: corev1.TolerationOpExists}}
	}
	o.Resource.Spec.Processes[v1beta2.ProcessClassGeneral] = general
	o.Resource.Generation++
	o.former.halfway = !o.settle(1 + o.random.IntN(3))
	o.tell("a change of the spec was rolled out: %t", !o.former.halfway)
}

// configuration is that of the database.
func (o *ordeal) configuration() fdb.Configuration {
	var s plan.Snapshot
	if err := o.Observe(o.t.Context(), &s, plan.Database); err != nil || s.Database.Status == nil || s.Database.Status.Cluster.Configuration == nil {
		o.t.Fatalf("no configuration: %v, %s", err, s.Database.Why())
	}
	return *s.Database.Status.Cluster.Configuration
}

// leftovers are what `recover manifest` reads.
func (o *ordeal) leftovers() rebuild.Facts {
	f := rebuild.Facts{Name: o.Resource.Name, Namespace: o.Resource.Namespace, Unread: map[string]string{}, ConfigMap: o.ConfigMap, StatusUnknown: "no pod is ready"}
	for _, name := range slices.Sorted(maps.Keys(o.Pods)) {
		f.Pods = append(f.Pods, *o.Pods[name].DeepCopy())
	}
	for _, name := range slices.Sorted(maps.Keys(o.Volumes)) {
		f.Claims = append(f.Claims, *o.Volumes[name].DeepCopy())
	}
	for _, name := range slices.Sorted(maps.Keys(o.Services)) {
		f.Services = append(f.Services, *o.Services[name].DeepCopy())
	}
	for _, name := range slices.Sorted(maps.Keys(o.volumes)) {
		f.Volumes = append(f.Volumes, *o.volumes[name].DeepCopy())
	}
	var s plan.Snapshot
	if err := o.Observe(o.t.Context(), &s, plan.Database); len(f.Pods) > 0 && err == nil {
		f.Status, f.StatusUnknown = s.Database.Status, s.Database.Why()
	}
	return f
}

// recoverResource infers the manifest, applies it, and follows the page from there on.
func (o *ordeal) recoverResource() {
	m, err := rebuild.Rebuild(o.leftovers())
	if err != nil {
		o.violate("no manifest: %v", err)
		return
	}
	o.applyManifest(m)
	switch {
	case len(o.Pods) > 0:
		o.continueWithPods(m)
	case len(o.Volumes) > 0:
		o.continueWithClaims()
	default:
		o.recover()
	}
	if o.end == endRecovered {
		o.complete()
	}
}

// unknown reports whether a manifest has a field as unknown.
func unknown(m rebuild.Manifest, path string) bool {
	return slices.ContainsFunc(m.Unknown, func(u rebuild.Unknown) bool { return u.Path == path })
}

// resourceOf returns the resource of a manifest.
func (o *ordeal) resourceOf(m rebuild.Manifest) *v1beta2.FoundationDBCluster {
	text, err := json.Marshal(m.Resource)
	if err != nil {
		o.t.Fatal(err)
	}
	c := &v1beta2.FoundationDBCluster{}
	if err := json.Unmarshal(text, c); err != nil {
		o.t.Fatal(err)
	}
	return c
}

// applyManifest applies the manifest, with what a user adds that it states as unknown.
func (o *ordeal) applyManifest(m rebuild.Manifest) {
	c := o.resourceOf(m)
	if len(o.Pods) == 0 && !o.former.halfway && o.oneIn(3) {
		o.tell("the manifest is in version control")
		c.Spec = *o.former.spec.DeepCopy()
		c.Spec.SeedConnectionString = ""
	}
	c.UID, c.Generation, c.CreationTimestamp = "recreated", 1, metav1.NewTime(o.Now())
	if c.Spec.SeedConnectionString == "" && o.ConfigMap == nil {
		o.addSeed(c, m)
	}
	if unknown(m, "spec.version") {
		c.Spec.Version = o.former.spec.Version
	}
	if unknown(m, "spec.processGroupIDPrefix") {
		c.Spec.ProcessGroupIDPrefix = o.former.spec.ProcessGroupIDPrefix
	}
	if unknown(m, "spec.routing.useDNSInClusterFile") {
		c.Spec.Routing.UseDNSInClusterFile = o.former.spec.Routing.UseDNSInClusterFile
	}
	o.Resource = c
	if c.Spec.Version != o.former.spec.Version {
		o.violate("version %q, was %q, and the manifest does not state that it is unknown", c.Spec.Version, o.former.spec.Version)
	}
}

// addSeed adds the connection string of a client, unless a user forgets it.
func (o *ordeal) addSeed(c *v1beta2.FoundationDBCluster, m rebuild.Manifest) {
	if !unknown(m, "spec.seedConnectionString") && len(o.Pods) == 0 {
		o.violate("nothing has the connection string, and the manifest does not state that it is unknown")
	}
	if o.oneIn(4) {
		o.former.refused = "no connection string"
		o.ambiguous = true
		o.tell("the connection string is not added")
		return
	}
	c.Spec.SeedConnectionString = o.former.connection
}

// continueWithPods runs passes over a manifest whose pods are there. They may change nothing of them,
// unless the manifest states before that pods or processes differ.
func (o *ordeal) continueWithPods(m rebuild.Manifest) {
	stated := differs(m)
	if stated && !o.former.halfway {
		o.violate("nothing differs, and the manifest states %+v %v", m.Match, m.Unknown)
	}
	before := len(o.Acted)
	if o.oneIn(3) {
		o.cut = cut{at: 1 + o.random.IntN(4), after: o.oneIn(2), kills: true}
		o.settle(1)
		o.cut, o.killed = cut{}, false
		o.meanwhile()
	}
	settled := o.settle(mostPasses)
	if stated {
		o.tell("the manifest stated what differs: %d of %d pods are equal", m.Match.MatchingPods, m.Match.Pods)
		o.end = endRecovered
		return
	}
	if !settled {
		o.violate("passes over the inferred manifest do not settle")
	}
	for _, a := range o.Acted[before:] {
		if !harmless(a) {
			o.violate("a pass over the inferred manifest: %s", a.Describe())
		}
	}
	for name, uid := range o.former.pods {
		if o.Pods[name] == nil || o.Pods[name].UID != uid {
			if o.ambiguous {
				continue // it was recreated meanwhile
			}
			o.violate("pod %s was replaced", name)
		}
	}
	o.end = endRecovered
}

// differs reports whether a manifest states that a pass over it would change pods, processes or the database.
func differs(m rebuild.Manifest) bool {
	return m.Match == nil || m.Match.MatchingPods < m.Match.Pods || m.Match.MatchingClaims < m.Match.Claims ||
		m.Match.MatchingConfigured < m.Match.Pods || unknown(m, "spec.databaseConfiguration")
}

// harmless reports whether an action changes neither pods nor the database.
func harmless(a plan.Action) bool {
	switch any(a).(type) {
	case plan.WriteStatus, plan.SetConnectionString, plan.ApplyConfigMap, plan.ApplyService, plan.PatchMetadata, plan.SyncPodFiles, plan.ApplyDisruptionBudget, plan.RecordTaints:
		return true
	}
	return false
}

// continueWithClaims has a pass restore the status from the PVCs, and plans from there.
func (o *ordeal) continueWithClaims() {
	const few = 4
	if o.settle(few); o.former.refused != "" {
		o.end = endRefused
		if o.Resource.Status.ConnectionString != "" {
			o.violate("without a connection string, a pass has begun with %s", o.Resource.Status.ConnectionString)
		}
		o.notWorse()
		return
	}
	o.Tick(time.Minute)
	if p := o.plan(); p.Kind == recovery.NothingLost { // the pods found each other by their names
		o.end = endRecovered
		o.verify(p)
		return
	}
	o.recover()
}

// mostPasses bounds how many passes a recreated resource may need.
const mostPasses = 40

// complete removes what the manifest had for its review only, and has passes complete the cluster. What
// they know of it is what it had.
func (o *ordeal) complete() {
	if o.Resource.Spec.DatabaseConfiguration.RedundancyMode == "" {
		m, err := rebuild.Rebuild(o.leftovers())
		if err != nil || unknown(m, "spec.databaseConfiguration") {
			o.violate("the database is available, and its configuration is unknown: %v", err)
			return
		}
		o.applyDatabaseConfiguration(m)
		o.tell("the configuration is inferred from the database: %s", o.Resource.Spec.DatabaseConfiguration.RedundancyMode)
	}
	o.Resource.Spec.Skip, o.Resource.Spec.SeedConnectionString = false, ""
	o.cut, o.killed = cut{}, false
	if !o.settle(mostPasses) && !o.former.halfway { // replacements wait for the age of recoveries
		o.violate("passes over the completed manifest do not settle")
	}
	o.sameCluster()
	o.verify(recovery.Plan{})
}

func (o *ordeal) applyDatabaseConfiguration(m rebuild.Manifest) {
	c := o.resourceOf(m)
	o.Resource.Spec.DatabaseConfiguration = c.Spec.DatabaseConfiguration
	o.Resource.Generation++
}

// sameCluster verifies that process groups with data, their volumes and the configuration are the former ones.
func (o *ordeal) sameCluster() {
	version, err := fdb.ParseVersion(o.Resource.Spec.Version)
	if err != nil {
		o.t.Fatal(err)
	}
	if differences := o.configuration().Differences(o.former.configuration, version); len(differences) > 0 {
		o.violate("the configuration differs from the former one: %v", differences)
	}
	if o.former.halfway {
		return // passes replace what the manifest stated to differ
	}
	now := map[v1beta2.ProcessGroupID]*v1beta2.ProcessGroupStatus{}
	for _, g := range o.Resource.Status.ProcessGroups {
		now[g.ProcessGroupID] = g
	}
	for id, class := range o.former.groups {
		switch g := now[id]; {
		case !class.IsStateful():
		case g == nil:
			o.violate("process group %s is not in the status", id)
		case g.IsMarkedForRemoval():
			o.violate("process group %s is marked for removal", id)
		}
	}
	for claim, volume := range o.former.volumes {
		if o.data[claim] != volume {
			o.violate("PVC %s has volume %s, and had %s", claim, o.data[claim], volume)
		}
	}
	if s := o.Resource.Status.ConnectionString; !o.ambiguous && !strings.HasPrefix(s, recovery.Generation(o.former.connection)+"@") {
		o.violate("the connection string is %s, and was %s", s, o.former.connection)
	}
}
