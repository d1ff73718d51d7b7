package datadir

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

// addArgument adds an argument of the command line of a process: process ID, argument.
func addArgument(arguments map[int][]string, record string) error {
	id, argument, _ := strings.Cut(record, " ")
	pid, err := strconv.Atoi(id)
	if err != nil {
		return err
	}
	arguments[pid] = append(arguments[pid], argument)
	return nil
}

// serversOf returns what command lines of fdbserver show. A process whose addresses cannot be parsed
// has none.
func serversOf(pids []int, arguments map[int][]string) []Server {
	servers := []Server{}
	for _, pid := range pids {
		server := Server{PID: pid, Addresses: []string{}, Directory: flagOf(arguments[pid], "--datadir", "-d"), Class: flagOf(arguments[pid], "--class", "-c"), Localities: localitiesOf(arguments[pid])}
		addresses, err := fdb.ParseAddresses(flagOf(arguments[pid], "--public_address", "-p"))
		for _, a := range addresses {
			if err == nil {
				server.Addresses = append(server.Addresses, a.Coordinator())
			}
		}
		servers = append(servers, server)
	}
	return servers
}

// localitiesOf returns the localities that flags set; nil for none.
func localitiesOf(arguments []string) map[string]string {
	var all map[string]string
	for _, argument := range arguments {
		name, _, _ := strings.Cut(argument, "=")
		name = strings.ReplaceAll(name, "-", "_")
		if key, is := strings.CutPrefix(name, "__locality_"); is {
			if all == nil {
				all = map[string]string{}
			}
			all[key] = flagOf(arguments, "--locality_"+key)
		}
	}
	return all
}

// flagOf returns the value of a flag, as one argument or two, with dashes or underscores as fdbserver
// reads both; empty if it is not set.
func flagOf(arguments []string, names ...string) string {
	for i, argument := range arguments {
		name, value, hasValue := strings.Cut(argument, "=")
		if strings.HasPrefix(name, "--") {
			name = "--" + strings.ReplaceAll(name[2:], "-", "_")
		}
		switch {
		case !slices.Contains(names, name):
		case hasValue:
			return value
		case i+1 < len(arguments):
			return arguments[i+1]
		}
	}
	return ""
}
