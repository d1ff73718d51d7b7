package admin

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says what went wrong, for code that reacts to it.
type Kind string

// Kinds of errors.
const (
	// KindTransport: the tool could not be run at all. Another pod may do.
	KindTransport Kind = "Transport"
	// KindBinaryMissing: there is no fdbcli where it was looked for.
	KindBinaryMissing Kind = "BinaryMissing"
	// KindBadClusterFile: the cluster file is missing or unreadable.
	KindBadClusterFile Kind = "BadClusterFile"
	// KindTLS: certificates are missing or unreadable.
	KindTLS Kind = "TLS"
	// KindTimeout: a read took too long.
	KindTimeout Kind = "Timeout"
	// KindUnavailable: the database says so itself.
	KindUnavailable Kind = "Unavailable"
	// KindWrongProtocol: the servers speak another protocol than this client.
	KindWrongProtocol Kind = "WrongProtocol"
	// KindConflict: a transaction was not committed and may be tried again.
	KindConflict Kind = "Conflict"
	// KindUnknownResult: a mutation may or may not have happened, or may still happen.
	KindUnknownResult Kind = "UnknownResult"
	// KindStoreSilent: the database answers, and the store that a backup tool needs does
	// not. Nobody can tell whether anything was begun.
	KindStoreSilent Kind = "StoreSilent"
	// KindLocked: a restore, disaster recovery or a person locked the database.
	KindLocked Kind = "Locked"
	// KindRefused: the database, or a check before it, said no. Nothing was changed.
	KindRefused Kind = "Refused"
	// KindNotYet: the database said no because of something that passes by itself. Nothing
	// was changed; the same command may be run again later.
	KindNotYet Kind = "NotYet"
	// KindNotInForce: the database said yes and the read-back disagrees.
	KindNotInForce Kind = "NotInForce"
	// KindPartial: some targets were not reached; the others were.
	KindPartial Kind = "Partial"
	// KindUnfinished: a deletion was cut off. Part of it may be done; the same command goes
	// on with what is left.
	KindUnfinished Kind = "Unfinished"
	// KindBadInput: the arguments make no sense.
	KindBadInput Kind = "BadInput"
	// KindUnparsed: the answer was not understood, so nothing is known.
	KindUnparsed Kind = "Unparsed"
)

// Error is what all of this package's operations fail with.
type Error struct {
	Kind Kind
	// Doing is what was being done, as a gerund with its object.
	Doing string
	// Detail is the reason in the database's words, without its hints.
	Detail string
	// Code is FoundationDB's error code; 0 when it gave none.
	Code int
	// Targets are those that a KindPartial did not reach.
	Targets []string
	// Err is the cause, if another error was.
	Err error
}

func (e *Error) Error() string {
	var text strings.Builder
	text.WriteString(e.Doing)
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

// KindOf is the kind of the first *Error in err's chain; empty when there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
