package v1beta2

import (
	"math"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func TestValidateCluster(t *testing.T) {
	type change = func(*FoundationDBCluster)
	version := func(v string) change { return func(c *FoundationDBCluster) { c.Spec.Version = v } }
	engine := func(v string, e StorageEngine) change {
		return func(c *FoundationDBCluster) {
			c.Spec.Version = v
			c.Spec.DatabaseConfiguration.StorageEngine = e
		}
	}
	regions := func(regions ...Region) change {
		return func(c *FoundationDBCluster) { c.Spec.DatabaseConfiguration.Regions = regions }
	}
	parameters := func(p ...FoundationDBCustomParameter) change {
		return func(c *FoundationDBCluster) {
			c.Spec.Processes = map[ProcessClass]ProcessSettings{ProcessClassGeneral: {CustomParameters: p}}
		}
	}
	image := func(name, image string) change {
		return func(c *FoundationDBCluster) {
			c.Spec.Processes = map[ProcessClass]ProcessSettings{ProcessClassLog: {PodTemplate: &corev1.PodTemplateSpec{
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: image}}},
			}}}
		}
	}
	main, satellite := DataCenter{ID: "a"}, DataCenter{ID: "b", Satellite: 1}
	tests := map[string]struct {
		given change
		want  []string // the text of the error; empty for a valid spec
	}{
		"a plain spec":                {func(*FoundationDBCluster) {}, nil},
		"the oldest version":          {version("7.1.0"), nil},
		"a release candidate of it":   {version("7.1.0-rc1"), []string{`spec.version`, `"7.1.0-rc1"`, `at least 7.1.0`}},
		"an old version":              {version("6.3.25"), []string{`spec.version`, `at least 7.1.0`}},
		"no version":                  {version(""), []string{`spec.version`, `X.Y.Z`}},
		"a version the CRD lets pass": {version("7.3.79-custom"), []string{`spec.version`, `"7.3.79-custom"`}},
		"an unknown image type":       {func(c *FoundationDBCluster) { c.Spec.ImageType = new(ImageType("both")) }, []string{`spec.imageType`, `"split", "unified"`}},
		"an unknown redundancy":       {redundancy("double "), []string{`redundancy_mode`, `"double "`}},
		"an unknown engine":           {engine("7.3.79", "ssd-3"), []string{`storage_engine`, `"ssd-3"`}},
		"redwood on 7.3":              {engine("7.3.0", StorageEngineRedwood), nil},
		"redwood on 7.1":              {engine("7.1.67", StorageEngineRedwood), []string{`storage_engine`, `requires FoundationDB 7.3.0`, `7.1.67`}},
		"redwood on 6.3":              {engine("6.3.25", StorageEngineRedwood), []string{`at least 7.1.0`, `requires FoundationDB 7.3.0`}},
		"the reported radix tree":     {engine("7.3.79", fdb.EngineMemoryRadixTree), []string{`storage_engine`, `"memory-radixtree"`}},
		"sharded RocksDB on 7.1":      {engine("7.1.67", StorageEngineShardedRocksDB), []string{`requires FoundationDB 7.2.0`}},
		"a wiggle to redwood on 7.1": {func(c *FoundationDBCluster) {
			version("7.1.67")(c)
			c.Spec.DatabaseConfiguration.PerpetualStorageWiggleEngine = new(StorageEngineRedwood)
		}, []string{`perpetual_storage_wiggle_engine`}},
		"a wiggle to no engine": {func(c *FoundationDBCluster) {
			c.Spec.DatabaseConfiguration.PerpetualStorageWiggleEngine = new(StorageEngineNone)
		}, nil},
		"a command in the locality": {func(c *FoundationDBCluster) {
			c.Spec.DatabaseConfiguration.PerpetualStorageWiggleLocality = new("a:b; writemode on")
		}, []string{`perpetual_storage_wiggle_locality`}},
		"an unknown migration": {func(c *FoundationDBCluster) {
			c.Spec.DatabaseConfiguration.StorageMigrationType = new(StorageMigrationType("fast"))
		}, []string{`storage_migration_type`}},
		"a region with a satellite":          {regions(Region{Datacenters: []DataCenter{main, satellite}, SatelliteLogs: 2, SatelliteRedundancyMode: SatelliteModeOneSingle}), nil},
		"main here, satellite there":         {regions(Region{Datacenters: []DataCenter{main, satellite}}, Region{Datacenters: []DataCenter{{ID: "b"}, {ID: "a", Satellite: 1}}}), nil},
		"no main data center":                {regions(Region{Datacenters: []DataCenter{satellite}}), []string{`regions[0].datacenters`, `exactly one main data center`}},
		"no data center":                     {regions(Region{}), []string{`exactly one main data center`}},
		"two main data centers":              {regions(Region{Datacenters: []DataCenter{main, {ID: "b"}}}), []string{`exactly one main data center`}},
		"a data center twice":                {regions(Region{Datacenters: []DataCenter{main, {ID: "a", Satellite: 1}}}), []string{`regions[0].datacenters[1].id`, `Duplicate`}},
		"the same main twice":                {regions(Region{Datacenters: []DataCenter{main}}, Region{Datacenters: []DataCenter{main}}), []string{`regions[1].datacenters[0].id`, `Duplicate`}},
		"a data center without a name":       {regions(Region{Datacenters: []DataCenter{{}}}), []string{`datacenters[0].id`}},
		"a command as a data center":         {regions(Region{Datacenters: []DataCenter{{ID: "a;b"}}}), []string{`datacenters[0].id`, `"a;b"`}},
		"a quote in a data center":           {regions(Region{Datacenters: []DataCenter{{ID: `a"b`}}}), []string{`datacenters[0].id`}},
		"a line break in a data center":      {regions(Region{Datacenters: []DataCenter{{ID: "a\nb"}}}), []string{`datacenters[0].id`}},
		"an unknown satellite mode":          {regions(Region{Datacenters: []DataCenter{main}, SatelliteRedundancyMode: "two_satellites"}), []string{`satellite_redundancy_mode`, `one_satellite_single`}},
		"a satellite that is two":            {regions(Region{Datacenters: []DataCenter{main, {ID: "b", Satellite: 2}}}), []string{`satellite: Invalid value: 2`}},
		"more usable regions than there are": {func(c *FoundationDBCluster) { c.Spec.DatabaseConfiguration.UsableRegions = 2 }, []string{`usable_regions`, `0 regions`}},
		"coordinators on stateless": {func(c *FoundationDBCluster) {
			c.Spec.CoordinatorSelection = []CoordinatorSelectionSetting{{ProcessClass: "log"}, {ProcessClass: "stateless"}}
		}, []string{`coordinatorSelection[1].processClass`, `"stateless"`}},
		"IP version 5":          {func(c *FoundationDBCluster) { c.Spec.Routing.PodIPFamily = new(5) }, []string{`spec.routing.podIPFamily`, `must be 4 or 6`}},
		"IP version 0 is unset": {func(c *FoundationDBCluster) { c.Spec.Routing.PodIPFamily = new(0) }, nil},
		"an unknown IP source":  {func(c *FoundationDBCluster) { c.Spec.Routing.PublicIPSource = new(PublicIPSource("node")) }, []string{`spec.routing.publicIPSource`}},
		"an unknown tool": {func(c *FoundationDBCluster) {
			c.Spec.AutomationOptions.DatabaseInteractionMode = new(DatabaseInteractionMode("cli"))
		}, []string{`databaseInteractionMode`, `"fdbcli", "managementapi"`}},
		"an unknown deletion mode":   {func(c *FoundationDBCluster) { c.Spec.AutomationOptions.DeletionMode = "zone" }, []string{`deletionMode`}},
		"an unknown removal mode":    {func(c *FoundationDBCluster) { c.Spec.AutomationOptions.RemovalMode = "zone" }, []string{`removalMode`}},
		"an unknown update strategy": {func(c *FoundationDBCluster) { c.Spec.AutomationOptions.PodUpdateStrategy = "Update" }, []string{`podUpdateStrategy`}},
		"an unknown synchronization": {func(c *FoundationDBCluster) {
			c.Spec.AutomationOptions.SynchronizationMode = new(SynchronizationMode("all"))
		}, []string{`synchronizationMode`}},
		"negative replacements": {func(c *FoundationDBCluster) {
			c.Spec.AutomationOptions.Replacements.MaxConcurrentReplacements = new(-1)
		}, []string{`replacements.maxConcurrentReplacements`}},
		"a share that is no share": {func(c *FoundationDBCluster) {
			c.Spec.AutomationOptions.Replacements.MaxFaultDomainsWithTaintedProcessGroups = new(intstr.FromString("some"))
		}, []string{`maxFaultDomainsWithTaintedProcessGroups`, `percentage`}},
		"a Kubernetes cluster without a name": {func(c *FoundationDBCluster) { c.Spec.FaultDomain.Key = FaultDomainKeyKubernetesCluster }, []string{`spec.faultDomain.value`}},
		"parameters":                          {parameters("knob_a=1", "locality_x=$Y", "trace_format=a=b"), nil},
		"a parameter twice, spelled twice":    {parameters("knob_a=1", "knob-a=2"), []string{`processes[general].customParameters[1]`, `Duplicate`}},
		"a knob with a typo":                  {parameters("knbo_x=1"), []string{`processes[general].customParameters[0]`, `no process starts with knbo_x`, `did you mean knob_x?`}},
		"an option with a typo":               {parameters("knob_a=1", "memroy=8GiB"), []string{`customParameters[1]`, `did you mean memory?`}},
		"an option in capitals":               {parameters("Memory=8GiB"), []string{`did you mean memory?`}},
		"a switch with a value":               {parameters("no_config_db=true"), []string{`that takes a value`}},
		"an option that fdbserver never had":  {parameters("frobnicate=1"), []string{`no process starts with frobnicate`}},
		"a size in a unit of Kubernetes":      {parameters("memory=8Gi"), []string{`processes[general].customParameters[0]`, `memory must be a number, with a unit unless it is MiB`, `no process starts with 8Gi`}},
		"a size of logs without a unit":       {parameters("logsize=10000000"), []string{`logsize must be a number with a unit`}},
		"a size of a variable":                {parameters("memory=$FDB_MEMORY", "memory_vsize = 9000"), nil},
		"a role that is no server":            {parameters("role=test"), []string{`role must be fdbd`}},
		"options in both spellings":           {parameters("storage-memory=2GiB", "cache_memory=1GiB", "trusted-subnet-a=10.0.0.0/8"), nil},
		"the data directory":                  {parameters("datadir=/tmp"), []string{`datadir`, `remove the parameter`}},
		"a setting of fdbmonitor":             {parameters("restart-delay=5"), []string{`restart-delay`}},
		"the same with underscores":           {parameters("restart_delay=5"), []string{`restart-delay`}},
		"a parameter without a value":         {parameters("knob_a"), []string{`name=value`}},
		"a parameter with dashes":             {parameters("--knob_a=1"), []string{`must not start with dashes`}},
		"two parameters in one":               {parameters("knob_a=1\ncommand=/bin/sh"), []string{`line breaks`}},
		"a very long parameter":               {parameters(FoundationDBCustomParameter("knob_a=" + strings.Repeat("x", 100))), []string{`at most 100`}},
		"settings of no class":                {func(c *FoundationDBCluster) { c.Spec.Processes = map[ProcessClass]ProcessSettings{"storages": {}} }, []string{`spec.processes[storages]`}},
		"an image without a tag":              {image(ContainerMain, "host:5000/a/b"), nil},
		"an image with a tag":                 {image(ContainerMain, "a/b:1"), []string{`processes[log].podTemplate.spec.containers[0].image`, `"a/b:1"`, `imageConfigs`}},
		"a container of their own with a tag": {image("theirs", "a/b:1"), nil},
		"a removal":                           {func(c *FoundationDBCluster) { c.Spec.ProcessGroupsToRemove = []ProcessGroupID{"storage-1"} }, nil},
		"a removal of all":                    {func(c *FoundationDBCluster) { c.Spec.ProcessGroupsToRemove = []ProcessGroupID{"*"} }, []string{`spec.processGroupsToRemove`, `list the process groups`}},
		"a removal of nothing we know": {func(c *FoundationDBCluster) {
			c.Spec.ProcessGroupsToRemoveWithoutExclusion = []ProcessGroupID{"storage"}
		}, []string{`spec.processGroupsToRemoveWithoutExclusion`, `"storage"`}},
		"all crash":                  {func(c *FoundationDBCluster) { c.Spec.Buggify.CrashLoop = []ProcessGroupID{"*"} }, nil},
		"a prefix":                   {func(c *FoundationDBCluster) { c.Spec.ProcessGroupIDPrefix = "dc1-a_b" }, nil},
		"a prefix with a dot":        {func(c *FoundationDBCluster) { c.Spec.ProcessGroupIDPrefix = "dc1.a" }, []string{`spec.processGroupIDPrefix`, `"dc1.a"`}},
		"a prefix that fits storage": {func(c *FoundationDBCluster) { c.Spec.ProcessGroupIDPrefix = strings.Repeat("p", 43) }, nil},
		"a prefix too long for a class": {func(c *FoundationDBCluster) {
			c.Spec.ProcessGroupIDPrefix = strings.Repeat("p", 43)
			c.Spec.ProcessCounts.ClusterController = 1
		}, []string{`too long for class cluster_controller`}},
		"a name too long for DNS": {func(c *FoundationDBCluster) { c.Name = strings.Repeat("n", 50) }, []string{`metadata.name`, `DNS name`}},
		"a long name without DNS": {func(c *FoundationDBCluster) {
			c.Name = strings.Repeat("n", 50)
			c.Spec.Routing.UseDNSInClusterFile = new(false)
		}, nil},
		"a line break in the log group": {func(c *FoundationDBCluster) { c.Spec.LogGroup = "a\n[fdbserver.2]" }, []string{`spec.logGroup`}},
		"a cluster file": {func(c *FoundationDBCluster) {
			c.Spec.SeedConnectionString = "a_b:c1@10.1.0.1:4500:tls,[::1]:4501,pod.svc:4501"
		}, nil},
		"half a cluster file":         {func(c *FoundationDBCluster) { c.Spec.SeedConnectionString = "10.1.0.1:4501" }, []string{`spec.seedConnectionString`, `description:id@`}},
		"a database name with a dash": {func(c *FoundationDBCluster) { c.Spec.PartialConnectionString.DatabaseName = "a-b" }, []string{`partialConnectionString.databaseName`}},
		"a generation with a dash":    {func(c *FoundationDBCluster) { c.Spec.PartialConnectionString.GenerationID = "a-b" }, []string{`partialConnectionString.generationID`}},
		"denied and allowed": {func(c *FoundationDBCluster) {
			c.Spec.LockOptions.DenyList = []LockDenyListEntry{{ID: "a"}, {ID: "a", Allow: true}}
		}, []string{`denyList[1].id`, `keep one`}},
		"an empty ID denied": {func(c *FoundationDBCluster) { c.Spec.LockOptions.DenyList = []LockDenyListEntry{{}} }, []string{`denyList[0].id`}},
		"several mistakes, all named": {func(c *FoundationDBCluster) {
			c.Spec.Version = "x"
			c.Spec.Routing.PodIPFamily = new(5)
			redundancy("quad")(c)
		}, []string{`spec.version`, `podIPFamily`, `redundancy_mode`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { checkError(t, cluster(tt.given).Validate(), tt.want) })
	}
}

