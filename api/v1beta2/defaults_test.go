package v1beta2

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestClusterSpecDefaults(t *testing.T) {
	c := cluster()
	tainted := func(zones int) int {
		n, err := c.MaxFaultDomainsWithTaintedProcessGroups(zones)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	tests := map[string]struct{ got, want any }{
		"configureDatabase":                                 {c.ConfigureDatabase(), true},
		"killProcesses":                                     {c.KillProcesses(), true},
		"replacements.enabled":                              {c.ReplacementsEnabled(), true},
		"replacements.failureDetectionTimeSeconds":          {c.FailureDetectionTime(), 2 * time.Hour},
		"replacements.taintReplacementTimeSeconds":          {c.TaintReplacementTime(), 30 * time.Minute},
		"replacements.maxConcurrentReplacements":            {c.MaxConcurrentAutomaticReplacements(), 1},
		"replacements.faultDomainBasedReplacements":         {c.FaultDomainBasedReplacements(), false},
		"a tenth of 39 tainted zones":                       {tainted(39), 3},
		"at least one tainted zone":                         {tainted(3), 1},
		"maxConcurrentReplacements":                         {c.MaxConcurrentMisconfigurationReplacements(), math.MaxInt},
		"ignorePendingPodsDuration":                         {c.IgnorePendingPodsFor(), 5 * time.Minute},
		"ignoreMissingProcessesSeconds":                     {c.IgnoreMissingProcessesFor(), 30 * time.Second},
		"failedPodDurationSeconds":                          {c.FailedPodDuration(), 5 * time.Minute},
		"ignoreTerminatingPodsSeconds":                      {c.IgnoreTerminatingPodsFor(), 10 * time.Minute},
		"waitBetweenRemovalsSeconds":                        {c.WaitBetweenRemovals(), time.Minute},
		"deletionMode":                                      {c.DeletionMode(), PodUpdateModeZone},
		"removalMode":                                       {c.RemovalMode(), PodUpdateModeZone},
		"podUpdateStrategy":                                 {c.PodUpdateStrategy(), PodUpdateStrategyReplaceTransactionSystem},
		"maxZonesWithUnavailablePods":                       {c.MaxZonesWithUnavailablePods(), math.MaxInt},
		"useLocalitiesForExclusion":                         {c.UseLocalitiesForExclusion(), true},
		"maintenanceModeOptions.UseMaintenanceModeChecker":  {c.UseMaintenanceModeChecker(), false},
		"maintenanceModeOptions.resetMaintenanceMode":       {c.ResetMaintenanceMode(), false},
		"maintenanceModeOptions.maintenanceModeTimeSeconds": {c.MaintenanceModeTime(), 10 * time.Minute},
		"synchronizationMode":                               {c.SynchronizationMode(), SynchronizationModeLocal},
		"databaseInteractionMode":                           {c.DatabaseInteractionMode(), DatabaseInteractionModeFdbcli},
		"minimumUptimeSecondsForBounce":                     {c.MinimumUptimeForBounce(), 10 * time.Minute},
		"replaceInstancesWhenResourcesChange":               {c.ReplaceInstancesWhenResourcesChange(), false},
		"lockOptions.lockDurationMinutes":                   {c.LockDuration(), 10 * time.Minute},
		"lockOptions.lockKeyPrefix":                         {c.LockKeyPrefix(), "\xff\x02/org.foundationdb.kubernetes-operator"},
		"lockOptions.disableLocks":                          {c.LocksUsed(), false},
		"routing.publicIPSource":                            {c.PublicIPSource(), PublicIPSourcePod},
		"routing.useDNSInClusterFile":                       {c.UseDNSInClusterFile(), true},
		"routing.defineDNSLocalityFields":                   {c.DefineDNSLocalityFields(), true},
		"the headless service":                              {c.NeedsHeadlessService(), true},
		"routing.dnsDomain":                                 {c.DNSDomain(), "cluster.local"},
		"routing.podIPFamily":                               {c.PodIPFamily(), 0},
		"useExplicitListenAddress":                          {c.NeedsExplicitListenAddress(), true},
		"sidecarContainer.enableLivenessProbe":              {c.EnableLivenessProbe(), true},
		"sidecarContainer.enableReadinessProbe":             {c.EnableReadinessProbe(), false},
		"imageType":                                         {c.ImageType(), ImageTypeUnified},
		"logGroup":                                          {c.LogGroup(), "sample"},
		"labels.filterOnOwnerReference":                     {c.FilterOnOwnerReference(), false},
		"faultDomain.key":                                   {c.FaultDomainKey(), "kubernetes.io/hostname"},
		"faultDomain.valueFrom":                             {c.FaultDomainValueFrom(), "spec.nodeName"},
		"faultDomain.zoneCount":                             {c.ZoneCount(), 3},
		"storageServersPerPod":                              {c.ServersPerPod(ProcessClassStorage), 1},
		"logServersPerPod":                                  {c.ServersPerPod(ProcessClassTransaction), 1},
		"the running version":                               {c.RunningVersion(), "7.3.79"},
		"labels.matchLabels":                                {c.MatchLabels(), map[string]string{LabelClusterName: "sample"}},
		"labels.resourceLabels":                             {c.ResourceLabels(), map[string]string{LabelClusterName: "sample"}},
		"labels.processGroupIDLabels":                       {c.ProcessGroupIDLabels(), []string{"foundationdb.org/fdb-process-group-id"}},
		"labels.processClassLabels":                         {c.ProcessClassLabels(), []string{"foundationdb.org/fdb-process-class"}},
		"ignoreLogGroupsForUpgrade":                         {c.IgnoreLogGroupsForUpgrade(), []LogGroup{"fdb-kubernetes-operator"}},
	}
	for field, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", field, diff)
		}
	}
}

