package admin

import (
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
	lookupLine  = regexp.MustCompile(`^lookup (\d{1,2}) (\d{19}) (\d{19}) (\d{1,3}) ((?:[0-9A-Fa-f.:]+,)*)$`)
	missingLine = regexp.MustCompile(`^missing (getent|timeout|date|nanoseconds)\n$`)
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
		return fdb.NameLookups{}, &Error{Kind: KindBinaryMissing, Operation: resolvingNames, Detail: missingWords(missing[1])}
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
	var numbers [4]int64
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.ParseInt(parts[i+1], 10, 64); err != nil {
			return false
		}
	}
	at, took, code := numbers[0], time.Duration(numbers[2]-numbers[1]), numbers[3]
	if at >= int64(len(all)) || took < 0 || took > namesLimit+killGrace {
		return false // a clock that was set while the script ran
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

func missingWords(what string) string {
	if what == "nanoseconds" {
		return "date in the container prints no nanoseconds"
	}
	return "the container has no " + what
}

func unparsedLookups(detail string) *Error {
	return &Error{Kind: KindUnparsed, Operation: resolvingNames, Detail: detail}
}
