package plan

// Sign is whether an action adds, changes or removes what it is about.
type Sign string

// The signs, as texts show them.
const (
	Adds    Sign = "+"
	Alters  Sign = "~"
	Removes Sign = "-"
)

// Change is an action as a row of a list of changes.
type Change struct {
	Sign Sign
	// Of names what is added, changed or removed: "pods".
	Of string
	// Named is true if Of and the subjects of the action show all of it; else only its description does.
	Named bool
	// Why is true if the reason of the action has what its approval depends on.
	Why bool
}

// ChangeOf returns the change of an action by its kind. The action itself is nil where only its kind is
// known: then what it may also create counts as changed.
func ChangeOf(kind string, a Action) Change {
	c, known := changes[kind]
	if !known {
		return Change{Sign: Alters, Of: kind}
	}
	if creates(a) {
		c.Sign = Adds
	}
	if a != nil && LosesData(a) {
		c.Named = false
	}
	return c
}

// creates reports whether an action creates the object that others of its kind update.
func creates(a Action) bool {
	switch a := a.(type) { //nolint:gochecksumtype // the kind of all others tells it
	case ApplyAgents:
		return a.Create
	case ApplyConfigMap:
		return a.Create
	case ApplyDisruptionBudget:
		return a.Create
	case ApplyFailureDetector:
		return a.Create
	case ApplyService:
		return a.Verb == CreateService
	default:
		return false
	}
}

// changes are the changes of all kinds of actions.
var changes = map[string]Change{
	"AbortRestore":           {Sign: Removes, Of: "restore"},
	"AddGroups":              {Sign: Adds, Of: "process groups", Named: true},
	"AdoptSpec":              {Sign: Alters, Of: "adopted objects"},
	"AnnounceUpgrade":        {Sign: Adds, Of: "announced upgrade"},
	"ApplyAgents":            {Sign: Alters, Of: "backup agents"},
	"ApplyConfigMap":         {Sign: Alters, Of: "ConfigMaps", Named: true},
	"ApplyDisruptionBudget":  {Sign: Alters, Of: "PodDisruptionBudgets"},
	"ApplyFailureDetector":   {Sign: Alters, Of: "failure detector"},
	"ApplyService":           {Sign: Alters, Of: "services"},
	"ChangeCoordinators":     {Sign: Alters, Of: "coordinators", Named: true},
	"ChangeLists":            {Sign: Alters, Of: "shared lists"},
	"ClearBackupData":        {Sign: Removes, Of: "backup data"},
	"Configure":              {Sign: Alters, Of: "database configuration"},
	"CordonNode":             {Sign: Alters, Of: "nodes"},
	"CreatePVC":              {Sign: Adds, Of: "PVCs", Named: true},
	"CreatePod":              {Sign: Adds, Of: "pods", Named: true},
	"DeleteAgentPod":         {Sign: Removes, Of: "terminated backup agents"},
	"DeleteAgents":           {Sign: Removes, Of: "backup agents"},
	"DeleteBackupData":       {Sign: Removes, Of: "backup data"},
	"DeleteDisruptionBudget": {Sign: Removes, Of: "PodDisruptionBudgets", Named: true},
	"DeleteFailureDetector":  {Sign: Removes, Of: "failure detector", Named: true},
	"DeleteGroupObjects":     {Sign: Removes, Of: "pods and PVCs"},
	"DeletePods":             {Sign: Removes, Of: "pods to recreate", Named: true},
	"DeleteService":          {Sign: Removes, Of: "services", Named: true},
	"EndMaintenance":         {Sign: Removes, Of: "maintenance mode", Named: true},
	"EvictAgent":             {Sign: Removes, Of: "backup agents"},
	"Exclude":                {Sign: Adds, Of: "exclusions", Named: true},
	"ExpireBackup":           {Sign: Removes, Of: "backup data"},
	"ForgetMaintenance":      {Sign: Removes, Of: "maintenance entries", Named: true},
	"HoldLock":               {Sign: Adds, Of: "lock"},
	"Include":                {Sign: Removes, Of: "exclusions", Named: true},
	"IncludeAndForget":       {Sign: Removes, Of: "removed process groups", Named: true},
	"KeepGroups":             {Sign: Removes, Of: "marks for removal", Named: true},
	"MarkForRemoval":         {Sign: Removes, Of: "process groups", Named: true},
	"ModifyBackup":           {Sign: Alters, Of: "backup"},
	"PatchMetadata":          {Sign: Alters, Of: "metadata"},
	"PauseAgents":            {Sign: Alters, Of: "backup agents"},
	"RecordFailures":         {Sign: Alters, Of: "recorded failures"},
	"RecordTaints":           {Sign: Alters, Of: "recorded taints", Named: true},
	"ReleaseLock":            {Sign: Removes, Of: "lock"},
	"RestartProcesses":       {Sign: Alters, Of: "restarts"},
	"SetBackupFinalizer":     {Sign: Alters, Of: "finalizer"},
	"SetBackupState":         {Sign: Alters, Of: "backup state"},
	"SetConnectionString":    {Sign: Alters, Of: "connection string", Named: true, Why: true},
	"SetExcluded":            {Sign: Alters, Of: "drained process groups", Named: true},
	"SetPriorities":          {Sign: Alters, Of: "priorities of regions"},
	"SetRestoreVersion":      {Sign: Alters, Of: "version to restore"},
	"SetSidecarImage":        {Sign: Alters, Of: "sidecar images"},
	"SetSkip":                {Sign: Alters, Of: "pause"},
	"SetTolerations":         {Sign: Alters, Of: "tolerations"},
	"StartBackup":            {Sign: Adds, Of: "backup"},
	"StartMaintenance":       {Sign: Adds, Of: "maintenance mode"},
	"StartRestore":           {Sign: Adds, Of: "restore"},
	"StopBackup":             {Sign: Removes, Of: "backup"},
	"SyncPodFiles":           {Sign: Alters, Of: "files of pods"},
	"UncordonNode":           {Sign: Alters, Of: "nodes"},
	"UpdateDenyList":         {Sign: Alters, Of: "deny list"},
	"WithdrawUpgrade":        {Sign: Removes, Of: "announced upgrade"},
	"WriteBackupStatus":      {Sign: Alters, Of: "status", Named: true},
	"WriteRestoreStatus":     {Sign: Alters, Of: "status", Named: true},
	"WriteStatus":            {Sign: Alters, Of: "status", Named: true},
}