func checkError(t *testing.T, err error, want []string) {
	t.Helper()
	if err == nil {
		if len(want) > 0 {
			t.Errorf("got no error, want one with %q", want)
		}
		return
	}
	if len(want) == 0 {
		t.Errorf("got error %v", err)
	}
	for _, words := range want {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("got %q, want it to say %q", err, words)
		}
	}
}

func TestValidationReportsEachErrorOnItsOwnLine(t *testing.T) {
	c := cluster(redundancy("quad"), func(c *FoundationDBCluster) { c.Spec.Version, c.Spec.ImageType = "x", new(ImageType("y")) })
	if got := len(strings.Split(c.Validate().Error(), "\n")); got != 3 {
		t.Errorf("got %d lines, want 3: %v", got, c.Validate())
	}
}

func TestValidateBackup(t *testing.T) {
	type change = func(*FoundationDBBackup)
	tests := map[string]struct {
		given change
		want  []string
	}{
		"a plain backup": {func(*FoundationDBBackup) {}, nil},
		"no cluster":     {func(b *FoundationDBBackup) { b.Spec.ClusterName = "" }, []string{`spec.clusterName`}},
		"no version":     {func(b *FoundationDBBackup) { b.Spec.Version = "" }, []string{`spec.version`}},
		"nowhere to go":  {func(b *FoundationDBBackup) { b.Spec.BlobStoreConfiguration = nil }, []string{`spec.blobStoreConfiguration`}},
		"agents only go nowhere": {func(b *FoundationDBBackup) {
			b.Spec.BlobStoreConfiguration = nil
			b.Spec.BackupType = new(BackupTypeUnmanaged)
		}, nil},
		"an account without a host":     {func(b *FoundationDBBackup) { b.Spec.BlobStoreConfiguration.AccountName = "key:secret" }, []string{`accountName`, `@host`}},
		"an account that is a bucket":   {func(b *FoundationDBBackup) { b.Spec.BlobStoreConfiguration.AccountName = "my-bucket" }, []string{`accountName: Invalid value: "my-bucket"`, `key@host`}},
		"an account that is an address": {func(b *FoundationDBBackup) { b.Spec.BlobStoreConfiguration.AccountName = "https://s3.example.com:443" }, []string{`"https://s3.example.com:(hidden)"`}},
		"an account with no host":       {func(b *FoundationDBBackup) { b.Spec.BlobStoreConfiguration.AccountName = "key@" }, []string{`accountName`}},
		"the longest period":            {func(b *FoundationDBBackup) { b.Spec.SnapshotPeriodSeconds = new(math.MaxInt32) }, nil},
		"a longer period":               {func(b *FoundationDBBackup) { b.Spec.SnapshotPeriodSeconds = new(math.MaxInt32 + 1) }, []string{`spec.snapshotPeriodSeconds`, `at most 2147483647`}},
		"no agents":                     {func(b *FoundationDBBackup) { b.Spec.AgentCount = new(0) }, nil},
		"fewer than no agents":          {func(b *FoundationDBBackup) { b.Spec.AgentCount = new(-1) }, []string{`spec.agentCount`}},
		"an unknown state":              {func(b *FoundationDBBackup) { b.Spec.BackupState = "running" }, []string{`spec.backupState`}},
		"an unknown policy":             {func(b *FoundationDBBackup) { b.Spec.DeletionPolicy = new(BackupDeletionPolicy("delete")) }, []string{`spec.deletionPolicy`}},
		"a zone for the agents": {func(b *FoundationDBBackup) {
			b.Spec.CustomParameters = FoundationDBCustomParameters{"locality_zoneid=a"}
		}, []string{`customParameters[0]`}},
		"an image with a tag":         {func(b *FoundationDBBackup) { b.Spec.PodTemplateSpec = tagged() }, []string{`podTemplateSpec.spec.containers[0].image`}},
		"an image with a tag allowed": {func(b *FoundationDBBackup) { b.Spec.PodTemplateSpec = tagged(); b.Spec.AllowTagOverride = new(true) }, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := &FoundationDBBackup{Spec: FoundationDBBackupSpec{
				Version: "7.3.79", ClusterName: "c", BlobStoreConfiguration: &BlobStoreConfiguration{AccountName: "a@host"},
			}}
			tt.given(b)
			checkError(t, b.Validate(), tt.want)
		})
	}
}

func tagged() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: ContainerMain, Image: "a/b:1"}}}}
}

func TestValidateRestore(t *testing.T) {
	r := FoundationDBRestore{}
	checkError(t, r.Validate(), []string{`spec.destinationClusterName`, `spec.blobStoreConfiguration`})
	r.Spec = FoundationDBRestoreSpec{DestinationClusterName: "c", BlobStoreConfiguration: &BlobStoreConfiguration{AccountName: "a@host"}}
	checkError(t, r.Validate(), nil)
	r.Spec.KeyRanges = []FoundationDBKeyRange{{Start: "a"}}
	checkError(t, r.Validate(), []string{`spec.keyRanges[0].end`})
}

func TestValidationErrorsDoNotShowTheBlobStoreAccount(t *testing.T) {
	place := &BlobStoreConfiguration{AccountName: "key:hunter2"}
	backup := &FoundationDBBackup{Spec: FoundationDBBackupSpec{Version: "7.3.79", ClusterName: "c", BlobStoreConfiguration: place}}
	restore := &FoundationDBRestore{Spec: FoundationDBRestoreSpec{DestinationClusterName: "c", BlobStoreConfiguration: place}}
	for _, err := range []error{backup.Validate(), restore.Validate()} {
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v", err)
		}
	}
}
