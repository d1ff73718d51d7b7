package v1beta2

// Labels of the resources of a cluster or backup.
const (
	// LabelClusterName carries the name of the cluster; the default label by
	// which resources are found.
	LabelClusterName = "foundationdb.org/fdb-cluster-name"
	// LabelProcessGroupID carries the process group ID.
	LabelProcessGroupID = "foundationdb.org/fdb-process-group-id"
	// LabelProcessClass carries the process class.
	LabelProcessClass = "foundationdb.org/fdb-process-class"
	// LabelBackupFor carries the UID of the backup, on its deployment.
	LabelBackupFor = "foundationdb.org/backup-for"
	// LabelDeploymentName carries the name of the deployment, on backup pods.
	LabelDeploymentName = "foundationdb.org/deployment-name"
	// LabelNoScheduleAllowed is the node label that pods of buggify.noSchedule
	// require, with the value true.
	LabelNoScheduleAllowed = "foundationdb.org/no-schedule-allowed"
	// LabelDistributionKey carries the distribution key a pod was created with.
	LabelDistributionKey = "foundationdb.org/distribution-key"
)

// Annotations of pods, PVCs and backup deployments.
const (
	// AnnotationLastAppliedSpec is the hash of the spec an object was created
	// from.
	AnnotationLastAppliedSpec = "foundationdb.org/last-applied-spec"
	// AnnotationLastAppliedConfigMap is the hash of the configuration a pod has
	// loaded.
	AnnotationLastAppliedConfigMap = "foundationdb.org/last-applied-config-map"
	// AnnotationPublicIPSource is pod or service; absent means pod.
	AnnotationPublicIPSource = "foundationdb.org/public-ip-source"
	// AnnotationPublicIP is the public address that comes from a service.
	AnnotationPublicIP = "foundationdb.org/public-ip"
	// AnnotationIPFamily is 0, 4 or 6.
	AnnotationIPFamily = "foundationdb.org/ip-family"
	// AnnotationCurrentNode is the node a pod runs on.
	AnnotationCurrentNode = "foundationdb.org/current-node"
	// AnnotationImageType is split or unified; absent means split.
	AnnotationImageType = "foundationdb.org/image-type"
	// AnnotationIsolateProcessGroup, set to true by a user, stops the processes
	// and protects pod and volume from deletion.
	AnnotationIsolateProcessGroup = "foundationdb.org/isolate-process-group"
	// AnnotationCurrentConfiguration is the configuration the unified monitor
	// runs, in JSON. The monitor writes it.
	AnnotationCurrentConfiguration = "foundationdb.org/launcher-current-configuration"
	// AnnotationEnvironment are the variables the unified monitor substitutes,
	// in JSON. The monitor writes it.
	AnnotationEnvironment = "foundationdb.org/launcher-environment"
	// AnnotationOutdatedConfigMapSeen makes a pod reload its config map; Unix
	// seconds.
	AnnotationOutdatedConfigMapSeen = "foundationdb.org/outdated-config-map-seen"
	// AnnotationDelayShutdown, set by a user, is how long the monitor waits
	// before it ends; a Go duration.
	AnnotationDelayShutdown = "foundationdb.org/delay-shutdown"
	// AnnotationClusterFileChange is when the cluster file last changed, in
	// Unix seconds. The monitor writes it.
	AnnotationClusterFileChange = "foundationdb.org/cluster-file-change"
	// AnnotationRelease is the operator release of a CRD.
	AnnotationRelease = "foundationdb.org/release"
)

// Annotations of a cluster. Every CRD keeps them, also one that does not have
// the fields of the spec that three of them stand for.
const (
	// AnnotationCancelReplacements is spec.cancelReplacementsForInstance as
	// process group IDs separated by commas.
	AnnotationCancelReplacements = "kubectl-fdb/cancel-replacements"
	// AnnotationDistributionConfig is spec.distributionConfig in JSON.
	AnnotationDistributionConfig = "kubectl-fdb/distribution-config"
	// AnnotationFailureDetectionCronJob is
	// spec.automationOptions.replacements.failureDetectionCronJob in JSON.
	AnnotationFailureDetectionCronJob = "kubectl-fdb/failure-detection-cron-job"
	// AnnotationFailuresSeen is when the failure detector last saw a failed
	// process group, in RFC 3339.
	AnnotationFailuresSeen = "kubectl-fdb/failures-seen"
)

// FinalizerBackup keeps a FoundationDBBackup until its backup is stopped or
// cleaned up, according to its deletion policy.
const FinalizerBackup = "foundationdb.org/fdb-kubernetes-operator"

// Containers of our pods.
const (
	ContainerMain    = "foundationdb"
	ContainerSidecar = "foundationdb-kubernetes-sidecar"
	ContainerInit    = "foundationdb-kubernetes-init"
)

// Environment variables of our containers and of FoundationDB's clients.
const (
	EnvClusterFile                  = "FDB_CLUSTER_FILE"
	EnvPublicIP                     = "FDB_PUBLIC_IP"
	EnvPodIP                        = "FDB_POD_IP"
	EnvPodName                      = "FDB_POD_NAME"
	EnvPodNamespace                 = "FDB_POD_NAMESPACE"
	EnvNodeName                     = "FDB_NODE_NAME"
	EnvMachineID                    = "FDB_MACHINE_ID"
	EnvZoneID                       = "FDB_ZONE_ID"
	EnvInstanceID                   = "FDB_INSTANCE_ID"
	EnvDNSName                      = "FDB_DNS_NAME"
	EnvBinaryDir                    = "BINARY_DIR"
	EnvAdditionalEnvFile            = "ADDITIONAL_ENV_FILE"
	EnvTLSCertificateFile           = "FDB_TLS_CERTIFICATE_FILE"
	EnvTLSKeyFile                   = "FDB_TLS_KEY_FILE"
	EnvTLSCAFile                    = "FDB_TLS_CA_FILE"
	EnvTLSVerifyPeers               = "FDB_TLS_VERIFY_PEERS"
	EnvTraceLogGroup                = "FDB_NETWORK_OPTION_TRACE_LOG_GROUP"
	EnvTraceEnable                  = "FDB_NETWORK_OPTION_TRACE_ENABLE"
	EnvExternalClientDirectory      = "FDB_NETWORK_OPTION_EXTERNAL_CLIENT_DIRECTORY"
	EnvDisableLocalClient           = "FDB_NETWORK_OPTION_DISABLE_LOCAL_CLIENT"
	EnvIgnoreExternalClientFailures = "FDB_NETWORK_OPTION_IGNORE_EXTERNAL_CLIENT_FAILURES"
	EnvClientThreadsPerVersion      = "FDB_NETWORK_OPTION_CLIENT_THREADS_PER_VERSION"
)

// DefaultLockKeyPrefix is the key prefix of the state that control-plane
// instances share, unless the spec sets another. Its first byte is 0xff.
const DefaultLockKeyPrefix = "\xff\x02/org.foundationdb.kubernetes-operator"