func TestBackupDefaults(t *testing.T) {
	b := &FoundationDBBackup{}
	b.Name = "nightly"
	tests := map[string]struct{ got, want any }{
		"agentCount":            {b.AgentCount(), 2},
		"snapshotPeriodSeconds": {b.SnapshotPeriod(), 240 * time.Hour},
		"tag":                   {b.Tag(), BackupTag("default")},
		"backupType":            {b.BackupType(), BackupTypeAgent},
		"backupMode":            {b.BackupMode(), BackupModeContinuous},
		"deletionPolicy":        {b.DeletionPolicy(), BackupDeletionPolicyNoop},
		"imageType":             {b.ImageType(), ImageTypeSplit},
		"bucket":                {BlobStoreConfiguration{}.BucketOrDefault(), "fdb-backups"},
		"backupState":           {b.ShouldRun(), true},
		"paused":                {b.ShouldBePaused(), false},
		"the deployment":        {b.DeploymentName(), "nightly-backup-agents"},
	}
	for field, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v", field, tt.got, tt.want)
		}
	}
}

func TestABackupShouldRunUnlessStoppedOrComplete(t *testing.T) {
	restorable := &FoundationDBBackupStatusBackupDetails{Restorable: true}
	tests := map[string]struct {
		given FoundationDBBackup
		runs  bool
	}{
		"stopped":                 {FoundationDBBackup{Spec: FoundationDBBackupSpec{BackupState: BackupStateStopped}}, false},
		"paused is started":       {FoundationDBBackup{Spec: FoundationDBBackupSpec{BackupState: BackupStatePaused}}, true},
		"one snapshot, not there": {FoundationDBBackup{Spec: FoundationDBBackupSpec{BackupMode: new(BackupModeOneTime)}}, true},
		"one snapshot, there":     {FoundationDBBackup{Spec: FoundationDBBackupSpec{BackupMode: new(BackupModeOneTime)}, Status: FoundationDBBackupStatus{BackupDetails: restorable}}, false},
		"continuous goes on":      {FoundationDBBackup{Status: FoundationDBBackupStatus{BackupDetails: restorable}}, true},
	}
	for name, tt := range tests {
		if got := tt.given.ShouldRun(); got != tt.runs {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestSpecValuesOverrideTheDefaults(t *testing.T) {
	c := cluster(func(c *FoundationDBCluster) {
		c.Status.Configured = true
		c.Status.RunningVersion = "7.3.70"
		c.Spec.StorageServersPerPod, c.Spec.LogServersPerPod = 2, 3
		o := &c.Spec.AutomationOptions
		o.WaitBetweenRemovalsSeconds = new(0)
		o.SynchronizationMode = new(SynchronizationModeGlobal)
		o.MaintenanceModeOptions.UseMaintenanceModeChecker = new(true)
		o.MaxConcurrentReplacements = new(0)
		o.Replacements.MaxFaultDomainsWithTaintedProcessGroups = new(intstr.FromString("50%"))
		o.IgnorePendingPodsDuration = time.Second
		c.Spec.Routing.UseDNSInClusterFile = new(false)
		c.Spec.UseExplicitListenAddress = new(false)
		c.Spec.Routing.PublicIPSource = new(PublicIPSourceService)
		c.Spec.Labels.MatchLabels = map[string]string{}
		c.Spec.CoordinatorSelection = []CoordinatorSelectionSetting{{ProcessClass: ProcessClassLog, Priority: 7}}
	})
	tainted, err := c.MaxFaultDomainsWithTaintedProcessGroups(9)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ got, want any }{
		"no wait between removals":            {c.WaitBetweenRemovals(), time.Duration(0)},
		"global once there is a database":     {c.SynchronizationMode(), SynchronizationModeGlobal},
		"the checker resets maintenance mode": {c.ResetMaintenanceMode(), true},
		"no replacements":                     {c.MaxConcurrentMisconfigurationReplacements(), 0},
		"half of nine zones, rounded down":    {tainted, 4},
		"nanoseconds":                         {c.IgnorePendingPodsFor(), time.Second},
		"no DNS, no headless service":         {c.NeedsHeadlessService(), false},
		"no process can listen on a service":  {c.NeedsExplicitListenAddress(), true},
		"the running version is the one seen": {c.RunningVersion(), "7.3.70"},
		"storage servers":                     {c.ServersPerPod(ProcessClassStorage), 2},
		"transaction pods are log pods":       {c.ServersPerPod(ProcessClassTransaction), 3},
		"other classes have one server":       {c.ServersPerPod(ProcessClassStateless), 1},
		"labels given as empty are empty":     {len(c.MatchLabels()), 0},
	}
	for name, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v", name, tt.got, tt.want)
		}
	}
	c.Spec.AutomationOptions.WaitBetweenRemovalsSeconds = new(-5)
	if got := c.WaitBetweenRemovals(); got != time.Minute {
		t.Errorf("a negative wait: got %v, want the default", got)
	}
	if p, ok := c.CoordinatorPriority(ProcessClassLog); p != 7 || !ok {
		t.Errorf("selected class: got %d %v", p, ok)
	}
	if _, ok := c.CoordinatorPriority(ProcessClassStorage); ok {
		t.Error("a class that was not selected may hold coordinators")
	}
}

