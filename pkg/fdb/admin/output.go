package admin

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// availabilityLines are what fdbcli injects into its output, between blank lines,
// when a command takes longer than 5 s.
var availabilityLines = []string{
	"The database is available.",
	"The database is unavailable; type `status' for more information.",
	"The database is available, but has issues (type 'status' for more information).",
	"Unable to determine database state, type 'status' for more information.",
}

// answerLines are the lines of stdout without blank ones, echoed commands, and
// injected messages about availability. A truncated last line is omitted.
func answerLines(stdout []byte) []string {
	var lines []string
	for line := range strings.Lines(string(stdout)) {
		line, whole := strings.CutSuffix(line, "\n")
		if !whole || line == "" || strings.HasPrefix(line, ">>> ") || slices.Contains(availabilityLines, line) {
			continue
		}
		lines = append(lines, line)
	}
	return lines
}

// errorLines returns the errors on stderr, without "ERROR: ", warnings and fdbcli's
// hints to use FORCE.
func errorLines(stderr []byte) []string {
	var lines []string
	for line := range strings.Lines(string(stderr)) {
		text, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "ERROR: ")
		if found && !strings.HasPrefix(text, traceNoise) {
			lines = append(lines, text)
		}
	}
	return lines
}

var codePattern = regexp.MustCompile(`^(.*) \((\d+)\)$`)

// splitCode splits FoundationDB's error code off an error line; 0 for none.
func splitCode(line string) (text string, code int) {
	parts := codePattern.FindStringSubmatch(line)
	if parts == nil {
		return line, 0
	}
	code, err := strconv.Atoi(parts[2])
	if err != nil {
		return line, 0
	}
	return parts[1], code
}

// Exit codes of the wrapper around fdbcli, and of fdbcli when a signal ends it.
const (
	exitTimedOut    = 124
	exitCannotRun   = 126
	exitNotFound    = 127
	exitCrashed     = 128
	exitKilled      = 128 + 9
	traceNoise      = "could not create trace log file"
	timeoutNotice   = "Specified timeout reached -- exiting..."
	usageNotice     = "Usage: "
	tlsNotice       = "fdbcli is not configured with TLS"
	noDatabaseText  = "The database is unavailable"
	unreadableFile  = "Unable to read cluster file"
	invalidFile     = "Invalid cluster file"
	unreadableTLS   = "Error reading TLS"
	unknownCommand  = "Unknown command "
	invalidOption   = "invalid option "
	notAnAddress    = "is neither a valid network endpoint address nor a locality"
	notAnAddressNow = "is not a valid network endpoint address"
	redundantText   = "passed redundant coordinators"
)

// codeKinds are the FoundationDB error codes that decisions depend on.
var codeKinds = map[int]Kind{
	1007: KindConflict, // transaction_too_old
	1009: KindConflict, // future_version
	1020: KindConflict, // not_committed
	1021: KindUnknownResult,
	1022: KindUnknownResult,
	1025: KindTimeout, // the transaction was canceled
	1026: KindUnknownResult,
	1031: KindTimeout,  // transaction_timed_out
	1037: KindConflict, // process_behind
	1038: KindLocked,
	1039: KindConflict,       // cluster_version_changed
	1213: KindConflict,       // tag_throttled
	1515: KindBadClusterFile, // no_cluster_file_found
	2004: KindBadInput,       // key_outside_legal_range
	2005: KindBadInput,       // inverted_range
	2101: KindBadInput,       // transaction_too_large
	2102: KindBadInput,       // key_too_large
	2103: KindBadInput,       // value_too_large
	2104: KindBadClusterFile, // connection_string_invalid
}

