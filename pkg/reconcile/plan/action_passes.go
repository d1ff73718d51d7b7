package plan

// ClusterAction is an action of a pass over a cluster.
//
//sumtype:decl
type ClusterAction interface {
	Action
	ofCluster()
}

// BackupAction is an action of a pass over a backup.
//
//sumtype:decl
type BackupAction interface {
	Action
	ofBackup()
}

// RestoreAction is an action of a pass over a restore.
//
//sumtype:decl
type RestoreAction interface {
	Action
	ofRestore()
}

func (WriteStatus) ofCluster()            {}
func (AddGroups) ofCluster()              {}
func (SetConnectionString) ofCluster()    {}
func (MarkForRemoval) ofCluster()         {}
func (KeepGroups) ofCluster()             {}
func (SetExcluded) ofCluster()            {}
func (SetPriorities) ofCluster()          {}
func (SetSkip) ofCluster()                {}
func (RecordFailures) ofCluster()         {}
func (ApplyFailureDetector) ofCluster()   {}
func (DeleteFailureDetector) ofCluster()  {}
func (CordonNode) ofCluster()             {}
func (UncordonNode) ofCluster()           {}
func (ApplyConfigMap) ofCluster()         {}
func (ApplyService) ofCluster()           {}
func (CreatePVC) ofCluster()              {}
func (CreatePod) ofCluster()              {}
func (PatchMetadata) ofCluster()          {}
func (AdoptSpec) ofCluster()              {}
func (RecordTaints) ofCluster()           {}
func (SyncPodFiles) ofCluster()           {}
func (SetSidecarImage) ofCluster()        {}
func (DeletePods) ofCluster()             {}
func (DeleteService) ofCluster()          {}
func (DeleteGroupObjects) ofCluster()     {}
func (ApplyDisruptionBudget) ofCluster()  {}
func (DeleteDisruptionBudget) ofCluster() {}
func (SetTolerations) ofCluster()         {}
func (EvictAgent) ofCluster()             {}
func (Configure) ofCluster()              {}
func (ChangeCoordinators) ofCluster()     {}
func (Exclude) ofCluster()                {}
func (Include) ofCluster()                {}
func (IncludeAndForget) ofCluster()       {}
func (RestartProcesses) ofCluster()       {}
func (StartMaintenance) ofCluster()       {}
func (EndMaintenance) ofCluster()         {}
func (ForgetMaintenance) ofCluster()      {}
func (UpdateDenyList) ofCluster()         {}
func (HoldLock) ofCluster()               {}
func (ReleaseLock) ofCluster()            {}
func (AnnounceUpgrade) ofCluster()        {}
func (WithdrawUpgrade) ofCluster()        {}
func (ChangeLists) ofCluster()            {}

func (WriteBackupStatus) ofBackup()  {}
func (SetBackupState) ofBackup()     {}
func (SetBackupFinalizer) ofBackup() {}
func (ApplyAgents) ofBackup()        {}
func (DeleteAgents) ofBackup()       {}
func (DeleteAgentPod) ofBackup()     {}
func (StartBackup) ofBackup()        {}
func (StopBackup) ofBackup()         {}
func (PauseAgents) ofBackup()        {}
func (ModifyBackup) ofBackup()       {}
func (DeleteBackupData) ofBackup()   {}
func (ExpireBackup) ofBackup()       {}
func (ClearBackupData) ofBackup()    {}
func (SetTolerations) ofBackup()     {}

func (WriteRestoreStatus) ofRestore() {}
func (StartRestore) ofRestore()       {}
func (AbortRestore) ofRestore()       {}
func (SetRestoreVersion) ofRestore()  {}