func TestCoordinatorsPreferLogClassesByDefault(t *testing.T) {
	for class, want := range map[ProcessClass]int{"log": 1, "transaction": 1, "storage": 0, "coordinator": 0, "stateless": -1} {
		priority, ok := cluster().CoordinatorPriority(class)
		if !ok {
			priority = -1
		}
		if priority != want {
			t.Errorf("%s: got %d, want %d", class, priority, want)
		}
	}
}

func TestLocksAreUsedWithSeveralControlPlaneInstances(t *testing.T) {
	tests := map[string]struct {
		given func(*FoundationDBCluster)
		want  bool
	}{
		"alone":                          {func(*FoundationDBCluster) {}, false},
		"one zone of several":            {func(c *FoundationDBCluster) { c.Spec.FaultDomain.ZoneCount = 2 }, true},
		"the default number of zones":    {func(c *FoundationDBCluster) { c.Spec.FaultDomain.Key = FaultDomainKeyKubernetesCluster }, false},
		"one of two regions":             {twoRegions("east"), true},
		"a data hall":                    {redundancy(RedundancyModeThreeDataHall), true},
		"alone but asked for":            {func(c *FoundationDBCluster) { c.Spec.LockOptions.DisableLocks = new(false) }, true},
		"one of two regions but refused": {func(c *FoundationDBCluster) { twoRegions("east")(c); c.Spec.LockOptions.DisableLocks = new(true) }, false},
	}
	for name, tt := range tests {
		if got := cluster(tt.given).LocksUsed(); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestClassSettingsOverrideGeneralSettingsPerField(t *testing.T) {
	general := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeName: "general"}}
	claim := &corev1.PersistentVolumeClaim{}
	c := cluster(func(c *FoundationDBCluster) {
		c.Spec.Processes = map[ProcessClass]ProcessSettings{
			ProcessClassGeneral: {PodTemplate: general, VolumeClaimTemplate: claim, CustomParameters: FoundationDBCustomParameters{"a=1"}},
			ProcessClassStorage: {CustomParameters: FoundationDBCustomParameters{"b=2"}},
			ProcessClassLog:     {PodTemplate: &corev1.PodTemplateSpec{}, CustomParameters: FoundationDBCustomParameters{}},
		}
	})
	storage, log := c.Settings(ProcessClassStorage), c.Settings(ProcessClassLog)
	want := ProcessSettings{PodTemplate: general, VolumeClaimTemplate: claim, CustomParameters: FoundationDBCustomParameters{"b=2"}}
	if diff := cmp.Diff(want, storage); diff != "" {
		t.Errorf("storage (-want +got):\n%s", diff)
	}
	if len(log.CustomParameters) != 0 || log.PodTemplate.Spec.NodeName != "" {
		t.Errorf("an empty value is a value: %+v", log)
	}
	storage.CustomParameters = nil
	if len(c.Spec.Processes[ProcessClassStorage].CustomParameters) == 0 {
		t.Error("a field that is set in the settings changes the cluster")
	}
}

func TestPodUpdateStrategies(t *testing.T) {
	tests := map[PodUpdateStrategy]struct{ storage, stateless bool }{
		"":                       {false, true},
		PodUpdateStrategyReplace: {true, true},
		PodUpdateStrategyDelete:  {false, false},
		PodUpdateStrategyReplaceTransactionSystem: {false, true},
	}
	for strategy, want := range tests {
		c := cluster(func(c *FoundationDBCluster) { c.Spec.AutomationOptions.PodUpdateStrategy = strategy })
		if s, l := c.ReplacesPodsOf(ProcessClassStorage), c.ReplacesPodsOf(ProcessClassStateless); s != want.storage || l != want.stateless {
			t.Errorf("%q replaces storage %v, stateless %v", strategy, s, l)
		}
	}
}
