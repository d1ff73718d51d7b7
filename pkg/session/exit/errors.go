// Package exit holds the errors that end a command, with their exit codes and hints.
package exit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"reflect"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/planned"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/live"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

// The exit codes. Scripts rely on them; docs/exit-codes.md explains each.
const (
	ExitDone        = 0
	ExitNo          = 1
	ExitUsage       = 2
	ExitWaiting     = 3
	ExitRefused     = 4
	ExitForbidden   = 5
	ExitConflict    = 6
	ExitUnconfirmed = 7
	ExitUnreachable = 8
	ExitPartly      = 9
	ExitInternal    = 10
	ExitHungUp      = 129
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// Error ends a command: the error, the exit code, and what to try next.
type Error struct {
	Code int
	Err  error
	// Hints are whole commands, or sentences, to try next.
	Hints []string
	// Differences are the differences of the cluster state since a plan was made.
	Differences []planned.PlanDifference
	// Printed is true if the result on stdout already contains the error, so that text output does
	// not repeat it.
	Printed bool
}

func (f *Error) Error() string { return f.Err.Error() }

func (f *Error) Unwrap() error { return f.Err }

// AnswerError ends a command that succeeded with an answer other than yes.
type AnswerError struct{ Code int }

func (a AnswerError) Error() string { return fmt.Sprintf("the answer is exit code %d", a.Code) }

// Usage returns a failure caused by the user's input.
func Usage(err error, hints ...string) error {
	return &Error{Code: ExitUsage, Err: err, Hints: hints}
}

// Usagef returns an error of the command line, formatted.
func Usagef(layout string, args ...any) error { return Usage(fmt.Errorf(layout, args...)) }

// InterruptedError is the cause of a context that a signal ended, or a user in an equivalent
// way.
type InterruptedError struct {
	Signal os.Signal
	// Words describe the cause if it was no signal; empty for a signal.
	Words string
	// Code is the exit code if it was no signal; 0 for that of the signal.
	Code int
}

func (e *InterruptedError) Error() string {
	switch {
	case e.Words != "":
		return e.Words
	case e.Signal == os.Interrupt:
		return "Ctrl-C"
	default:
		return "signal: " + e.Signal.String()
	}
}

// LoggedOutError is the error of an API server that does not accept the credentials, and which one that is.
type LoggedOutError struct {
	Where string
	Err   error
}

func (e *LoggedOutError) Error() string {
	return fmt.Sprintf("the credentials of %s are missing or expired: %s", e.Where, strings.TrimSpace(e.Err.Error()))
}

func (e *LoggedOutError) Unwrap() error { return e.Err }

// ErrTimeout is the cause of a context that --timeout ended.
var ErrTimeout = errors.New("timed out")

// Code returns the exit code of a command's error.
func Code(err error) int {
	var (
		known       *Error
		verdict     AnswerError
		interrupted *InterruptedError
	)
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &verdict):
		return verdict.Code
	case errors.As(err, &interrupted):
		return InterruptCode(interrupted)
	case errors.Is(err, ErrTimeout):
		return ExitWaiting
	case errors.As(err, &known):
		return known.Code
	default:
		return CodeOf(err)
	}
}

// InterruptCode follows the shell's convention: 128 and the signal's number.
func InterruptCode(e *InterruptedError) int {
	switch {
	case e.Code != ExitDone:
		return e.Code
	case e.Signal == os.Interrupt:
		return ExitInterrupted
	case e.Signal == syscall.SIGHUP:
		return ExitHungUp
	default:
		return ExitTerminated
	}
}

// CodeOf returns the exit code of an error that has none yet.
func CodeOf(err error) int {
	var (
		held        *reconcile.HeldError
		active      *reconcile.ActiveOperationError
		refused     *reconcile.RefusedError
		beyond      *reconcile.BeyondPlanError
		unreachable *reconcile.UnreachableError
		missing     *live.NotFoundError
		invalid     *live.InvalidResourceError
		rejected    *reconcile.AdmissionError
	)
	switch {
	case errors.As(err, &rejected):
		return rejectionCode(rejected)
	case errors.As(err, &missing), errors.As(err, &invalid):
		return ExitUsage
	case errors.As(err, &held), errors.As(err, &active), errors.As(err, &beyond):
		return ExitConflict
	case errors.As(err, &refused):
		return RefusalCode(refused)
	case errors.As(err, &unreachable), isUnreachable(err):
		return ExitUnreachable
	case apierrors.IsUnauthorized(err):
		return ExitUsage // the kubeconfig is to be corrected, as without one
	case apierrors.IsForbidden(err):
		return ExitForbidden
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return ExitConflict
	default:
		return databaseCode(err)
	}
}

// databaseCode returns the exit code of an error from the database, a store, or the connection
// to them.
func databaseCode(err error) int {
	var output *admin.Error
	if !errors.As(err, &output) {
		return ExitInternal
	}
	switch output.Kind {
	case admin.KindTransport, admin.KindTimeout, admin.KindUnavailable, admin.KindStoreUnresponsive:
		return ExitUnreachable
	case admin.KindUnknownResult: // the cause determines the code
		return databaseCode(output.Err)
	case admin.KindConflict:
		return ExitConflict
	case admin.KindLocked, admin.KindRefused:
		return ExitRefused
	case admin.KindUnfinished:
		return ExitPartly
	default:
		return ExitInternal
	}
}

