package dumps

import "github.com/kubectl-fdb/kubectl-fdb/pkg/redact"

// Redactors that need more than a pattern of pkg/redact.
const (
	// connectionStrings replaces the ID in connection strings by another one, the same one
	// everywhere: commands compare connection strings.
	connectionStrings = "connection-string"
	// secretObjects hides the values of Secrets, other than certificates.
	secretObjects = "secret-object"
	// repeated hides secrets that another redactor found, wherever else they are.
	repeated = "repeated-secret"
	// unknownVariables and unknownAnnotations hide values whose names no allow list has, unknownArguments the commands and
	// arguments of containers that are neither the operator's nor this program's.
	unknownVariables, unknownAnnotations, unknownArguments = "unknown-variable", "unknown-annotation", "unknown-argument"
)

// redacted is what replaces a secret.
const redacted = redact.Mark
