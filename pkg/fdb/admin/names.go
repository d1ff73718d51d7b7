package admin

import (
	"context"
	_ "embed" // of the script
	"fmt"
	"regexp"
	"strconv"
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