// failureOf returns the error in a run's output; nil for none, which is no proof of
// success.
func failureOf(operation string, r Result) *Error {
	stderr := string(r.Stderr)
	fail := func(k Kind, detail string) *Error { return &Error{Kind: k, Operation: operation, Detail: detail} }
	switch {
	case strings.Contains(stderr, unreadableFile), strings.Contains(stderr, invalidFile):
		return fail(KindBadClusterFile, firstLine(stderr))
	case strings.Contains(stderr, tlsNotice), strings.Contains(stderr, unreadableTLS):
		return fail(KindTLS, firstLine(stderr))
	case strings.Contains(stderr, timeoutNotice):
		return fail(KindTimeout, "timed out")
	}
	if e := failureOfErrors(operation, errorLines(r.Stderr)); e != nil {
		return e
	}
	if usage := usageOf(r.Stdout); usage != "" {
		return fail(KindBadInput, usage)
	}
	return failureOfExit(operation, r)
}

// failureOfErrors returns the first error, which is the cause of the others.
func failureOfErrors(operation string, lines []string) *Error {
	if len(lines) == 0 {
		return nil
	}
	text, code := splitCode(lines[0])
	kind, known := codeKinds[code]
	if !known {
		kind = kindOfText(text)
	}
	switch kind { //nolint:exhaustive // the first error alone is sufficient for all others
	case KindRefused:
		text = strings.Join(lines, "; ")
		code = 0
	case KindNotYet:
		text += " (" + temporary[text] + "; try again later)"
	}
	return &Error{Kind: kind, Operation: operation, Detail: text, Code: code}
}

// temporary are refusals with a temporary cause, and that cause.
var temporary = map[string]string{
	// Recorded: refused right after usable_regions=1, accepted 35 s later.
	"All storage servers must be in one of the known regions": "processes of a region that dropped its data are removed within about a minute",
	// The name of a process that has just started is not resolvable everywhere yet, and
	// it may not listen yet.
	"One of the specified coordinators is unreachable":                                                                   "a process that has just started is reachable a little later",
	"When usable_regions > 1, all regions with priority >= 0 must be fully replicated before changing the configuration": "a region is still being filled",
}

func kindOfText(text string) Kind {
	if _, passes := temporary[text]; passes {
		return KindNotYet
	}
	switch {
	case strings.HasPrefix(text, noDatabaseText):
		return KindUnavailable
	case strings.HasPrefix(text, unknownCommand), strings.HasPrefix(text, invalidOption),
		strings.Contains(text, notAnAddress), strings.Contains(text, notAnAddressNow),
		strings.HasPrefix(text, redundantText):
		return KindBadInput
	default:
		return KindRefused
	}
}

func failureOfExit(operation string, r Result) *Error {
	detail := "exit code " + strconv.Itoa(r.ExitCode)
	if line := firstLine(string(r.Stderr)); line != "" {
		detail += ": " + line
	}
	switch r.ExitCode {
	case 0:
		return nil
	case exitCannotRun, exitNotFound:
		return &Error{Kind: KindBinaryMissing, Operation: operation, Detail: detail}
	case exitTimedOut, exitKilled:
		return &Error{Kind: KindTimeout, Operation: operation, Detail: detail}
	default:
		return &Error{Kind: KindUnparsed, Operation: operation, Detail: detail}
	}
}

// usageOf returns what fdbcli prints on stdout instead of an error for an
// invalid command: sometimes a reason, then the usage of the command.
func usageOf(stdout []byte) string {
	const enough = 120
	if !bytes.Contains(stdout, []byte(usageNotice)) { // a status document has thousands of lines
		return ""
	}
	lines := answerLines(stdout)
	for i, line := range lines {
		if !strings.HasPrefix(line, usageNotice) {
			continue
		}
		if i > 0 && strings.HasPrefix(lines[i-1], "Error: ") {
			return strings.TrimPrefix(lines[i-1], "Error: ")
		}
		return redact.Excerpt(line, enough)
	}
	return ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// unparsed returns the error for unexpected output.
func unparsed(operation string, r Result) *Error {
	const enough = 500
	text := strings.TrimSpace(string(r.Stdout)) + " | " + strings.TrimSpace(string(r.Stderr))
	return &Error{Kind: KindUnparsed, Operation: operation, Detail: strconv.Quote(redact.Excerpt(text, enough))}
}
