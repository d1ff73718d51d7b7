package admin

import (
	"errors"
	"fmt"
	"strings"
)

// Kind is the kind of an error, for code that depends on it.
type Kind string

// Kinds of errors.
const (
	// KindTransport: the tool could not be run at all. Another pod may work.
	KindTransport Kind = "Transport"
	// KindBinaryMissing: fdbcli was not found.
	KindBinaryMissing Kind = "BinaryMissing"
	// KindBadClusterFile: the cluster file is missing or unreadable.
	KindBadClusterFile Kind = "BadClusterFile"
	// KindTLS: certificates are missing or unreadable.
	KindTLS Kind = "TLS"
	// KindTimeout: a read took too long.
	KindTimeout Kind = "Timeout"
	// KindUnavailable: the database reports itself as unavailable.
	KindUnavailable Kind = "Unavailable"
	// KindWrongProtocol: the processes use another protocol than this client.
	KindWrongProtocol Kind = "WrongProtocol"
	// KindConflict: a transaction was not committed and may be retried.
	KindConflict Kind = "Conflict"
	// KindUnknownResult: a mutation may or may not have happened, or may still happen.
	KindUnknownResult Kind = "UnknownResult"
	// KindStoreUnresponsive: the database responds, and the store that a backup tool requires
	// does not. It is unknown whether anything was started.
	KindStoreUnresponsive Kind = "StoreSilent"
	// KindLocked: a restore, disaster recovery or a user locked the database.
	KindLocked Kind = "Locked"
	// KindRefused: the database, or a check before it, refused. Nothing was changed.
	KindRefused Kind = "Refused"
	// KindNotYet: the database refused for a temporary reason. Nothing was changed; the
	// same command may be run again later.
	KindNotYet Kind = "NotYet"
	// KindNotInForce: the database accepted the change, but the read-back does
	// not confirm it.
	KindNotInForce Kind = "NotInForce"
	// KindPartial: some targets were not reached; the others were.
	KindPartial Kind = "Partial"
	// KindUnfinished: a deletion was interrupted. Part of it may be done; the same command
	// deletes the rest.
	KindUnfinished Kind = "Unfinished"
	// KindUnsupported: this way to the database cannot do it. Nothing was sent; another
	// way may be able to.
	KindUnsupported Kind = "Unsupported"
	// KindBadInput: the arguments are invalid.
	KindBadInput Kind = "BadInput"
	// KindUnparsed: the output was unexpected, so the result is unknown.
	KindUnparsed Kind = "Unparsed"
)

// Error is the error of all operations of this package.
type Error struct {
	Kind Kind
	// Operation is the operation, as a gerund with its object.
	Operation string
	// Detail is the database's message, without its hints.
	Detail string
	// Code is FoundationDB's error code; 0 for none.
	Code int
	// Targets are those that a KindPartial did not reach.
	Targets []string
	// Err is the cause, if any.
	Err error
}

func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(e.Operation)
	if e.Detail != "" {
		text.WriteString(": " + e.Detail)
	}
	if e.Code != 0 {
		fmt.Fprintf(&text, " (%d)", e.Code)
	}
	if len(e.Targets) > 0 {
		text.WriteString(": " + strings.Join(e.Targets, ", "))
	}
	if e.Err != nil {
		text.WriteString(": " + e.Err.Error())
	}
	return text.String()
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in err's chain; empty for none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
