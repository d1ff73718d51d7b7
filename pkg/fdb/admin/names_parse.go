package admin

import (
	"errors"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

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
