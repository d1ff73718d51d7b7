package opcases

// Reasons say why this program decides differently from the operator, by the key that the
// list of differences has.
var Reasons = map[string]string{
	// What is written into objects that both share.
	"second-equals": "a custom parameter with a second = keeps its whole value; the operator cuts it at the second =",
	"both-image-types": "while pods of both image types run, the monitor configuration of each type has the data directory of " +
		"that type; the operator writes the one of the desired type, in which the process would find no data",
	"image-with-tag":  "a tag in an image of the pod template is refused by validation; the operator fails later, when it makes the pod",
	"own-logs-volume": "a volume logs of the backup's pod template stays the only one of its name; the operator adds a second one, which Kubernetes refuses",

	// What is sent to the database.
	"refused-by-the-database": "a configuration that FoundationDB refuses or that stops the database (resolvers=0, one proxy) is not sent",
	"order-of-region-steps": "satellites leave last and priorities change in single steps, because a jump of priorities ends in an " +
		"error and is in force; every chain ends in the desired regions",
	"duplicate-coordinator": "a connection string that names a coordinator twice is refused, as FoundationDB does",

	// What is decided from the status document.
	"unknown-is-no": "a status document that does not tell whether a clean bounce is possible allows none; the operator takes it for yes",
	"proof-of-drained": "a process group counts as drained only in a fully recovered database with one generation of logs; the " +
		"operator takes one active generation",
	"proof-asked-again":            "a process group that was proven drained is checked again as long as it has objects, by RemovePods; the operator asks while its process is missing",
	"log-excluded-by-locality":     "a log is excluded by its locality alone; that nothing depends on it shows in the generations and the replication of logs",
	"recovery-counts-always":       "the age of the last recovery counts for every version that reports it; the operator has a flag that turns this off",
	"process-without-command-line": "a coordinator whose process does not report its command line is missing; the operator also calls its address wrong",
	"candidate-with-dead-testers":  "a release candidate of 7.3 before 7.3.35 keeps dead testers; the operator compares it with 7.1.55, as it compares versions of different protocols",
	"ip-family-nested":             "the IP family of a pod is read where monitor configurations have it, inside a concatenation; the operator looks at the top level and reads none",
	"no-applied-spec":              "a pod that does not have the hash of its spec is left to the user; the operator replaces its process group",
	"taint-rules-removed":          "UpdateStatus clears the conditions of taints when the spec has no rules any more, before any stage counts them; the operator asks for the rules at each use",
	"removal-of-unknown-group":     "an ID in spec.processGroupsToRemove marks a process group that the status has; the operator also keeps a process away from coordinators that only the status document has",
	"operator-installation":        "what pod templates may contain is restricted by flags of an operator's installation, which this program does not have",
}
