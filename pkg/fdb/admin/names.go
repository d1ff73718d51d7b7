package admin

import (
	"context"
	_ "embed" // of the script
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

const (
	// nameLookups is approximately how many lookups run concurrently. fdbserver resolves
	// coordinators continuously, and a resolver that drops queries under load still answers a
	// single one at once.
	nameLookups = 40
	// lookupLimit ends a lookup, and namesLimit all. A resolver repeats a dropped query after 5 s; the
	// rest is for a pod in which programs start slowly.
	lookupLimit = 8 * time.Second
	namesLimit  = 20 * time.Second
	// addressOnly is looked up with the names; it queries no name server.
	addressOnly       = "127.0.0.1"
	longestLookupName = 253 // of DNS
	resolvingNames    = "resolving names"
)

// lookupScript looks up names concurrently with the resolver that fdbserver uses. Its
// arguments are how many times, how many seconds a lookup may take, and the names. Each lookup
// prints a line: the name's number, when it began and ended in seconds of /proc/uptime, its exit
// code, and the addresses that it found, each followed by a comma. That clock is read without a
// program, which would need as long to start as the lookup itself.
//
//go:embed lookup.sh
var lookupScript string

// lookupName is what may be an argument of the script: connection strings come from resources.
var lookupName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)

// ResolveNames measures how the resolver of a container handles about 40 concurrent lookups of
// these names. It changes nothing. Incomplete output of the script is an error.
func ResolveNames(ctx context.Context, t Transport, names []string) (fdb.NameLookups, error) {
	if err := checkLookupNames(names); err != nil {
		return fdb.NameLookups{}, err
	}
	hosts := append([]string{addressOnly}, names...)
	rounds := max(1, nameLookups/len(hosts))
	argv := append([]string{"sh", "-c", lookupScript, "sh", strconv.Itoa(rounds), seconds(lookupLimit)}, hosts...)
	r, err := t.Run(ctx, Command{Argv: argv, Limit: namesLimit, Reads: true})
	if err != nil {
		return fdb.NameLookups{}, fmt.Errorf("%s: %w", resolvingNames, err)
	}
	if failed := failureOfExit(resolvingNames, r); failed != nil {
		return fdb.NameLookups{}, failed
	}
	return parseLookups(string(r.Stdout), hosts, rounds)
}

func checkLookupNames(names []string) error {
	if len(names) == 0 || len(names) >= nameLookups {
		return &Error{Kind: KindBadInput, Operation: resolvingNames, Detail: fmt.Sprintf("%s, from 1 to %d allowed", phrase.Count(len(names), "name"), nameLookups-1)}
	}
	for _, name := range names {
		if len(name) > longestLookupName || !lookupName.MatchString(name) {
			return &Error{Kind: KindBadInput, Operation: resolvingNames, Detail: fmt.Sprintf("%q is not a DNS name", name)}
		}
	}
	return nil
}

// Lines of lookupScript.
var (
	lookupLine  = regexp.MustCompile(`^lookup (\d{1,2}) (\d{1,10}\.\d{2}) (\d{1,10}\.\d{2}) (\d{1,3}) ((?:[0-9A-Fa-f.:]+,)*)$`)
	missingLine = regexp.MustCompile(`^missing (getent|timeout|/proc/uptime)\n$`)
)

const (
	lookupsEnd = "end"
	// Exit codes of getent below its time limit.
	lookupFound    = 0
	lookupNotFound = 2
)

// parseLookups parses the script's output: every lookup of every host once, and its end.
// The first host is an IP address.
func parseLookups(stdout string, hosts []string, rounds int) (fdb.NameLookups, error) {
	if missing := missingLine.FindStringSubmatch(stdout); missing != nil {
		return fdb.NameLookups{}, &Error{Kind: KindBinaryMissing, Operation: resolvingNames, Detail: "the container has no " + missing[1]}
	}
	lines := strings.Split(stdout, "\n")
	if want := len(hosts)*rounds + 2; len(lines) != want || lines[want-2] != lookupsEnd || lines[want-1] != "" {
		return fdb.NameLookups{}, unparsedLookups("the output is not complete")
	}
	all := make([]fdb.NameLookup, len(hosts))
	for i, host := range hosts {
		all[i].Name = host
	}
	for _, line := range lines[:len(hosts)*rounds] {
		if !addLookup(all, line) {
			return fdb.NameLookups{}, unparsedLookups(strconv.Quote(line))
		}
	}
	for _, n := range all {
		if n.Lookups != rounds {
			return fdb.NameLookups{}, unparsedLookups(phrase.CountOf(n.Lookups, rounds, "lookup") + " of " + n.Name)
		}
	}
	if control := all[0]; control.Failed+control.Unanswered > 0 {
		return fdb.NameLookups{}, unparsedLookups("getent ahosts does not work for an IP address")
	}
	return fdb.NameLookups{Names: all[1:], Overhead: all[0].Slowest}, nil
}

// addLookup counts one line, and reports whether it is one.
func addLookup(all []fdb.NameLookup, line string) bool {
	parts := lookupLine.FindStringSubmatch(line)
	if parts == nil {
		return false
	}
	at, errAt := strconv.Atoi(parts[1])
	began, errBegan := strconv.ParseFloat(parts[2], 64)
	ended, errEnded := strconv.ParseFloat(parts[3], 64)
	code, errCode := strconv.Atoi(parts[4])
	took := time.Duration((ended - began) * float64(time.Second)).Round(time.Millisecond)
	if errors.Join(errAt, errBegan, errEnded, errCode) != nil || at >= len(all) || took < 0 || took > namesLimit+killGrace {
		return false
	}
	var found []netip.Addr
	for text := range strings.SplitSeq(strings.TrimSuffix(parts[5], ","), ",") {
		if text == "" {
			continue // no address
		}
		address, err := netip.ParseAddr(text)
		if err != nil {
			return false
		}
		found = append(found, address)
	}
	n := &all[at]
	n.Found(found)
	n.Lookups++
	n.Slowest = max(n.Slowest, took)
	switch code {
	case lookupFound:
	case lookupNotFound:
		n.Failed++
	case exitTimedOut:
		n.Unanswered++
	default:
		return false
	}
	return true
}

func unparsedLookups(detail string) *Error {
	return &Error{Kind: KindUnparsed, Operation: resolvingNames, Detail: detail}
}