// RefusalCode separates refusals because another run is active from all others.
func RefusalCode(e *reconcile.RefusedError) int {
	switch e.Check.Gate {
	case plan.GateDeny, plan.GateLease, plan.GateLock, plan.GatePlan:
		return ExitConflict
	default:
		return ExitRefused
	}
}

// rejectionCode separates what time can end from what a user has to change.
func rejectionCode(e *reconcile.AdmissionError) int {
	if e.Refusal.Waits() {
		return ExitWaiting
	}
	return ExitRefused
}

// isUnreachable reports whether an error means that there was no answer, or only a part of one.
func isUnreachable(err error) bool {
	var (
		status   apierrors.APIStatus
		urlError *url.Error
		netError net.Error
		stream   http2.StreamError
	)
	if errors.As(err, &status) {
		return apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) ||
			apierrors.IsInternalError(err) || apierrors.IsTooManyRequests(err)
	}
	return errors.As(err, &urlError) || errors.As(err, &netError) || errors.As(err, &stream) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded)
}

// Worst returns the most significant code of several errors; ExitDone if there are none. First
// what the user can fix, then what is unreachable, then the rest.
func Worst(errs []error) int {
	found := map[int]bool{}
	for _, err := range errs {
		found[CodeOf(err)] = true
	}
	for _, code := range []int{ExitUsage, ExitUnreachable, ExitForbidden, ExitConflict, ExitRefused, ExitPartly, ExitWaiting, ExitInternal} {
		if found[code] {
			return code
		}
	}
	return ExitDone
}

// Each returns the errors that were joined, each of which is printed for itself.
func Each(err error) []error {
	var all []error
	switch one := any(err).(type) { // the error itself, not one that it wraps
	case *Error:
		return Each(one.Err)
	case *reconcile.InvalidSpecError:
		return Each(one.Err)
	case interface{ Unwrap() []error }:
		if reflect.TypeOf(err) != reflect.TypeOf(errors.Join(err)) {
			return []error{err} // its text is more than those of the errors in it
		}
		for _, inner := range one.Unwrap() {
			all = append(all, Each(inner)...)
		}
		return all
	}
	return []error{err}
}

// Explain makes an API error name which verb on which resource was forbidden where, and reports in
// kubectl's words that the API server does not accept connections, and how to log in again.
func Explain(err error) string {
	var request *url.Error
	if errors.As(err, &request) && errors.Is(err, syscall.ECONNREFUSED) {
		if at, parseErr := url.Parse(request.URL); parseErr == nil && at.Host != "" {
			return "the connection to the server " + at.Host + " was refused: check the host and the port, --context and --kubeconfig"
		}
	}
	if errors.As(err, &request) && request.Timeout() {
		return noAnswer(request)
	}
	if located, is := errors.AsType[*LoggedOutError](err); is {
		return located.Error()
	}
	if apierrors.IsUnauthorized(err) {
		return live.LoggedOut
	}
	var status apierrors.APIStatus
	if !apierrors.IsForbidden(err) || !errors.As(err, &status) {
		return strings.TrimSpace(err.Error())
	}
	return "forbidden: " + strings.TrimSpace(err.Error())
}

const (
	// RequestTimeout bounds a request to the API server unless --request-timeout is set, so
	// that a server that accepts connections and never answers causes an error.
	RequestTimeout = 30 * time.Second
	// handshakeTimeout is client-go's limit of the TLS handshake.
	handshakeTimeout = 10 * time.Second
)

// noAnswer reports a server that accepts connections, or seems to, and does not answer: it hangs, or something in between drops what is
// sent. The handshake of TLS has a limit of its own.
func noAnswer(request *url.Error) string {
	host := request.URL
	if at, err := url.Parse(request.URL); err == nil && at.Host != "" {
		host = at.Host
	}
	return fmt.Sprintf("no answer from the server %s within the limit of a request (%s for the TLS handshake, %s or --request-timeout for all of it): "+
		"it hangs, or a proxy or a firewall drops the connection; check the server, --context and --kubeconfig (%s)",
		host, handshakeTimeout, RequestTimeout, strings.TrimSpace(request.Err.Error()))
}

// ErrMissingKind is in the chain of errors of an API server without the definitions of the resources.
var ErrMissingKind = errors.New("no FoundationDBCluster resources")

// MissingKind returns the failure of a command where the API server does not have the resource type.
func MissingKind(err error) error {
	return Usage(fmt.Errorf("this Kubernetes cluster has %w: %w", ErrMissingKind, err))
}

// IsMissingKind reports whether the API server does not have the resource type; it returns the
// same code as for an object that does not exist.
func IsMissingKind(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) {
		return false
	}
	details := status.Status().Details
	return details == nil || details.Name == ""
}

// CauseOf returns why a context ended: a signal, --timeout, or the context's error.
func CauseOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		return cause
	}
	return err
}
